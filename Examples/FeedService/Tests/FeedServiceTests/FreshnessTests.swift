import Foundation
import HTTPTypes
import HummingbirdTesting
import InwardCore
import InwardFetching
import InwardTesting
import NIOCore
import Synchronization
import Testing

@testable import FeedService

/// How caches in front of the service may use answers, while the upstream fails.
struct FreshnessTests {
    private static let user = #"""
        {"id":7,"name":"Ada","username":"ada","email":"ada@example.com","phone":"","website":"",
        "address":{"street":"","suite":"","city":"","zipcode":"","geo":{"lat":"0","lng":"0"}},
        "company":{"name":"Engines","catchPhrase":"","bs":""}}
        """#
    private static let posts = #"[{"userId":7,"id":1,"title":"Notes","body":"On the engine."}]"#

    /// Returns an upstream that fails if the path of the request ends with a text.
    private func upstream(failingAt path: String, users: String = "[\(user)]") -> StubDataFetcher {
        StubDataFetcher { request throws(FetchError) in
            let asked = request.url.path()
            if asked.hasSuffix(path) { throw FetchError(DataResponse(status: 500), to: request) }
            let body = asked.hasSuffix("posts") ? Self.posts : asked.hasSuffix("users") ? users : Self.user
            return DataResponse(
                headerFields: [HeaderField(.contentType, "application/json")],
                body: Data(body.utf8)
            )
        }
    }

    private func cacheControl(of path: String, _ upstream: StubDataFetcher) async throws -> String? {
        let response = try await FeedStage(dataFetcher: upstream).answer(path)
        #expect(response.status == .ok)
        return response.headers[.cacheControl]
    }

    @Test(arguments: ["/api/feed", "/posts"])
    func feedWithoutAuthorsIsNotKept(path: String) async throws {
        #expect(try await cacheControl(of: path, upstream(failingAt: "users")) == "no-store")
        #expect(try await cacheControl(of: path, upstream(failingAt: "-")) != "no-store")
    }

    @Test func userWithoutPostsIsNotKept() async throws {
        let page = try await FeedStage(dataFetcher: upstream(failingAt: "posts")).answer("/users/7")
        #expect(page.status == .ok && page.headers[.cacheControl] == "no-store")
        #expect(String(buffer: page.body).contains("The posts are not available now."))
    }

    @Test(arguments: ["/api/users", "/users", "/api/feed"])
    func listWithDamagedRecordsIsNotKept(path: String) async throws {
        let damaged = upstream(failingAt: "-", users: "[\(Self.user), {}]")
        #expect(try await cacheControl(of: path, damaged) == "no-store")
    }

    @Test(arguments: ["/api/users", "/api/users/7", "/api/feed", "/posts", "/users", "/users/7"])
    func staleAnswerIsForFailuresOnly(path: String) async throws {
        let (clock, fails) = (ManualClock(), Switch())
        let upstream = StubDataFetcher { [works = upstream(failingAt: "-")] request throws(FetchError) in
            if fails.isOn { throw FetchError(DataResponse(status: 500), to: request) }
            return try await works.fetch(request)
        }
        try await FeedStage(dataFetcher: upstream, clock: clock).serving { client in
            let first = try await client.get(path)
            #expect(first.headers[.cacheControl]?.hasPrefix("public, max-age=5,") == true)
            fails.turnOn()
            clock.advance(by: .seconds(300))
            let second = try await client.get(path)
            #expect(second.status == .ok)
            #expect(second.headers[.cacheControl] == "public, max-age=0, stale-if-error=86400")
        }
    }
}

/// A condition that is false until it is turned on.
private final class Switch: Sendable {
    private let state = Atomic(false)

    var isOn: Bool { state.load(ordering: .acquiring) }

    func turnOn() { state.store(true, ordering: .releasing) }
}
