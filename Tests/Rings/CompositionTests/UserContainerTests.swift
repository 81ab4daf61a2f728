import Entities
import Foundation
import InterfaceAdapters
import InwardCore
import InwardFetching
import InwardRepositories
import InwardScopes
import InwardTesting
import LoopbackServer
import TestSupport
import Testing
import UseCases

@testable import Composition

@Suite(.timeLimit(.minutes(5)))
struct UserContainerTests {
    private let clock = ManualClock()

    private func session(_ name: String) -> UserSession {
        UserSession(name: name, credentials: .bearer("token-of-\(name)"))
    }

    private func users(in user: UserContainer) throws -> UsersInteraction {
        try UsersContainer(in: user, router: NullRouter()).makeInteraction()
    }

    // MARK: Observing

    /// An observer that records its calls.
    private struct Recorder: SessionObserver {
        let journal = Journal()

        func sessionOpened(_ user: String, after duration: Duration) { journal.add("\(user) opened after \(duration)") }
        func sessionClosed(_ user: String, after duration: Duration) { journal.add("\(user) closed after \(duration)") }
    }

    @Test func observerSeesSessionsOpenAndClose() async throws {
        let observer = Recorder()
        let app = try await AppContainer(.sample, sessionObserver: observer, clock: clock)
        let ada = try await UserContainer(session("ada"), in: app)
        clock.advance(by: .seconds(30))
        try await ada.close()
        try await ada.close()
        _ = try await UserContainer(.guest, in: app)
        try await app.close()
        await #expect(throws: ScopeError.self) { _ = try await UserContainer(session("bob"), in: app) }
        #expect(
            observer.journal.entries == [
                "ada opened after 0.0 seconds", "ada closed after 30.0 seconds", "guest opened after 0.0 seconds",
                "guest closed after 0.0 seconds",
            ]
        )
    }

    // MARK: Credentials

    @Test func requestsCarryTheCredentialsOfTheirSession() async throws {
        let source = Source.recording()
        let app = try await AppContainer.example(source)
        let ada = try await UserContainer(session("ada"), in: app)
        let bob = try await UserContainer(session("bob"), in: app)
        let guest = try await UserContainer(.guest, in: app)
        for user in [ada, bob, guest] { _ = try await users(in: user).listUsers() }
        #expect(
            source.requests.map { $0.headerFields[.authorization] } == [
                "Bearer token-of-ada", "Bearer token-of-bob", nil,
            ]
        )
    }

    @Test func credentialsAreNotForwardedToAnotherOrigin() async throws {
        let elsewhere = try LoopbackServer { _ in .whole(body: Array("[]".utf8)) }
        defer { elsewhere.stop() }
        let target = elsewhere.url("users").absoluteString
        let upstream = try LoopbackServer { _ in .whole(status: 302, headerLines: ["Location: \(target)"]) }
        defer { upstream.stop() }
        let app = try await AppContainer(AppConfiguration(upstream: upstream.url().absoluteString), clock: clock)
        #expect(try await users(in: UserContainer(session("ada"), in: app)).listUsers().value.isEmpty)
        #expect(upstream.requests.map { $0.values(of: "authorization") } == [["Bearer token-of-ada"]])
        #expect(elsewhere.requests.map { $0.values(of: "authorization") } == [[]])
    }

    @Test func descriptionsContainNoCredentials() async throws {
        let app = try await AppContainer.example(Source.recording())
        let ada = try await UserContainer(session("ada"), in: app)
        let container = try UsersContainer(in: ada, router: NullRouter())
        var texts = "\(app)\(ada)\(container)\(session("ada"))"
        dump(ada, to: &texts)
        dump(session("ada"), to: &texts)
        #expect(!texts.contains("token-of"))
        #expect(texts.contains("ada"))
    }

    // MARK: Caching

    @Test func cachedResponsesAreNotSharedBetweenSessions() async throws {
        let source = Source.recording()
        let app = try await AppContainer.example(source)
        let ada = try await UserContainer(session("ada"), in: app)
        let again = try await UserContainer(session("ada"), in: app)
        #expect(try await users(in: ada).listUsers().origin == .upstream)
        #expect(try await users(in: ada).listUsers().origin == .memory)
        #expect(source.requests.count == 1)
        #expect(try await users(in: again).listUsers().origin == .upstream)
        #expect(source.requests.count == 2)
    }

    @Test func closingASessionDiscardsItsCache() async throws {
        let app = try await AppContainer.example(Source.recording())
        let ada = try await UserContainer(session("ada"), in: app)
        let bob = try await UserContainer(session("bob"), in: app)
        let cache = try app.scope.objects().responseCache
        _ = try await users(in: ada).listUsers()
        _ = try await users(in: bob).listUsers()
        #expect(cache.count == 2)
        try await ada.close()
        #expect(cache.count == 1)
        #expect(try await users(in: bob).listUsers().origin == .memory)
    }

    @Test func nothingIsCachedWithALimitOfZero() async throws {
        let configuration = try AppConfiguration(cacheLimit: 0, memoryLimit: .nothing)
        let app = try await AppContainer.example(Source.recording(), configuration)
        let ada = try await UserContainer(session("ada"), in: app)
        _ = try await users(in: ada).listUsers()
        #expect(try await users(in: ada).listUsers().origin == .upstream)
    }

    @Test func freshnessFollowsTheInjectedClock() async throws {
        let configuration = try AppConfiguration(lifetimes: Lifetimes(staleAfter: .seconds(60), jitter: 0))
        let app = try await AppContainer.example(Source.recording(maxAge: 60), configuration, clock: clock)
        let ada = try await UserContainer(session("ada"), in: app)
        _ = try await users(in: ada).listUsers()
        clock.advance(by: .seconds(59))
        #expect(try await users(in: ada).listUsers().origin == .memory)
        clock.advance(by: .seconds(1))
        #expect(try await users(in: ada).listUsers().origin == .upstream)
    }

    // MARK: After the close

    @Test func everyUseAfterSignOutThrowsAClearError() async throws {
        let source = Source.recording()
        let app = try await AppContainer.example(source)
        let ada = try await UserContainer(session("ada"), in: app)
        let feed = try await FeedContainer(in: ada)
        let feedInteraction = try feed.makeInteraction()
        let usersInteraction = try users(in: ada)
        let listUsers = try usersInteraction.listUsers
        let showUser = try usersInteraction.showUser
        let readFeed = try feedInteraction.readFeed
        let publishPost = try feedInteraction.publishPost
        let (editPost, deletePost) = (try feedInteraction.editPost, try feedInteraction.deletePost)
        let showPost = try feedInteraction.showPost
        let overview = try OverviewContainer(in: ada).makeInteraction().overview
        let viewModel = try feed.viewModel
        // All data is now cached, so that errors after closing cannot come from missing data.
        _ = try await (listUsers(), showUser(User.ID(7)), readFeed())
        let asked = source.requests.count
        try await ada.close()

        await #expect(throws: ListUsersError.self) { try await listUsers() }
        await #expect(throws: ShowUserError.self) { try await showUser(User.ID(7)) }
        await #expect(throws: ReadFeedError.self) { try await readFeed() }
        await #expect(throws: PublishPostError.self) { try await publishPost(title: "x", body: "x", by: User.ID(7)) }
        await #expect(throws: ShowPostError.self) { try await showPost(Post.ID(1)) }
        await #expect(throws: ChangePostError.self) { try await editPost(Post.ID(1), body: "x") }
        await #expect(throws: ChangePostError.self) { try await deletePost(Post.ID(1)) }
        await #expect(throws: FailureViewModel.self) { try await overview() }
        await #expect(throws: FailureViewModel.self) { try await viewModel.send(.refresh) }
        #expect(throws: ScopeError.self) { try usersInteraction.listUsers }
        #expect(throws: ScopeError.self) { try usersInteraction.showUser }
        #expect(throws: ScopeError.self) { try usersInteraction.readFeed }
        #expect(throws: ScopeError.self) { try feedInteraction.readFeed }
        #expect(throws: ScopeError.self) { try feedInteraction.publishPost }
        #expect(throws: ScopeError.self) { try feedInteraction.showPost }
        #expect(throws: ScopeError.self) { try feedInteraction.editPost }
        #expect(throws: ScopeError.self) { try feedInteraction.deletePost }
        #expect(throws: ScopeError.self) { try feed.viewModel }
        #expect(throws: ScopeError.self) { try feed.makeInteraction() }
        #expect(throws: ScopeError.self) { try UsersContainer(in: ada, router: NullRouter()) }
        #expect(throws: ScopeError.self) { try OverviewContainer(in: ada) }
        await #expect(throws: ScopeError.self) { try await FeedContainer(in: ada) }
        #expect(source.requests.count == asked)
        #expect(app.isOpen)

        let error = await #expect(throws: ListUsersError.self) { try await listUsers() }
        #expect(
            error.map { UserListPresenter().present($0).line } == """
                The users could not be listed: The list of users was not requested: interaction \
                \(usersInteraction.id) is closed. Start the program again, or sign in again.
                """
        )
    }

    @Test func everyUseAfterClosingTheAppThrowsAClearError() async throws {
        let app = try await AppContainer.example(Source.recording())
        let ada = try await UserContainer(session("ada"), in: app)
        try await app.close()
        #expect(!ada.isOpen)
        #expect(throws: ScopeError.self) { try app.errorHandler }
        await #expect(throws: ScopeError.self) { try await UserContainer(.guest, in: app) }
    }

    @Test func closingAppOpensNoInteractionsInSessionsThatAreStillOpen() async throws {
        let app = try await AppContainer.example(Source.recording())
        let ada = try await UserContainer(session("ada"), in: app)
        let feature = try UsersContainer(in: ada, router: NullRouter())
        let bob = try await UserContainer(session("bob"), in: app)
        let (begun, cancelled, released) = (Rendezvous(of: 2), Rendezvous(of: 2), Promise<Void>())
        async let work: Void? = try? bob.scope.run { _ in
            await begun.arrive()
            await Rendezvous(of: 2).arrive()
            await cancelled.arrive()
            // An unstructured task does not observe the cancellation.
            await Task { _ = await released.value() }.value
        }.get()
        await begun.arrive()
        async let closing: Void = app.close()
        await cancelled.arrive()
        #expect(!app.isOpen && ada.isOpen)
        let error = #expect(throws: ScopeError.self) { try feature.makeInteraction() }
        #expect(error?.scope == app.scope.title)
        released.fulfill(())
        try await closing
        await work
    }

    @Test func featureSharesTheSessionsRepository() async throws {
        let ada = try await UserContainer(session("ada"), in: AppContainer.example())
        let feature = try ada.openFeature(over: .posts()) { $0 }
        #expect(try feature.objects() === ada.repository(.posts()))
        #expect(feature.title == "feature posts")
        try await ada.close()
        #expect(!feature.isOpen)
        let error = #expect(throws: RepositoryError.self) { try ada.openFeature(over: .posts()) { $0 } }
        #expect(error?.reason == .closed)
    }

    @Test func closingCancelsAndAwaitsRequestsInFlight() async throws {
        let begun = Rendezvous(of: 2)
        let source = Source.silent(begun: begun)
        let ada = try await UserContainer(session("ada"), in: .example(source))
        let container = try UsersContainer(in: ada, router: NullRouter())
        async let cancelled = container.withInteraction { await Self.error(of: try $0.listUsers) }
        await begun.arrive()
        try await ada.close()
        #expect(try await cancelled == .cancelled)
    }

    @Test func closingCancelsAndAwaitsTheWorkOfInteractions() async throws {
        let journal = Journal()
        let begun = Rendezvous(of: 2)
        let ada = try await UserContainer(session("ada"), in: AppContainer.example())
        let container = try UsersContainer(in: ada, router: NullRouter())
        async let work: Void? = try? container.withInteraction { _ in
            await begun.arrive()
            // This work is not a request. It belongs to the scope, too.
            await Rendezvous(of: 2).arrive()
            journal.add(Task.isCancelled ? "cancelled" : "not cancelled")
        }
        await begun.arrive()
        try await ada.close()
        #expect(journal.entries == ["cancelled"])
        await work
    }

    @Test func useCaseOfAClosedInteractionFailsWhileTheSessionIsOpen() async throws {
        let source = Source.recording()
        let ada = try await UserContainer(session("ada"), in: .example(source))
        let container = try UsersContainer(in: ada, router: NullRouter())
        let (listUsers, readFeed) = try await container.withInteraction { (try $0.listUsers, try $0.readFeed) }
        await #expect(throws: ListUsersError.self) { try await listUsers() }
        await #expect(throws: ReadFeedError.self) { try await readFeed() }
        #expect(source.requests.isEmpty)
        #expect(try await container.withInteraction { try await $0.listUsers() }.origin == .upstream)
    }

    @Test func interactionIsClosedWhenItsWorkIsDone() async throws {
        let ada = try await UserContainer(session("ada"), in: AppContainer.example())
        let container = try UsersContainer(in: ada, router: NullRouter())
        let interaction = try await container.withInteraction { $0 }
        #expect(!interaction.isOpen)
        struct Oops: Error {}
        await #expect(throws: Oops.self) { try await container.withInteraction { _ in throw Oops() } }
        #expect(!container.description.contains("interaction"))
    }

    @Test func resultIsReturnedEvenIfOtherWorkDoesNotEndInTime() async throws {
        let handler = RecordingErrorHandler()
        let stubborn = AsyncStream<Void>.makeStream()
        let begun = Rendezvous(of: 2)
        let cancelled = Rendezvous(of: 2)
        let source = StubDataFetcher { request throws(FetchError) in
            await begun.arrive()
            await Rendezvous(of: 2).arrive()
            await cancelled.arrive()
            // An unstructured task does not observe the cancellation.
            await Task { for await _ in stubborn.stream {} }.value
            return Source.answer(to: request)
        }
        let app = try await AppContainer.example(source, clock: clock)
        _ = try app.errorHandler.replace(with: handler)
        let container = try await UsersContainer(in: UserContainer(.guest, in: app), router: NullRouter())
        let late = Journal()
        let unstructured = AsyncStream<Task<Void, Never>>.makeStream()
        async let value = container.withInteraction { interaction in
            let upstream = try interaction.upstream
            unstructured.continuation.yield(
                Task {
                    // Not a read, because callers of the cache do not wait for a transfer that does not end.
                    let request = DataRequest(method: .post, url: upstream.baseURL)
                    let answer = await Result(awaiting: { () async throws(FetchError) in
                        try await upstream.dataFetcher.fetch(request)
                    })
                    late.add("\(answer)")
                }
            )
            await begun.arrive()
            return "done"
        }
        await cancelled.arrive()
        await clock.sleepers(1)
        clock.advance(by: .seconds(5))
        #expect(try await value == "done")
        #expect(handler.errors.map { "\($0)" } == ["interaction 1 > work in flight did not close in time."])
        stubborn.continuation.finish()
        await unstructured.stream.first { _ in true }?.value
        // An answer that arrives after closing is discarded.
        #expect(late.entries.first?.contains("was interrupted: interaction 1 is closed") == true)
    }

    private static func error(of listUsers: ListUsers) async -> ListUsersError? {
        do throws(ListUsersError) {
            _ = try await listUsers()
            return nil
        } catch {
            return error
        }
    }

    // MARK: Deadlines

    @Test func requestEndsAtTheDeadlineOfItsInteraction() async throws {
        let begun = Rendezvous(of: 2)
        let source = Source.silent(begun: begun)
        let ada = try await UserContainer(session("ada"), in: .example(source, clock: clock))
        let container = try UsersContainer(in: ada, router: NullRouter())
        let errors = Journal()
        let request = InteractionID("request 1")
        async let late = #expect(throws: DeadlinePassedError.self) {
            try await container.withInteraction(id: request, within: .seconds(2)) { interaction in
                #expect(interaction.id == request)
                // The second call comes after the deadline, when nothing is sent.
                for _ in 1...2 { errors.add(await Self.error(of: try interaction.listUsers).map { "\($0)" } ?? "none") }
                // Ends when the deadline cancels the task, so that the work does not race with it.
                await Rendezvous(of: 2).arrive()
            }
        }
        await begun.arrive()
        await clock.sleepers(1)
        clock.advance(by: .seconds(2))
        #expect(await late?.description == "interaction request 1 missed its deadline")
        #expect(errors.entries.count == 2 && !errors.entries.contains("none"))
        #expect(source.requests.count == 1)
    }

    @Test func deadlineAppliesToAllWorkOfAnInteraction() async throws {
        let ada = try await UserContainer(session("ada"), in: AppContainer.example(clock: clock))
        let container = try UsersContainer(in: ada, router: NullRouter())
        let remaining = try await container.withInteraction(within: .seconds(2)) { _ in Deadline.current?.remaining }
        #expect(remaining == .seconds(2))
        let journal = Journal()
        async let late: Void? = try? container.withInteraction(within: .seconds(2)) { [clock] _ in
            do {
                try await clock.sleep(for: .seconds(100))
            } catch {
                journal.add("cancelled")
            }
        }
        await clock.sleepers(2)
        clock.advance(by: .seconds(2))
        #expect(await late == nil)
        #expect(journal.entries == ["cancelled"])
    }

    @Test func missedDeadlineIsAnErrorThatNamesTheInteraction() async throws {
        let ada = try await UserContainer(session("ada"), in: AppContainer.example(clock: clock))
        let container = try UsersContainer(in: ada, router: NullRouter())
        async let error = #expect(throws: DeadlinePassedError.self) {
            try await container.withInteraction(id: InteractionID("request\n7"), within: .seconds(2)) { _ in
                await Rendezvous(of: 2).arrive()
            }
        }
        await clock.sleepers(1)
        clock.advance(by: .seconds(2))
        #expect(await error?.description == "interaction request\\n7 missed its deadline")
    }

    @Test func deadlinePropagatesWithTheTask() async throws {
        let seen = Journal()
        let source = StubDataFetcher { request throws(FetchError) in
            if request.method == .post { seen.add("\(Deadline.current?.remaining ?? .zero)") }
            return Source.answer(to: request, maxAge: 0)
        }
        let configuration = try AppConfiguration(timeLimit: .seconds(9))
        let ada = try await UserContainer(.guest, in: AppContainer(configuration, dataFetcher: source, clock: clock))
        let container = try await FeedContainer(in: ada)
        // Shared reads have no single deadline, so the test looks at a write.
        let publish = { @Sendable (interaction: FeedInteraction) async throws in
            _ = try? await interaction.publishPost(title: "x", body: "x", by: User.ID(7))
        }
        try await container.withInteraction { [clock] interaction in
            clock.advance(by: .seconds(1))
            try await publish(interaction)
        }
        try await container.withInteraction(within: .seconds(3), publish)
        // An earlier deadline of the task applies, too.
        let deadline = Deadline(in: .seconds(2), on: clock)
        _ = await deadline.bound { () async throws in try await container.withInteraction(publish) }
        #expect(seen.entries == ["8.0 seconds", "3.0 seconds", "2.0 seconds"])
    }
}
