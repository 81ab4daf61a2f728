public import Entities
public import InwardCore
public import UseCases

/// A presenter that converts the results of `ListUsers` to view models.
///
/// ```swift
/// let presenter = UserListPresenter(router: PathRouter(root: "/app"))
/// let viewModel = try await presenter.present(listUsers())
/// print(viewModel.rows[0].name, viewModel.rows[0].link?.text ?? "")
/// ```
public struct UserListPresenter: Sendable {
    private let router: any Router

    /// Creates a presenter that gets its links from a router.
    public init(router: any Router = NullRouter()) {
        self.router = router
    }

    /// Returns the view model of the users.
    ///
    /// - Parameters:
    ///   - users: The users as they were read.
    ///   - origin: The origin to show; `nil` for the origin of the reading.
    /// - Returns: The view model.
    public func present(_ users: Reading<[User]>, from origin: Origin? = nil) -> UserListViewModel {
        UserListViewModel(
            rows: users.value.map { .init($0, link: router.link(to: .user($0.id))) },
            origin: (origin ?? users.origin).description,
            notes: users.notes
        )
    }

    /// Returns the failure to show when the users cannot be listed.
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

/// The view model of all users.
///
/// ```swift
/// let viewModel = try await UserListPresenter().present(listUsers())
/// print("\(viewModel.rows.count) users (from \(viewModel.origin))")
/// for note in viewModel.notes { print(note) }  // Left out: users[3].address.geo.lat is null
/// ```
public struct UserListViewModel: ViewModel, Hashable {
    /// The view model of a user in the list.
    public struct Row: Hashable, Encodable, Sendable {
        /// The user's identity.
        public let id: Int
        /// The user's full name.
        public let name: String
        /// The username.
        public let username: String
        /// The email address.
        public let email: String
        /// The city where the user lives.
        public let city: String
        /// The company that the user works for.
        public let company: String
        /// A link to the user's profile; `nil` if there is none.
        public let link: Link?
    }

    /// The users in display order.
    public let rows: [Row]
    /// The origin of the users.
    public let origin: String
    /// Notes about the answer, and one for each rejected record.
    public let notes: [String]

    /// A table of the users, and the notes.
    public var document: Document {
        Document(title: "Users", blocks: blocks + notes.block)
    }

    /// The table with its heading, without the notes.
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

/// The output port of a view that shows users and their posts.
///
/// The objects that call the view reference it weakly, so the view may own them.
///
/// ```swift
/// final class ConsoleView: UsersView {
///     func show(_ users: UserListViewModel) { print(users.rows.map(\.name)) }
///     func show(_ profile: UserProfileViewModel) { print(profile.name) }
///     func show(_ posts: FeedViewModel) { print(posts.rows.map(\.title)) }
///     func show(_ failure: FailureViewModel) { print(failure.line) }
/// }
/// ```
public protocol UsersView: AnyObject, Sendable {
    /// Shows all users.
    func show(_ users: UserListViewModel) async

    /// Shows one user.
    func show(_ profile: UserProfileViewModel) async

    /// Shows a page of posts.
    func show(_ posts: FeedViewModel) async

    /// Shows a failure.
    func show(_ failure: FailureViewModel) async
}
