import Foundation
import InwardFetching
import LoopbackServer
import Testing

/// How every client follows redirects, and which header fields it forwards.
@Suite(.timeLimit(.minutes(5)))
struct ClientRedirectTests {
    @Test(arguments: TestedClient.allCases)
    func redirectIsFollowedAndTheResponseHasTheFinalAddress(client: TestedClient) async throws {
        try await LoopbackServer.serving({ request in
            request.target == "/a" ? .whole(status: 302, headerLines: ["Location: /b"]) : .whole(body: Array("b".utf8))
        }) { server in
            let request = DataRequest(url: server.url("a"))
            let response = try await client.makeFetcher().fetch(request)
            #expect(response.body == Data("b".utf8))
            #expect(response.url == server.url("b"))
            let returned = try await client.makeFetcher(redirects: .returned).fetch(request)
            #expect(returned.status == 302)
            #expect(returned.headerFields[.location] == "/b")
        }
    }

    @Test(arguments: TestedClient.allCases)
    func endlessRedirectIsAnError(client: TestedClient) async throws {
        try await LoopbackServer.serving({ _ in .whole(status: 302, headerLines: ["Location: /"]) }) { server in
            let fetcher = client.makeFetcher(redirects: .followed(upTo: 3))
            #expect(await fetcher.failure(DataRequest(url: server.url()))?.reason == .tooManyRedirects)
            #expect(server.requests.count == 4)
        }
    }

    private static let safe = [
        "accept": "text/plain", "accept-language": "fr", "if-none-match": "\"1\"", "if-range": "\"1\"",
        "range": "bytes=0-9", "user-agent": "a test",
    ]

    private static let others = [
        "authorization": "Bearer t", "cookie": "a=1", "x-token": "t", "traceparent": "00-1-2-00", "tracestate": "a=1",
        "baggage": "user=ada", "idempotency-key": "1", "x-request-id": "1", "referer": "http://ada.test/",
    ]

    /// Returns the requests to two servers. The first one redirects to the second.
    private func asked(
        _ client: TestedClient,
        redirects: RedirectPolicy
    ) async throws -> (first: LoopbackRequest?, second: LoopbackRequest?) {
        var asked: (first: LoopbackRequest?, second: LoopbackRequest?)
        try await LoopbackServer.serving({ _ in .whole() }) { other in
            let elsewhere = other.url("b").absoluteString
            try await LoopbackServer.serving({ _ in .whole(status: 307, headerLines: ["Location: \(elsewhere)"]) }) {
                server in
                let fields = try Self.safe.merging(Self.others) { value, _ in value }.map { name, value in
                    HeaderField(try #require(HeaderField.Name(name)), value)
                }
                let request = DataRequest(url: server.url("a"), headerFields: HeaderFields(fields))
                _ = try await client.makeFetcher(redirects: redirects).fetch(request)
                asked = (server.requests.first, other.requests.first)
            }
        }
        return asked
    }

    @Test(arguments: TestedClient.allCases)
    func onlySafeFieldsAreForwardedToAnotherOrigin(client: TestedClient) async throws {
        let (first, second) = try await asked(client, redirects: .followed(upTo: 5))
        for (name, value) in Self.safe {
            #expect(first?.values(of: name) == [value], "\(name)")
            #expect(second?.values(of: name) == [value], "\(name)")
        }
        for (name, value) in Self.others {
            #expect(first?.values(of: name) == [value], "\(name)")
            #expect(second?.values(of: name) == [], "\(name)")
        }
    }

    @Test(arguments: TestedClient.allCases)
    func fieldsNamedByThePolicyAreForwardedToAnotherOrigin(client: TestedClient) async throws {
        let trace = try #require(HeaderField.Name("Traceparent"))
        let policy = RedirectPolicy.followed(upTo: 5, sendingElsewhere: [trace])
        let (_, second) = try await asked(client, redirects: policy)
        #expect(second?.values(of: "traceparent") == ["00-1-2-00"])
        #expect(second?.values(of: "baggage") == [])
    }

    @Test(arguments: TestedClient.allCases)
    func sensitiveFieldIsNotForwardedToAnotherOrigin(client: TestedClient) async throws {
        try await LoopbackServer.serving({ _ in .whole() }) { other in
            let elsewhere = other.url("b").absoluteString
            try await LoopbackServer.serving({ _ in .whole(status: 307, headerLines: ["Location: \(elsewhere)"]) }) {
                server in
                let field = HeaderField(.accept, "text/s3cret", isSensitive: true)
                _ = try await client.makeFetcher().fetch(DataRequest(url: server.url("a"), headerFields: [field]))
                #expect(server.requests.first?.values(of: "accept") == ["text/s3cret"])
                #expect(other.requests.map { $0.values(of: "accept").contains("text/s3cret") } == [false])
            }
        }
    }
}
