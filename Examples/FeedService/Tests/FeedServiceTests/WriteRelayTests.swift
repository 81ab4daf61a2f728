import Entities
import Foundation
import HTTPTypes
import HummingbirdTesting
import Infrastructure
import InwardCore
import InwardFetching
import InwardRepositories
import InwardScopes
import InwardTesting
import NIOCore
import Synchronization
import Testing

@testable import FeedService

/// Guests see what users write, although they have other repositories.
@Suite(.timeLimit(.minutes(5)))
struct WriteRelayTests {
    /// The sample as an upstream on the web, which gives tokens to users, and can refuse writes.
    private final class Upstream: Sendable {
        let root: URL
        let refusesWrites = Mutex(false)
        /// Whether the first answer to a deletion is lost, so that another attempt finds nothing.
        let losesDeletions = Mutex(false)
        /// Holds writes back until it is fulfilled, if there is one.
        let gate = Mutex<Promise<Void>?>(nil)
        let requestCount = Mutex(0)
        private let sample = SampleDataFetcher()

        init(root: String) throws { self.root = try #require(URL(string: root)) }

        var dataFetcher: StubDataFetcher {
            StubDataFetcher { [self] request throws(FetchError) in
                requestCount.withLock { $0 += 1 }
                if request.url.path() == "/token" { return DataResponse(body: Data(#"{"token": "t"}"#.utf8)) }
                if request.method != .get {
                    if refusesWrites.withLock({ $0 }) { return DataResponse(status: 500) }
                    if let gate = gate.withLock({ $0 }) { _ = await gate.value(until: nil) }
                }
                var copy = request
                let path = request.url.absoluteString.dropFirst(root.absoluteString.count)
                copy.url = URL(string: "sample:///\(path.trimmingPrefix("/"))") ?? request.url
                let response = try await sample.fetch(copy)
                let isLost = request.method == .delete && losesDeletions.withLock { $0 }
                return isLost ? DataResponse(status: 404) : response
            }
        }

        var settings: ServiceSettings {
            var settings = ServiceSettings()
            settings.upstream = root
            settings.tokenEndpoint = URL(string: "/token", relativeTo: root)?.absoluteURL
            return settings
        }
    }

    private static let draft = #"{"authorID": 7, "title": "Letters", "body": "On the engine."}"#

    /// Runs a test with a store in a directory.
    private func withStore(_ settings: ServiceSettings, _ test: (ServiceSettings) async throws -> Void) async throws {
        let directory = URL.temporaryDirectory.appending(path: "FeedService-\(UUID())")
        defer { try? FileManager.default.removeItem(at: directory) }
        var settings = settings
        settings.store = .directory(directory.path)
        try await test(settings)
    }

    private func signIn(_ client: any TestClientProtocol, as user: String = "marit.lamp") async throws -> HTTPFields {
        let response = try await client.send(.post, "/api/session", #"{"user": "\#(user)"}"#)
        return [.authorization: "Bearer \(try #require(try response.object["token"] as? String))"]
    }

    private func text(_ client: any TestClientProtocol, _ path: String) async throws -> String {
        String(buffer: try await client.get(path).body)
    }

    @Test(arguments: ["https://upstream.test", "https://upstream.test/", "https://upstream.test/api/v1"])
    func guestsSeeThePostsOfAUserAtOnce(root: String) async throws {
        let upstream = try Upstream(root: root)
        try await FeedStage(upstream.settings, dataFetcher: upstream.dataFetcher).serving { client in
            let user = try await signIn(client)
            #expect(try await !text(client, "/api/feed").contains("Letters"))
            let published = try await client.send(.post, "/api/posts", Self.draft, user)
            #expect(published.status == .created)
            #expect(try await text(client, "/api/feed").contains("Letters"))

            let post = try #require(published.headers[.location])
            #expect(try await text(client, post).contains("Letters"))
            #expect(try await client.send(.patch, post, #"{"title": "Notes"}"#, user).status == .ok)
            #expect(try await text(client, post).contains("Notes"))
            #expect(try await client.send(.delete, post, "", user).status == .noContent)
            #expect(try await client.get(post).status == .notFound)
        }
    }

    @Test func guestsReadTheCommentsAgainWhosePostAUserHasDeleted() async throws {
        let upstream = try Upstream(root: "https://upstream.test")
        try await FeedStage(upstream.settings, dataFetcher: upstream.dataFetcher).serving { client in
            let user = try await signIn(client)
            #expect(try await client.get("/api/comments/23").status == .ok)
            #expect(try await client.send(.delete, "/api/posts/12", "", user).status == .noContent)
            let count = upstream.requestCount.withLock { $0 }
            _ = try await client.get("/api/comments/23")
            #expect(upstream.requestCount.withLock { $0 } > count)
        }
    }

    @Test func guestsForgetAPostWhoseDeletionIsRepeated() async throws {
        let upstream = try Upstream(root: "https://upstream.test")
        upstream.losesDeletions.withLock { $0 = true }
        try await FeedStage(upstream.settings, dataFetcher: upstream.dataFetcher).serving { client in
            let user = try await signIn(client)
            #expect(try await client.get("/api/posts/7").status == .ok)
            _ = try await client.send(.delete, "/api/posts/7", "", user)
            #expect(try await client.get("/api/posts/7").status == .notFound)
        }
    }

    @Test func guestsOfTheNextProcessSeeWhatAShutdownHasDelivered() async throws {
        let upstream = try Upstream(root: "https://upstream.test")
        try await withStore(upstream.settings) { settings in
            let gate = Promise<Void>()
            let stage = try await FeedStage(settings, dataFetcher: upstream.dataFetcher, clock: ContinuousClock())
            try await stage.serving { client in
                let user = try await signIn(client)
                #expect(try await !text(client, "/api/feed").contains("Letters"))
                upstream.gate.withLock { $0 = gate }
                #expect(try await client.send(.post, "/api/posts", Self.draft, user).status == .accepted)
                async let report = stage.app.scope.shutDown(within: .seconds(60))
                while stage.app.isReady { await Task.yield() }
                gate.fulfill(())
                _ = await report
            }
            let next = try await FeedStage(settings, dataFetcher: upstream.dataFetcher, clock: ContinuousClock())
            #expect(try await String(buffer: next.answer("/api/feed").body).contains("Letters"))
        }
    }

    @Test func guestsSeeTheCommentsOfAUserAtOnce() async throws {
        try await FeedStage().serving { client in
            let user = try await signIn(client)
            let comments = "/api/posts/12/comments"
            #expect(try await !text(client, comments).contains("Well said."))
            let comment = #"{"name": "Ada", "email": "ada@example.org", "body": "Well said."}"#
            #expect(try await client.send(.post, comments, comment, user).status == .created)
            #expect(try await text(client, comments).contains("Well said."))
            let edit = #"{"body": "Agreed."}"#
            #expect(try await client.send(.patch, "/api/comments/201", edit, user).status == .ok)
            #expect(try await text(client, comments).contains("Agreed."))
        }
    }

    @Test func guestsFollowThePostsThatAreDeliveredLater() async throws {
        try await withStore(ServiceSettings()) { settings in
            let stage = try await FeedStage(settings, clock: ContinuousClock())
            try await stage.serving { client in
                let user = try await signIn(client)
                var changes = try await stage.app.withSession(of: .guest) { $0.postChanges }.makeAsyncIterator()
                _ = try await changes.next()
                #expect(try await client.send(.post, "/api/posts", Self.draft, user).status == .accepted)
                var isSeen = false
                while !isSeen {
                    let reading = try #require(try await changes.next())
                    isSeen = reading.value.contains { $0.title == "Letters" }
                }
            }
        }
    }

    @Test func guestsReadAgainOnlyAfterWritesThatTheUpstreamHasDone() async throws {
        let upstream = try Upstream(root: "https://upstream.test")
        try await FeedStage(upstream.settings, dataFetcher: upstream.dataFetcher).serving { client in
            let user = try await signIn(client)
            _ = try await text(client, "/api/feed")
            _ = try await client.get("/api/feed", user)
            upstream.refusesWrites.withLock { $0 = true }
            #expect(try await client.send(.post, "/api/posts", Self.draft, user).status.code >= 500)
            let count = upstream.requestCount.withLock { $0 }
            _ = try await text(client, "/api/feed")
            #expect(upstream.requestCount.withLock { $0 } == count)
        }
    }
}
