import Composition
import Entities
import Foundation
import Infrastructure
import InterfaceAdapters
import InwardTesting
import LoopbackServer
import Testing
import UseCases

struct AppContainerTests {
    @Test func theSampleGoesThroughAllRings() async throws {
        let container = try AppContainer(AppConfiguration())
        #expect(try await container.listUsers().value.count == 10)
        #expect(try await container.showUser(User.ID(7)).posts.get().value.count == 10)
        let page = try await container.readFeed()
        #expect(page.entries.count == 20)
        #expect(page.total == 100)
        #expect(page.entries.allSatisfy { if case .known = $0.author { true } else { false } })
        #expect(try await container.publishPost(title: "Notes", body: "x", by: User.ID(7)).id == Post.ID(101))
        let overview = try await container.overview()
        #expect(overview.provenance.contains("of the built-in sample in"))
    }

    @Test func everyPageOfTheSampleFollowsTheOneBefore() async throws {
        let readFeed = try AppContainer(AppConfiguration()).readFeed
        var query = FeedQuery(pageSize: 30)
        var identities: [Int] = []
        repeat {
            let page = try await readFeed(query)
            identities += page.entries.map(\.post.id.rawValue)
            query.cursor = page.next
        } while query.cursor != nil
        #expect(identities == Array((1...100).reversed()))
    }

    @Test func aDataFetcherOfTheCallersTakesThePlaceOfTheUpstream() async throws {
        let source = RecordingDataFetcher(StubDataFetcher(DataResponse(body: Data("[]".utf8))))
        let container = AppContainer(try AppConfiguration(upstream: "http://upstream.test/api"), dataFetcher: source)
        #expect(try await container.listUsers().value.isEmpty)
        #expect(source.requests.map(\.url.absoluteString) == ["http://upstream.test/api/users"])
    }

    @Test func aDirectoryThatIsNotThereIsRefusedWithTheReason() throws {
        let configuration = try AppConfiguration(upstream: "/nowhere/at/all")
        let error = #expect(throws: AppConfigurationError.self) { try AppContainer(configuration) }
        #expect(error?.description.contains("“/nowhere/at/all/” cannot be read: No such file or directory") == true)
    }

    @Test func whoPublishIsSharedByAll() throws {
        let container = try AppContainer(AppConfiguration())
        #expect(container.publishPost === container.publishPost)
    }

    @Test(.timeLimit(.minutes(1)))
    func theLimitsOfTheConfigurationHoldForAnUpstreamOnTheWeb() async throws {
        let server = try LoopbackServer { $0.target == "/users" ? .whole(body: Array("[ ]".utf8)) : .never }
        defer { server.stop() }
        let address = server.url().absoluteString
        let small = try AppContainer(AppConfiguration(upstream: address, bodyLimit: 2))
        let tooLarge = await #expect(throws: ListUsersError.self) { try await small.listUsers() }
        guard case .unreadable = tooLarge else { return #expect(Bool(false), "\(String(describing: tooLarge))") }
        let impatient = try AppContainer(AppConfiguration(upstream: address, idleTimeout: .seconds(1), bodyLimit: 3))
        #expect(try await impatient.listUsers().value.isEmpty)
        // Ends before a fetcher does that waits for twenty seconds, and not because that one has ended.
        let ending = await withTaskGroup { group in
            group.addTask { (try? await impatient.readFeed()) == nil ? "the impatient one" : "an answer" }
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

    @Test func theLimitOfTheConfigurationHoldsForADirectory() async throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "inward-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: directory) }
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        try Data("[ ]".utf8).write(to: directory.appending(path: "users.json"))
        let path = directory.path(percentEncoded: false)
        #expect(try await AppContainer(AppConfiguration(upstream: path, bodyLimit: 3)).listUsers().value.isEmpty)
        await #expect(throws: ListUsersError.self) {
            try await AppContainer(AppConfiguration(upstream: path, bodyLimit: 2)).listUsers()
        }
    }
}
