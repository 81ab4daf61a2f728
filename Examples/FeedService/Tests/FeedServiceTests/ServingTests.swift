import Foundation
import HTTPTypes
import HummingbirdTesting
import InwardCore
import InwardFetching
import InwardScopes
import InwardTesting
import NIOCore
import Testing

@testable import FeedService

/// What holds for all routes.
@Suite(.timeLimit(.minutes(5)))
struct ServingTests {
    private static let paths = ["/api/users", "/api/users/7", "/api/users/7/posts", "/api/feed"]

    @Test(arguments: paths)
    func clientThatHasTheRepresentationGetsNoBody(path: String) async throws {
        try await FeedStage().serving { client in
            let first = try await client.get(path)
            let tag = try #require(first.headers[.eTag])
            #expect(
                first.headers[.cacheControl] == "public, max-age=5, stale-while-revalidate=30, stale-if-error=86400"
            )
            let second = try await client.get(path, [.ifNoneMatch: "\"other\", W/\(tag)"])
            #expect(second.status == .notModified && second.body.readableBytes == 0)
            #expect(second.headers[.eTag] == tag)
            #expect(second.headers[.cacheControl] == first.headers[.cacheControl])
            #expect(try await client.get(path, [.ifNoneMatch: "\"other\""]).status == .ok)
        }
    }

    @Test(arguments: ["/api/openapi.json", "/style.css", "/live.js", "/icon.svg"])
    func clientThatHasTheFileGetsNoBody(path: String) async throws {
        try await FeedStage().serving { client in
            let first = try await client.get(path)
            let tag = try #require(first.headers[.eTag])
            #expect(first.status == .ok && first.headers[.contentType] != nil && first.body.readableBytes > 0)
            #expect(first.headers[.cacheControl] == "public, max-age=3600")
            let second = try await client.get(path, [.ifNoneMatch: tag])
            #expect(second.status == .notModified && second.body.readableBytes == 0)
            #expect(second.headers[.eTag] == tag)
            #expect(second.headers[.cacheControl] == first.headers[.cacheControl])
        }
    }

    @Test(arguments: paths + ["/api/openapi.json", "/style.css", "/live.js", "/icon.svg"])
    func headHasTheFieldsOfGet(path: String) async throws {
        try await FeedStage().serving { client in
            let whole = try await client.get(path)
            let head = try await client.execute(uri: path, method: .head)
            #expect(head.status == .ok && head.body.readableBytes == 0)
            #expect(head.headers[.eTag] != nil && head.headers[.eTag] == whole.headers[.eTag])
            #expect(head.headers[.contentLength] == whole.headers[.contentLength])
        }
    }

    @Test(arguments: paths)
    func failureOfTheUpstreamIsAProblemWithoutItsName(path: String) async throws {
        var settings = ServiceSettings()
        settings.upstream = URL(string: "https://secret.test/api")
        let upstream = StubDataFetcher { request throws(FetchError) in
            throw FetchError(DataResponse(status: 503, headerFields: [HeaderField(.retryAfter, "7")]), to: request)
        }
        try await FeedStage(settings, dataFetcher: upstream).serving { client in
            let response = try await client.get(path)
            #expect(try !response.problem(503).contains("secret"))
            #expect(response.headers[.retryAfter] == "7")
        }
    }

    @Test func unknownPathIsAProblem() async throws {
        try await FeedStage().serving { client in
            for path in ["/api", "/api/nothing", "/user/7"] {
                let detail = try await client.problem(404, at: path)
                #expect(detail == "Nothing is at this address.")
            }
        }
    }

    @Test(arguments: ["/nothing", "/api/users/99", "/api/feed?size=0"])
    func headOfAnErrorHasNoBody(path: String) async throws {
        try await FeedStage().serving { client in
            let whole = try await client.get(path)
            let head = try await client.execute(uri: path, method: .head)
            #expect(head.status == whole.status && head.body.readableBytes == 0)
            #expect(head.headers[.contentLength] == whole.headers[.contentLength])
        }
    }

    @Test func answersHaveIdentifiersOfTheirOwn() async throws {
        try await FeedStage().serving { client in
            let first = try await client.get("/healthz").headers[.requestID]
            let second = try await client.get("/api/users/99").headers[.requestID]
            #expect(first != nil && second != nil && first != second)
        }
    }

    @Test func identifierOfTheClientIsKeptIfItIsPlain() async throws {
        try await FeedStage().serving { client in
            for id in ["7", "a-Z_0.9", String(repeating: "x", count: 64)] {
                let answer = try await client.get("/healthz", [.requestID: id])
                #expect(answer.headers[.requestID] == id)
            }
            for id in ["", "a b", "ü", "a\"", String(repeating: "x", count: 65)] {
                let answer = try await client.get("/healthz", [.requestID: id])
                #expect(answer.headers[.requestID] != id)
            }
        }
    }

    @Test func serviceThatShutsDownIsNotReady() async throws {
        let stage = try await FeedStage()
        try await stage.serving { client in
            #expect(try await client.get("/readyz").status == .ok)
            _ = await stage.app.scope.shutDown(within: .zero)
            #expect(try await client.get("/readyz").status == .serviceUnavailable)
            #expect(try await client.get("/healthz").status == .ok)
            _ = try await client.get("/api/users").problem(503)
        }
    }

    @Test func requestEndsAtTheTimeLimit() async throws {
        let (clock, begun) = (ManualClock(), Promise<Void>())
        let upstream = StubDataFetcher { _ throws(FetchError) in
            begun.fulfill(())
            _ = await Promise<Void>().value()
            return DataResponse()
        }
        var settings = ServiceSettings()
        settings.timeLimit = .seconds(3)
        try await FeedStage(settings, dataFetcher: upstream, clock: clock).serving { client in
            async let response = client.get("/api/users/7")
            _ = await begun.value()
            clock.advance(by: .seconds(3))
            let late = try await response
            #expect(try !late.problem(503).isEmpty)
        }
    }
}
