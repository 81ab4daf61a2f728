import Entities
public import InterfaceAdapters
import InwardCore
import InwardScopes
import UseCases

/// Users to be seen: takes destinations, has each done by its use case and presenter in an interaction of its own, and tells
/// the view what to show.
///
/// It refers to its view weakly, so the view may own it.
public struct UsersModule: Sendable {
    private let container: UsersContainer
    private weak let view: (any UsersView)?

    init(container: UsersContainer, view: any UsersView) {
        self.container = container
        self.view = view
    }

    /// Shows what is at a destination, or why there is nothing to show.
    ///
    /// - Parameters:
    ///   - destination: What to show.
    ///   - limit: How much time there is for it; `nil` for as much as the configuration says.
    public func open(_ destination: Destination, within limit: Duration? = nil) async {
        guard let view else { return }
        do {
            try await container.withInteraction(within: limit) { try await $0.show(destination, on: view) }
        } catch is DeadlinePassedError {
            // The view was told so before the interaction came to its end.
        } catch {
            await view.show(.usersNotShown(error))
        }
    }
}

extension UsersContainer {
    /// Wires users to be seen for a view: use cases, presenters and router.
    ///
    /// - Parameter view: Any view. It is referred to weakly.
    /// - Returns: what is told the destinations to show.
    public func makeModule(for view: some UsersView) -> UsersModule {
        UsersModule(container: self, view: view)
    }
}

extension UsersInteraction {
    /// Shows what is at a destination on a view, or why it cannot be had.
    ///
    /// - Throws: a `ScopeError` if the interaction is closed.
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

    /// What to show of a failure: what came too late was cancelled for that.
    private func failure(_ failure: FailureViewModel) -> FailureViewModel {
        guard Deadline.current?.hasPassed == true else { return failure }
        return .late
    }
}
