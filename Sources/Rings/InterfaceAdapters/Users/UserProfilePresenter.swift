import Entities
import InwardCore
public import UseCases

/// A presenter that converts the results of `ShowUser` to view models.
///
/// ```swift
/// let showUser = ShowUser(users: users, posts: posts)
/// let viewModel = try await UserProfilePresenter().present(showUser(User.ID(7)))
/// print(viewModel.name, viewModel.posts.count)
/// ```
public struct UserProfilePresenter: Sendable {
    private let router: any Router

    /// Creates a presenter that gets its links from a router.
    public init(router: any Router = NullRouter()) {
        self.router = router
    }

    /// Returns the view model of a user and the user's posts.
    public func present(_ profile: UserProfile) -> UserProfileViewModel {
        let user = profile.user.value
        let (posts, notes): ([Post], [String]) =
            switch profile.posts {
            case .success(let reading): (reading.value, reading.notes)
            case .failure(let error): ([], ["The posts could not be read: \(error)"])
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

    /// Returns the failure to show when the user cannot be shown.
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
            .init(label: "Address", text: line(of: address)),
            .init(label: "Location", text: location),
            .init(label: "Company", text: user.company.name),
            .init(label: "Slogan", text: user.company.catchPhrase),
            .init(label: "Business", text: user.company.business),
        ]
    }

    /// Returns an address on one line, without its empty parts.
    private func line(of address: PostalAddress) -> String {
        let place = [address.zipcode, address.city].filter { !$0.isEmpty }.joined(separator: " ")
        return [address.street, address.suite, place].filter { !$0.isEmpty }.joined(separator: ", ")
    }
}

/// The view model of a user.
///
/// ```swift
/// func printDetails(of user: UserProfileViewModel) {
///     for field in user.fields { print("\(field.label): \(field.text)") }
///     for post in user.posts { print(post.title) }
/// }
/// ```
public struct UserProfileViewModel: ViewModel, Hashable {
    /// A labelled detail of the user.
    public struct Field: Hashable, Encodable, Sendable {
        /// The label, such as `Phone`.
        public let label: String
        /// The value to show.
        public let text: String
    }

    /// The view model of one of the user's posts.
    public struct Row: Hashable, Encodable, Sendable {
        /// The post's identity.
        public let id: Int
        /// The title of the post.
        public let title: String
        /// The body of the post.
        public let body: String
    }

    /// The user's full name.
    public let name: String
    /// The details of the user in display order.
    public let fields: [Field]
    /// The user's posts, newest first.
    public let posts: [Row]
    /// A link to the paged list of the user's posts; `nil` if there is none.
    public let postsLink: Link?
    /// The origin of the user.
    public let origin: String
    /// Notes about the readings, such as why the posts are missing, and one for each rejected record.
    public let notes: [String]

    /// The user's details, the posts in a table, and the notes.
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
