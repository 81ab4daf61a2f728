import Entities
public import InterfaceAdapters
import InwardCore
import InwardScopes
import UseCases

/// A module that shows users on a view.
///
/// ```swift
/// func show(on view: some UsersView) async throws {
///     let feature = try UsersContainer(in: user, router: PathRouter())
///     await feature.makeModule(for: view).open(.user(User.ID(7)))
/// }
/// ```
///
/// Each destination runs its use case and presenter in a new interaction, and updates the view. The module references its view
/// weakly, so the view may own the module.
public struct UsersModule: Sendable {
    private let container: UsersContainer
    private weak let view: (any UsersView)?

    init(container: UsersContainer, view: any UsersView) {
        self.container = container
        self.view = view
    }

    /// Shows a destination, or the reason why it cannot be shown.
    ///
    /// - Parameters:
    ///   - destination: The destination to show.
    ///   - limit: The time limit; `nil` for the configured limit.
    public func open(_ destination: Destination, within limit: Duration? = nil) async {
        guard let view else { return }
        do {
            try await container.withInteraction(within: limit) { try await $0.show(destination, on: view) }
        } catch is DeadlinePassedError {
            // The interaction showed the view this failure before it ended.
        } catch {
            await view.show(.usersNotShown(error))
        }
    }
}

extension UsersContainer {
    /// Creates a module with use cases, presenters and router for a view.
    ///
    /// - Parameter view: The view, which the module references weakly.
    /// - Returns: A module that shows destinations on the view.
    public func makeModule(for view: some UsersView) -> UsersModule {
        UsersModule(container: self, view: view)
    }
}

extension UsersInteraction {
    /// Shows a destination on a view, or the reason why it cannot be shown.
    ///
    /// - Throws: A `ScopeError` if the interaction is closed.
    func show(_ destination: Destination, on view: any UsersView) async throws(ScopeError) {
        switch destination {
        case .users: await show(try listUsers, on: view)
        case .user(let id): await show(id, try showUser, on: view)
        case .posts(let author, let cursor): await show(author, after: cursor, try readFeed, on: view)
        case .feed(let cursor): await show(nil, after: cursor, try readFeed, on: view)
        }
    }

    private func show(_ listUsers: ListUsers, on view: any UsersView) async {
        do {
            await view.show(userListPresenter.present(try await listUsers()))
        } catch {
            await view.show(failure(userListPresenter.present(error)))
        }
    }

    private func show(_ id: User.ID, _ showUser: ShowUser, on view: any UsersView) async {
        do {
            await view.show(userProfilePresenter.present(try await showUser(id)))
        } catch {
            await view.show(failure(userProfilePresenter.present(error)))
        }
    }

    private func show(
        _ author: User.ID?,
        after cursor: FeedCursor?,
        _ readFeed: ReadFeed,
        on view: any UsersView
    ) async {
        do {
            let page = try await readFeed(FeedQuery(author: author, cursor: cursor))
            await view.show(feedPresenter.present(page, by: author))
        } catch {
            await view.show(failure(feedPresenter.present(error)))
        }
    }

    /// Returns the failure to show. After the deadline, every failure is shown as a timeout, because the deadline cancels the
    /// work and causes it.
    private func failure(_ failure: FailureViewModel) -> FailureViewModel {
        guard Deadline.current?.hasPassed == true else { return failure }
        return .late
    }
}
