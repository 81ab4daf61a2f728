import Foundation
import InwardFetching
import InwardTesting
import LoopbackServer
import Testing

/// How every client sends requests and returns complete responses.
@Suite(.timeLimit(.minutes(5)))
struct ClientAnswerTests {
    @Test(arguments: TestedClient.allCases)
    func clientConforms(client: TestedClient) async throws {
        let upstream = ConformanceUpstream()
        try await LoopbackServer.serving({ LoopbackAnswer(to: $0, of: upstream) }) { server in
            let conformance = DataFetcherConformance(
                server: server.url(),
                impossible: DataRequest(url: URL(filePath: "/etc/hosts"))
            )
            try await conformance.check(client.makeFetcher())
        }
    }

    @Test(
        arguments: TestedClient.allCases,
        [
            DataRequest.Method.get, .head, .post, .put, .patch, .delete, .options, DataRequest.Method("REPORT"),
        ]
    )
    func everyMethodReachesTheServer(client: TestedClient, method: DataRequest.Method?) async throws {
        let method = try #require(method)
        let body = [.post, .put, .patch].contains(method) ? Data("{\"a\": \"ä\"}".utf8) : nil
        try await LoopbackServer.serving({ _ in .whole(status: 202, body: Array("done".utf8)) }) { server in
            let request = DataRequest(method: method, url: server.url("x"), body: body)
            let response = try await client.makeFetcher().fetch(request)
            #expect(response.status == 202)
            #expect(response.body == (method == .head ? Data() : Data("done".utf8)))
            #expect(server.requests.map(\.method) == [method.rawValue])
            #expect(server.requests.first?.body == body.map(Array.init) ?? [])
        }
    }

    @Test(arguments: TestedClient.allCases)
    func noCookiesOrResponsesAreKeptBetweenRequests(client: TestedClient) async throws {
        let lines = ["Set-Cookie: a=1", "Cache-Control: max-age=600", "ETag: \"1\""]
        try await LoopbackServer.serving({ _ in .whole(headerLines: lines, body: Array("x".utf8)) }) { server in
            let fetcher = client.makeFetcher()
            for _ in 0..<2 { _ = try await fetcher.fetch(DataRequest(url: server.url())) }
            #expect(server.requests.count == 2)
            #expect(server.requests.allSatisfy { $0.values(of: "cookie").isEmpty })
            #expect(server.requests.allSatisfy { $0.values(of: "if-none-match").isEmpty })
        }
    }

    @Test(
        arguments: TestedClient.allCases,
        ["Basic realm=\"x\"", "Digest realm=\"x\", nonce=\"y\"", "Bearer", "Negotiate", ""]
    )
    func credentialsChallengeIsReturnedAsAResponse(client: TestedClient, challenge: String) async throws {
        try await LoopbackServer.serving({ _ in
            .whole(status: 401, headerLines: ["WWW-Authenticate: \(challenge)"], body: Array("who?".utf8))
        }) { server in
            let response = try await client.makeFetcher().fetch(DataRequest(url: server.url()))
            #expect(response.status == 401)
            #expect(response.body == Data("who?".utf8))
            #expect(server.requests.count == 1)
        }
    }

    @Test(
        arguments: TestedClient.allCases,
        ["ftp://127.0.0.1/", "file:///etc/hosts", "http:///x", "data:,x", "x", "http://127.0.0.1:99999/"]
    )
    func addressesOtherThanHTTPAreRejected(client: TestedClient, address: String) async throws {
        let url = try #require(URL(string: address))
        #expect(await client.makeFetcher().failure(DataRequest(url: url))?.reason == .invalidRequest)
    }

    @Test(
        arguments: TestedClient.allCases,
        ["Content-Length", "transfer-encoding", "Connection", "TE", "Upgrade", "Keep-Alive", "Trailer"]
    )
    func headerFieldsForFramingAreRejected(client: TestedClient, name: String) async throws {
        try await LoopbackServer.serving({ _ in .whole() }) { server in
            let field = HeaderField(try #require(HeaderField.Name(name)), "1")
            let request = DataRequest(method: .post, url: server.url(), headerFields: [field], body: Data("{}".utf8))
            let error = await client.makeFetcher().failure(request)
            #expect(error?.reason == .invalidRequest)
            #expect(error?.explanation.contains(name) == true)
            #expect(server.requests.isEmpty)
        }
    }

    @Test(arguments: TestedClient.allCases)
    func getWithABodyIsRejected(client: TestedClient) async throws {
        try await LoopbackServer.serving({ _ in .whole() }) { server in
            let request = DataRequest(url: server.url(), body: Data("x".utf8))
            #expect(await client.makeFetcher().failure(request)?.reason == .invalidRequest)
            #expect(server.requests.isEmpty)
        }
    }
}
