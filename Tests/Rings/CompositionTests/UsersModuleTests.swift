import Composition
import Entities
import Foundation
import InterfaceAdapters
import InwardCore
import InwardFetching
import InwardScopes
import InwardTesting
import Synchronization
import TestSupport
import Testing
import UseCases

struct UsersModuleTests {
    private let source = Source.recording(maxAge: 0)

    private func container() async throws -> UsersContainer {
        try await UsersContainer(
            in: UserContainer(.guest, in: .example(source)),
            router: PathRouter()
        )
    }

    @Test func allUsersAreShownWithLinks() async throws {
        let view = RecordingUsersView()
        try await container().makeModule(for: view).open(.users)
        guard case .users(let users) = view.showings.first else { return #expect(Bool(false), "\(view.showings)") }
        #expect(users.rows.map(\.name) == ["Ada Lovelace"])
        #expect(users.rows.map(\.link) == [Link("/users/7")])
        #expect(view.showings.count == 1)
    }

    @Test func userIsShownWithALinkToThePosts() async throws {
        let view = RecordingUsersView()
        try await container().makeModule(for: view).open(.user(User.ID(7)))
        guard case .profile(let profile) = view.showings.first else { return #expect(Bool(false), "\(view.showings)") }
        #expect(profile.name == "Ada Lovelace")
        #expect(profile.postsLink == Link("/users/7/posts"))
        #expect(view.showings.count == 1)
    }

    @Test func postsOfAUserAreShownFromTheRequestedPage() async throws {
        let view = RecordingUsersView()
        let module = try await container().makeModule(for: view)
        await module.open(.posts(by: User.ID(7), after: nil))
        await module.open(.posts(by: User.ID(7), after: FeedCursor(after: Post.ID(2))))
        await module.open(.feed(after: FeedCursor(after: Post.ID(1))))
        let rows: [[Int]] = view.showings.map { if case .posts(let posts) = $0 { posts.rows.map(\.id) } else { [] } }
        #expect(rows == [[2, 1], [1], []])
        let queries = source.requests.filter { $0.url.lastPathComponent == "posts" }.map { $0.url.query() }
        #expect(queries == ["userId=7", nil])
    }

    @Test func missingUserIsShownAsAFailure() async throws {
        let view = RecordingUsersView()
        try await container().makeModule(for: view).open(.user(User.ID(8)))
        guard case .failure(let failure) = view.showings.first else { return #expect(Bool(false), "\(view.showings)") }
        #expect(failure.summary == "There is no user 8")
    }

    @Test func timeoutIsShownOnce() async throws {
        let clock = ManualClock()
        let begun = Rendezvous(of: 2)
        let app = try await AppContainer.example(Source.silent(begun: begun), clock: clock)
        let container = try await UsersContainer(in: UserContainer(.guest, in: app), router: NullRouter())
        let view = RecordingUsersView()
        async let showing: Void = container.makeModule(for: view).open(.users, within: .seconds(2))
        await begun.arrive()
        await clock.sleepers(1)
        clock.advance(by: .seconds(2))
        await showing
        let late = FailureViewModel("There was no answer in time", advice: "Try again, or allow more time.")
        #expect(view.showings == [.failure(late)])
    }

    @Test func viewIsUpdatedBeforeTheSessionIsClosed() async throws {
        let begun = Rendezvous(of: 2)
        let user = try await UserContainer(.guest, in: AppContainer.example(Source.silent(begun: begun)))
        let view = RecordingUsersView()
        let module = try UsersContainer(in: user, router: NullRouter()).makeModule(for: view)
        async let showing: Void = module.open(.users)
        await begun.arrive()
        try await user.close()
        #expect(view.showings == [.failure(FailureViewModel("Listing the users was cancelled"))])
        await showing
    }

    @Test func closedContainerIsShownAsAFailure() async throws {
        let view = RecordingUsersView()
        let container = try await container()
        let module = container.makeModule(for: view)
        try await container.close()
        await module.open(.users)
        guard case .failure(let failure) = view.showings.first else { return #expect(Bool(false), "\(view.showings)") }
        #expect(failure.summary == "The users cannot be shown: feature users is closed")
        #expect(source.requests.isEmpty)
    }

    @Test func eachDestinationUsesANewInteractionAndClosesIt() async throws {
        let container = try await container()
        let view = RecordingUsersView()
        let module = container.makeModule(for: view)
        await module.open(.users)
        await module.open(.users)
        #expect(view.showings.count == 2)
        #expect(!container.description.contains("interaction"))
        let interaction = try container.makeInteraction()
        #expect(interaction.id == InteractionID("3"))
        #expect(container.description.contains("interaction 3 (open)"))
    }

    @Test func moduleDoesNotRetainItsView() async throws {
        /// A view that owns its module.
        final class OwningView: UsersView {
            let module = Mutex<UsersModule?>(nil)
            let journal: Journal
            init(_ journal: Journal) { self.journal = journal }
            func show(_ users: UserListViewModel) { journal.add("users") }
            func show(_ profile: UserProfileViewModel) {}
            func show(_ posts: FeedViewModel) {}
            func show(_ failure: FailureViewModel) {}
        }
        let journal = Journal()
        let container = try await container()
        var view: OwningView? = OwningView(journal)
        weak let released = view
        let module = try #require(view.map(container.makeModule))
        view?.module.withLock { $0 = module }
        await module.open(.users)
        view = nil
        #expect(released == nil)
        await module.open(.users)
        #expect(journal.entries == ["users"])
        #expect(source.requests.count == 1)
    }
}
