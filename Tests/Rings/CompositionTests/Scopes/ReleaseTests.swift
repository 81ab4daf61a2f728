import InterfaceAdapters
import InwardFetching
import InwardScopes
import InwardTesting
import Testing
import UseCases

@testable import Composition

/// Closing a scope releases its objects, even if callers retain use cases and sequences.
struct ReleaseTests {
    /// Weak references with names, which show which objects are alive.
    private struct Witnesses {
        private struct Witness {
            let name: String
            weak var object: AnyObject?
        }

        private var witnesses: [Witness] = []

        mutating func add(_ name: String, _ object: AnyObject) {
            witnesses.append(Witness(name: name, object: object))
        }

        /// Adds the class instances among the stored properties of a scope's objects.
        mutating func add<Level, Objects>(objectsOf scope: Scope<Level, Objects>) throws {
            for child in Mirror(reflecting: try scope.objects()).children {
                guard let label = child.label, type(of: child.value) is AnyClass else { continue }
                add("\(Level.name).\(label)", child.value as AnyObject)
            }
        }

        var names: [String] { witnesses.map(\.name) }
        var alive: [String] { witnesses.filter { $0.object != nil }.map(\.name) }
    }

    /// A data fetcher that is a class, so that a test can observe its release.
    private final class WitnessedDataFetcher: DataFetcher {
        func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse { Source.answer(to: request) }
    }

    @Test func closingAnAppReleasesAllItsObjects() async throws {
        var app = Witnesses()
        var inside = Witnesses()
        let clock = ManualClock()
        let container = try await AppContainer.example(WitnessedDataFetcher(), clock: clock)
        try app.add(objectsOf: container.scope)
        let user = try await UserContainer(.guest, in: container)
        _ = try user.images
        inside.add("imageCache", try container.imageCache)
        let feed = try await FeedContainer(in: user)
        try inside.add(objectsOf: feed.scope)
        let interaction = try feed.makeInteraction()
        // A caller retains a use case and a sequence of states.
        let readFeed = try interaction.readFeed
        let states = try feed.viewModel.states
        try await feed.viewModel.send(.load)
        _ = try await readFeed()
        inside.add("viewModel", try feed.viewModel)
        #expect(
            app.names == [
                "app.timer", "app.errorHandler", "app.protection", "app.dataFetcher", "app.imageOrigins",
                "app.imageFetcher", "app.responseCache", "app.imageCodec", "app.imageCache", "app.decodingBudget",
                "app.titlesUnderWay", "app.interactionNumbers",
            ]
        )
        #expect(app.alive == app.names)
        #expect(inside.names == ["imageCache", "feature.viewModel", "viewModel"])
        #expect(inside.alive == inside.names)

        try await container.close()
        // The retained use case keeps nothing of the app alive.
        #expect(app.alive.isEmpty)
        #expect(inside.alive.isEmpty)
        await #expect(throws: ReadFeedError.self) { try await readFeed() }
        #expect(await states.reduce(0) { count, _ in count + 1 } <= 1)
    }

    @Test func closingASessionReleasesOnlyItsObjects() async throws {
        var around = Witnesses()
        var inside = Witnesses()
        let app = try await AppContainer.example(WitnessedDataFetcher())
        try around.add(objectsOf: app.scope)
        let session = UserSession(name: "ada", credentials: .bearer("token-of-ada"))
        do {
            let user = try await UserContainer(session, in: app)
            let feed = try await FeedContainer(in: user)
            let users = try UsersContainer(in: user, router: NullRouter())
            let overview = try OverviewContainer(in: user)
            try inside.add(objectsOf: feed.scope)
            let interactions = try (feed.makeInteraction(), users.makeInteraction(), overview.makeInteraction())
            inside.add("user", user.scope)
            inside.add("feed", feed.scope)
            inside.add("users", users.scope)
            inside.add("overview", overview.scope)
            inside.add("feed's interaction", interactions.0.scope)
            inside.add("users' interaction", interactions.1.scope)
            inside.add("overview's interaction", interactions.2.scope)
            try await feed.viewModel.send(.load)
            #expect(inside.alive == inside.names)
            try await user.close()
        }
        #expect(inside.alive.isEmpty)
        #expect(around.alive == around.names)
    }

    @Test func endedInteractionsLeaveNothingBehind() async throws {
        let feed = try await FeedContainer(
            in: UserContainer(.guest, in: .example(WitnessedDataFetcher()))
        )
        let before = feed.description
        for _ in 1...100 {
            try await feed.withInteraction { interaction in _ = try await interaction.readFeed() }
        }
        #expect(feed.description == before)
    }
}
