public import Entities
public import InwardCore
public import UseCases

/// Turns what `ListUsers` answers into what a view shows.
public struct UserListPresenter: Sendable {
    private let router: any Router

    /// Makes a presenter, with links for the medium of a router.
    public init(router: any Router = NoLinks()) {
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
