import Entities
import InterfaceAdapters
import InwardCore
import InwardScopes
import UseCases

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
        return FailureViewModel("There was no answer in time", advice: "Try again, or allow more time.")
    }
}
