import Entities
import InwardCore
public import UseCases

/// Turns what `ShowUser` answers into what a view shows.
public struct UserProfilePresenter: Sendable {
    private let router: any Router

    /// Makes a presenter, with links for the medium of a router.
    public init(router: any Router = NullRouter()) {
        self.router = router
    }

    /// What to show of a user and the user's posts.
    public func present(_ profile: UserProfile) -> UserProfileViewModel {
        let user = profile.user.value
        let (posts, notes): ([Post], [String]) =
            switch profile.posts {
            case .success(let reading): (reading.value, reading.notes)
            case .failure(let error): ([], ["The posts could not be had: \(error)"])
            }
        return UserProfileViewModel(
            name: user.name,
            fields: fields(of: user),
            posts: posts.map { .init(id: $0.id.rawValue, title: $0.title, body: $0.body) },
            postsLink: router.link(to: .posts(by: user.id, after: nil)),
            origin: profile.user.origin.description,
            notes: profile.user.notes + notes
        )
    }

    /// What to show of a failure to show the user.
    public func present(_ error: ShowUserError) -> FailureViewModel {
        let summary = "The user could not be shown"
        return switch error {
        case .cancelled: FailureViewModel("Showing the user was cancelled")
        case .notFound(let id):
            FailureViewModel("There is no user \(id)", advice: "List the users to see who there is.")
        case .unavailable(let cause): .unavailable(summary, cause)
        case .denied(let cause): .denied(summary, cause)
        case .unreadable(let cause): .unreadable(summary, cause)
        }
    }

    private func fields(of user: User) -> [UserProfileViewModel.Field] {
        let address = user.address
        let location = "\(address.location.latitude)°, \(address.location.longitude)°"
        return [
            .init(label: "Username", text: user.username),
            .init(label: "Email", text: user.email.description),
            .init(label: "Phone", text: user.phone),
            .init(label: "Website", text: user.website),
            .init(label: "Address", text: "\(address.street), \(address.suite), \(address.zipcode) \(address.city)"),
            .init(label: "Location", text: location),
            .init(label: "Company", text: user.company.name),
            .init(label: "Its word", text: user.company.catchPhrase),
            .init(label: "Its business", text: user.company.business),
        ]
    }
}

/// What a view shows of one user.
public struct UserProfileViewModel: ViewModel, Hashable {
    /// Something that is said of the user.
    public struct Field: Hashable, Encodable, Sendable {
        /// What it is, such as `Phone`.
        public let label: String
        /// What it says.
        public let text: String
    }

    /// What a view shows of one of the user's posts.
    public struct Row: Hashable, Encodable, Sendable {
        /// The post's identity.
        public let id: Int
        /// What the post is called.
        public let title: String
        /// What the post says.
        public let body: String
    }

    /// The user's full name.
    public let name: String
    /// What is said of the user, in the order it is shown.
    public let fields: [Field]
    /// The user's posts, the newest first.
    public let posts: [Row]
    /// Where the posts are shown page by page; `nil` if nowhere.
    public let postsLink: Link?
    /// Where the user came from.
    public let origin: String
    /// Why the posts are missing, if they are, and a remark for each record that was left out.
    public let notes: [String]

    /// The user, the posts in a table, and the remarks.
    public var document: Document {
        var blocks: [Document.Block] = [
            .heading(name),
            .table(
                Table(columns: [.init("About"), .init("")], rows: fields.map { [.init($0.label), .init($0.text)] })
            ),
        ]
        if !posts.isEmpty {
            let columns: [Table.Column] = [.init("Post", isNumeric: true), .init("Title"), .init("Beginning")]
            let rows: [[Table.Cell]] = posts.map { post in
                [.init(String(post.id)), .init(post.title), .init(post.body.excerpt(upTo: 60), detail: post.body)]
            }
            blocks += [.heading("Posts"), .table(Table(columns: columns, rows: rows))]
        }
        if let postsLink { blocks.append(.link("Posts by \(name)", postsLink)) }
        return Document(title: name, blocks: blocks + notes.block)
    }
}
