import Composition
import InterfaceAdapters
import InwardCore
import InwardFetching
import InwardScopes
import InwardTesting
import Synchronization
import Testing
import UseCases

@Suite(.timeLimit(.minutes(5)))
struct FeedContainerTests {
    /// An upstream that a test can turn off and on.
    private final class Switch: Sendable {
        let isOn = Mutex(true)

        var dataFetcher: StubDataFetcher {
            StubDataFetcher { [self] request throws(FetchError) in
                guard isOn.withLock(\.self) else {
                    throw FetchError(.unreachable, request: request, explanation: "reached nobody")
                }
                return Source.answer(to: request, maxAge: 0)
            }
        }
    }

    private let upstream = Switch()

    @Test func lastPostsStayDuringAnOutageAndRecoveryIsShown() async throws {
        let feed = try await FeedContainer(
            in: UserContainer(.guest, in: .example(upstream.dataFetcher))
        )
        let viewModel = try feed.viewModel
        #expect(viewModel.state == .idle)
        try await viewModel.send(.load)
        let good = try #require(viewModel.state.posts)
        #expect(good.rows.map(\.id) == [2, 1])
        #expect(good.origin == "upstream")
        upstream.isOn.withLock { $0 = false }
        try await viewModel.send(.refresh)
        guard case .failed(let failure, let lastGood) = viewModel.state else {
            return #expect(Bool(false), "\(viewModel.state)")
        }
        #expect(failure.line.contains("reached nobody"))
        #expect(lastGood == good)
        upstream.isOn.withLock { $0 = true }
        try await viewModel.send(.refresh)
        #expect(viewModel.state == .loaded(good))
    }

    @Test func observersEndWhenTheFeatureCloses() async throws {
        let user = try await UserContainer(.guest, in: .example(upstream.dataFetcher))
        let viewModel = try await FeedContainer(in: user).viewModel
        let started = Rendezvous(of: 4)
        let endings = await withTaskGroup(of: Int.self) { group in
            for _ in 1...3 {
                group.addTask {
                    var count = 0
                    for await _ in viewModel.states {
                        if count == 0 { await started.arrive() }
                        count += 1
                    }
                    return count
                }
            }
            await started.arrive()
            try? await user.close()
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(endings.count == 3)
        #expect(endings.allSatisfy { $0 >= 1 })
    }

    @Test func loadEndsWhenTheFeatureCloses() async throws {
        let begun = Rendezvous(of: 3)
        let source = Source.silent(begun: begun)
        let user = try await UserContainer(.guest, in: .example(source))
        let viewModel = try await FeedContainer(in: user).viewModel
        async let load: Void = { try? await viewModel.send(.load) }()
        await begun.arrive()
        try await user.close()
        await load
        #expect(source.requests.count == 2)
    }

    @Test func cancellationIsNotAFailure() async throws {
        let handler = RecordingErrorHandler()
        let begun = Rendezvous(of: 3)
        let app = try await AppContainer.example(Source.silent(begun: begun))
        _ = try app.errorHandler.replace(with: handler)
        let viewModel = try await FeedContainer(in: UserContainer(.guest, in: app)).viewModel
        await withTaskGroup { group in
            group.addTask { try? await viewModel.send(.load) }
            await begun.arrive()
            group.cancelAll()
        }
        #expect(viewModel.state == .idle)
        #expect(handler.errors.isEmpty)
    }

    @Test func feedThatMissesItsDeadlineIsAFailure() async throws {
        let clock = ManualClock()
        let begun = Rendezvous(of: 3)
        let app = try await AppContainer.example(Source.silent(begun: begun), clock: clock)
        let viewModel = try await FeedContainer(in: UserContainer(.guest, in: app)).viewModel
        async let load: Void? = try? viewModel.send(.load)
        await begun.arrive()
        await clock.sleepers(1)
        clock.advance(by: .seconds(30))
        await load
        guard case .failed(let failure, nil) = viewModel.state else {
            return #expect(Bool(false), "\(viewModel.state)")
        }
        #expect(failure.line.contains("The feed was not loaded: interaction 1 missed its deadline"))
    }

    @Test func postThatMissesItsDeadlineHasAnUnknownOutcome() async throws {
        let clock = ManualClock()
        let begun = Rendezvous(of: 3)
        let app = try await AppContainer.example(Source.silent(begun: begun), clock: clock)
        let feed = try await FeedContainer(in: UserContainer(.guest, in: app))
        async let publishing = Result(awaiting: { () async throws(FailureViewModel) in
            try await feed.publish(line: Array(#"{"userId": 7, "title": "New", "body": "x"}"#.utf8))
        })
        await begun.arrive()
        await clock.sleepers(1)
        clock.advance(by: .seconds(30))
        guard case .failure(let failure) = await publishing else { return #expect(Bool(false)) }
        #expect(failure.summary.hasPrefix("It is not known whether the post was published: interaction 1 missed"))
        #expect(failure.advice == "Look for the post before you publish it again.")
        try await app.close()
        let closed = await #expect(throws: FailureViewModel.self) { try await feed.publish(line: nil) }
        #expect(closed?.summary.hasPrefix("The post was not published: ") == true)
    }

    @Test func failureThatNoCallerReceivesIsHandled() async throws {
        let handler = RecordingErrorHandler()
        let app = try await AppContainer.example(upstream.dataFetcher)
        _ = try app.errorHandler.replace(with: handler)
        let viewModel = try await FeedContainer(in: UserContainer(.guest, in: app)).viewModel
        upstream.isOn.withLock { $0 = false }
        try await viewModel.send(.load)
        #expect(handler.errors.count == 1)
        let error = try #require(handler.errors.first as? ReadFeedError)
        #expect("\(error)".hasPrefix("The feed could not be read: GET "))
        // The interaction is closed.
        #expect(!app.description.contains("interaction "))
        // A caller that receives the error handles it, so the error handler does not.
        let interaction = try await FeedContainer(in: UserContainer(.guest, in: app)).makeInteraction()
        await #expect(throws: ReadFeedError.self) { try await interaction.readFeed() }
        #expect(handler.errors.count == 1)
    }
}
