import Composition
import Entities
import Foundation
import InterfaceAdapters
import InwardCore
import InwardFetching
import InwardTesting
import InwardURLSession
import LoopbackServer
import Testing
import UseCases

struct AppContainerTests {
    @Test func sampleWorksThroughAllRings() async throws {
        let user = try await UserContainer(.guest, in: AppContainer(clock: ManualClock()))
        let users = try UsersContainer(in: user, router: NullRouter()).makeInteraction()
        #expect(try await users.listUsers().value.count == 10)
        #expect(try await users.showUser(User.ID(7)).posts.get().value.count == 10)
        let feed = try await FeedContainer(in: user).makeInteraction()
        let page = try await feed.readFeed()
        #expect(page.entries.count == 20)
        #expect(page.total == 100)
        #expect(page.entries.allSatisfy { if case .known = $0.author { true } else { false } })
        #expect(try await feed.publishPost(title: "Notes", body: "x", by: User.ID(7)).value.id == Post.ID(101))
        let overview = try await OverviewContainer(in: user).makeInteraction().overview()
        #expect(overview.provenance.contains("of the built-in sample in"))
    }

    @Test func pagesOfTheSampleCoverTheWholeFeed() async throws {
        let user = try await UserContainer(.guest, in: AppContainer(clock: ManualClock()))
        let readFeed = try await FeedContainer(in: user).makeInteraction().readFeed
        var query = FeedQuery(pageSize: 30)
        var identities: [Int] = []
        repeat {
            let page = try await readFeed(query)
            identities += page.entries.map(\.post.id.rawValue)
            query.cursor = page.next
        } while query.cursor != nil
        #expect(identities == Array((1...100).reversed()))
    }

    @Test func callersDataFetcherReplacesTheUpstream() async throws {
        let source = RecordingDataFetcher(StubDataFetcher(DataResponse(body: Data("[]".utf8))))
        let app = try await AppContainer.example(source)
        let users = try await UsersContainer(in: UserContainer(.guest, in: app), router: NullRouter())
        #expect(try await users.makeInteraction().listUsers().value.isEmpty)
        #expect(source.requests.count == 1)
    }

    @Test func configurationChoosesTheUpstream() async throws {
        let source = RecordingDataFetcher(StubDataFetcher(DataResponse(body: Data("[]".utf8))))
        let configuration = try AppConfiguration(upstream: "http://upstream.test/api")
        let user = try await UserContainer(.guest, in: AppContainer.example(source, configuration))
        _ = try await UsersContainer(in: user, router: NullRouter()).makeInteraction().listUsers()
        #expect(source.requests.map(\.url.absoluteString) == ["http://upstream.test/api/users"])
    }

    @Test func missingDirectoryIsRejectedWithTheReason() async throws {
        let configuration = try AppConfiguration(upstream: "/nowhere/at/all")
        let error = await #expect(throws: AppConfigurationError.self) { try await AppContainer(configuration) }
        #expect(error?.description.contains("“/nowhere/at/all/” cannot be read: No such file or directory") == true)
    }

    @Test func titleReservationsAreSharedByAllSessions() async throws {
        // The first call waits for its author and titles until the second one has been rejected.
        let begun = Rendezvous(of: 3)
        let refused = Rendezvous(of: 3)
        let app = try await AppContainer(
            dataFetcher: StubDataFetcher { request throws(FetchError) in
                await begun.arrive()
                await refused.arrive()
                throw FetchError(.unreachable, request: request, explanation: "was told to fail")
            },
            clock: ManualClock()
        )
        let ada = try await FeedContainer(in: UserContainer(.guest, in: app)).makeInteraction().publishPost
        let bob = try await FeedContainer(in: UserContainer(.guest, in: app)).makeInteraction().publishPost
        async let failed = (try? await ada(title: "Notes", body: "x", by: User.ID(7))) == nil
        await begun.arrive()
        await #expect(throws: PublishPostError.titleTaken("notes")) {
            try await bob(title: "notes", body: "y", by: User.ID(7))
        }
        await refused.arrive()
        #expect(await failed)
    }

    @Test(.timeLimit(.minutes(5)))
    func configuredLimitsApplyToAnUpstreamOnTheWeb() async throws {
        let server = try LoopbackServer { $0.target == "/users" ? .whole(body: Array("[ ]".utf8)) : .never }
        defer { server.stop() }
        let address = server.url().absoluteString
        let small = try await listUsers(AppConfiguration(upstream: address, bodyLimit: 2))
        let tooLarge = await #expect(throws: ListUsersError.self) { try await small() }
        guard case .unreadable = tooLarge else { return #expect(Bool(false), "\(String(describing: tooLarge))") }
        #expect(try await listUsers(AppConfiguration(upstream: address, bodyLimit: 3))().value.isEmpty)
        let impatient = try AppConfiguration(
            upstream: address,
            idleTimeout: .seconds(1),
            policy: UpstreamPolicy(attempts: 1)
        )
        let readFeed = try await FeedContainer(
            in: UserContainer(.guest, in: AppContainer(impatient, clock: ManualClock()))
        ).makeInteraction()
            .readFeed
        // The configured timeout of one second must end the read before a fetcher with a timeout of twenty seconds gives up.
        let ending = await withTaskGroup { group in
            group.addTask { (try? await readFeed()) == nil ? "the impatient one" : "an answer" }
            group.addTask {
                let patient = URLSessionDataFetcher(idleTimeout: .seconds(20))
                _ = try? await patient.fetch(DataRequest(url: server.url("silence")))
                return "the patient one"
            }
            defer { group.cancelAll() }
            return await group.next()
        }
        #expect(ending == "the impatient one")
    }

    @Test func configuredLimitAppliesToADirectory() async throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "inward-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: directory) }
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        try Data("[ ]".utf8).write(to: directory.appending(path: "users.json"))
        let path = directory.path(percentEncoded: false)
        #expect(try await listUsers(AppConfiguration(upstream: path, bodyLimit: 3))().value.isEmpty)
        let small = try await listUsers(AppConfiguration(upstream: path, bodyLimit: 2))
        await #expect(throws: ListUsersError.self) { try await small() }
    }

    private func listUsers(_ configuration: AppConfiguration) async throws -> ListUsers {
        let user = try await UserContainer(.guest, in: AppContainer(configuration, clock: ManualClock()))
        return try UsersContainer(in: user, router: NullRouter()).makeInteraction().listUsers
    }

    @Test func pipelineIsVisibleAndRequestsAreObserved() async throws {
        let clock = ManualClock()
        let web = try await AppContainer(AppConfiguration(upstream: "http://127.0.0.1:1"), clock: clock)
        #expect(try web.pipeline.layers.first?.kind == .coalescing)
        #expect(try web.pipeline.warnings == [])
        #expect(try web.circuitBreaker.name == "http://127.0.0.1:1")

        let observer = RecordingFetchObserver()
        let app = try await AppContainer(dataFetcher: Source.recording(), observer: observer, clock: clock)
        let user = try await UserContainer(.guest, in: app)
        _ = try await FeedContainer(in: user).makeInteraction().readFeed()
        #expect(observer.events.contains { if case .requestEnded = $0 { true } else { false } })
    }
}
