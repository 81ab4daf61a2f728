public import Entities
public import InwardCore
public import UseCases

/// Turns what `ListUsers` answers into what a view shows.
public struct UserListPresenter: Sendable {
    private let router: any Router

    /// Makes a presenter, with links for the medium of a router.
    public init(router: any Router = NullRouter()) {
        self.router = router
    }

    /// What to show of the users.
    public func present(_ users: Reading<[User]>) -> UserListViewModel {
        UserListViewModel(
            rows: users.value.map { .init($0, link: router.link(to: .user($0.id))) },
            origin: users.origin.description,
            notes: users.notes
        )
    }

    /// What to show of a failure to list them.
    public func present(_ error: ListUsersError) -> FailureViewModel {
        let summary = "The users could not be listed"
        return switch error {
        case .cancelled: FailureViewModel("Listing the users was cancelled")
        case .unavailable(let cause): .unavailable(summary, cause)
        case .denied(let cause): .denied(summary, cause)
        case .unreadable(let cause): .unreadable(summary, cause)
        }
    }
}

extension UserListViewModel.Row {
    fileprivate init(_ user: User, link: Link?) {
        self.init(
            id: user.id.rawValue,
            name: user.name,
            username: user.username,
            email: user.email.description,
            city: user.address.city,
            company: user.company.name,
            link: link
        )
    }
}

/// What a view shows of all users.
public struct UserListViewModel: ViewModel, Hashable {
    /// What a view shows of one of the users.
    public struct Row: Hashable, Encodable, Sendable {
        /// The user's identity.
        public let id: Int
        /// The user's full name.
        public let name: String
        /// The name the user signs with.
        public let username: String
        /// Where mail reaches the user.
        public let email: String
        /// Where the user lives.
        public let city: String
        /// Where the user works.
        public let company: String
        /// Where there is more about the user; `nil` if nowhere.
        public let link: Link?
    }

    /// The users in the order they are shown.
    public let rows: [Row]
    /// Where the users came from.
    public let origin: String
    /// A remark for each record that was left out.
    public let notes: [String]

    /// A table of the users, and the remarks.
    public var document: Document {
        Document(title: "Users", blocks: blocks + notes.block)
    }

    /// The table under its heading, without the remarks.
    var blocks: [Document.Block] {
        let columns: [Table.Column] = [
            .init("ID", isNumeric: true), .init("Name"), .init("Username"), .init("Email"), .init("City"),
            .init("Company"),
        ]
        let cells: [[Table.Cell]] = rows.map { row in
            [
                .init(String(row.id)), .init(row.name, link: row.link), .init(row.username), .init(row.email),
                .init(row.city),
                .init(row.company),
            ]
        }
        return [.heading("Users"), .table(Table(columns: columns, rows: cells))]
    }
}

/// Where users are shown, and what each of them has written: an output port, told what to show.
///
/// Whoever wires a view refers to it weakly, so a view may own what it is wired to.
public protocol UsersView: AnyObject, Sendable {
    /// Shows all users.
    func show(_ users: UserListViewModel) async

    /// Shows one user.
    func show(_ profile: UserProfileViewModel) async

    /// Shows a page of posts.
    func show(_ posts: FeedViewModel) async

    /// Shows why there is nothing to show.
    func show(_ failure: FailureViewModel) async
}
