#if AsyncHTTPClient
import Foundation
import InfrastructureAsyncHTTPClient
import InterfaceAdapters
import InwardTesting
import LoopbackServer
import Testing

@Suite(.timeLimit(.minutes(1)))
struct AsyncHTTPClientDataFetcherTests {
    private func failure(
        of fetcher: AsyncHTTPClientDataFetcher = AsyncHTTPClientDataFetcher(),
        _ request: DataRequest
    ) async -> FetchError? {
        await #expect(throws: FetchError.self) { try await fetcher.fetch(request) }
    }

    @Test func itConforms() async throws {
        let large = (0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        try await LoopbackServer.serving({ request in
            switch request.target {
            case "/small": .whole(headerLines: ["X-Kind: small"], body: Array("small".utf8))
            case "/empty": .whole()
            case "/large": .whole(body: large)
            case "/echo": .whole(body: Array(request.values(of: "x-asked").joined(separator: "|").utf8))
            case "/broken": .whole(status: 500, headerLines: ["Retry-After: 3"], body: Array("broken".utf8))
            case "/silence": .never
            default: .whole(status: 404)
            }
        }) { server in
            let kind = try #require(HeaderField.Name("X-Kind"))
            let asked = HeaderField(try #require(HeaderField.Name("X-Asked")), "this")
            let conformance = DataFetcherConformance(
                exchanges: [
                    DataFetcherExchange(
                        DataRequest(url: server.url("small")),
                        DataResponse(headerFields: [HeaderField(kind, "small")], body: Data("small".utf8))
                    ),
                    DataFetcherExchange(DataRequest(url: server.url("empty")), DataResponse()),
                    DataFetcherExchange(DataRequest(url: server.url("large")), DataResponse(body: Data(large))),
                    DataFetcherExchange(
                        DataRequest(url: server.url("echo"), headerFields: [asked]),
                        DataResponse(body: Data("this".utf8))
                    ),
                    DataFetcherExchange(
                        DataRequest(url: server.url("broken")),
                        DataResponse(
                            status: 500,
                            headerFields: [HeaderField(.retryAfter, "3")],
                            body: Data("broken".utf8)
                        )
                    ),
                    DataFetcherExchange(DataRequest(url: server.url("missing")), DataResponse(status: .notFound)),
                ],
                unanswered: DataRequest(url: server.url("silence")),
                impossible: DataRequest(url: URL(filePath: "/etc/hosts"))
            )
            try await conformance.check(AsyncHTTPClientDataFetcher())
        }
    }

    @Test(arguments: [
        DataRequest.Method.get, .head, .post, .put, .patch, .delete, .options, DataRequest.Method("REPORT"),
    ])
    func everyMethodReachesTheServer(method: DataRequest.Method?) async throws {
        let method = try #require(method)
        let body = [.post, .put, .patch].contains(method) ? Data("{\"a\": \"ä\"}".utf8) : nil
        try await LoopbackServer.serving({ _ in .whole(status: 202, body: Array("done".utf8)) }) { server in
            let request = DataRequest(method: method, url: server.url("x"), body: body)
            let response = try await AsyncHTTPClientDataFetcher().fetch(request)
            #expect(response.status == 202)
            #expect(response.body == (method == .head ? Data() : Data("done".utf8)))
            #expect(server.requests.map(\.method) == [method.rawValue])
            #expect(server.requests.first?.body == body.map(Array.init) ?? [])
        }
    }

    @Test func theAddressIsAskedForAsItIsWritten() async throws {
        try await LoopbackServer.serving({ _ in .whole() }) { server in
            let url = try #require(URL(string: "a%20b/%C3%A4?q=1%2B1&r=%C3%A4#part", relativeTo: server.url()))
            _ = try await AsyncHTTPClientDataFetcher().fetch(DataRequest(url: url))
            #expect(server.requests.map(\.target) == ["/a%20b/%C3%A4?q=1%2B1&r=%C3%A4"])
            #expect(server.requests.first?.values(of: "host") == ["127.0.0.1:\(server.port)"])
        }
    }

    @Test func headerFieldsThatRepeatStayApart() async throws {
        let name = try #require(HeaderField.Name("X-Repeat"))
        let lines = ["X-Repeat: c", "Set-Cookie: a=1", "X-Repeat: d", "Set-Cookie: b=2", "Empty:"]
        try await LoopbackServer.serving({ _ in .whole(headerLines: lines) }) { server in
            let fields: HeaderFields = [
                HeaderField(name, "a"), HeaderField(.authorization, "Bearer t"), HeaderField(name, "b"),
            ]
            let request = DataRequest(url: server.url(), headerFields: fields)
            let response = try await AsyncHTTPClientDataFetcher().fetch(request)
            #expect(response.headerFields.prefix(4).map(\.value) == ["c", "a=1", "d", "b=2"])
            #expect(response.headerFields.map(\.name.rawValue).contains("Empty"))
            #expect(server.requests.first?.values(of: "x-repeat") == ["a", "b"])
            #expect(server.requests.first?.values(of: "authorization") == ["Bearer t"])
        }
    }

    @Test func cookiesAreOneField() async throws {
        try await LoopbackServer.serving({ _ in .whole() }) { server in
            let fields: HeaderFields = [HeaderField(.cookie, "a=1"), HeaderField(.cookie, "b=2")]
            _ = try await AsyncHTTPClientDataFetcher().fetch(DataRequest(url: server.url(), headerFields: fields))
            #expect(server.requests.first?.values(of: "cookie") == ["a=1; b=2"])
        }
    }

    @Test func aUserNameInTheAddressIsACredential() async throws {
        try await LoopbackServer.serving({ _ in .whole() }) { server in
            let fetcher = AsyncHTTPClientDataFetcher()
            let url = try #require(URL(string: "http://a%40da:s%20t@127.0.0.1:\(server.port)/"))
            _ = try await fetcher.fetch(DataRequest(url: url))
            let fields: HeaderFields = [HeaderField(.authorization, "Bearer t")]
            _ = try await fetcher.fetch(DataRequest(url: url, headerFields: fields))
            _ = try await fetcher.fetch(DataRequest(url: server.url()))
            let basic = "Basic " + Data("a@da:s t".utf8).base64EncodedString()
            #expect(server.requests.map { $0.values(of: "authorization") } == [[basic], ["Bearer t"], []])
        }
    }

    @Test func nothingIsKeptBetweenRequests() async throws {
        let lines = ["Set-Cookie: a=1", "Cache-Control: max-age=600", "ETag: \"1\""]
        try await LoopbackServer.serving({ _ in .whole(headerLines: lines, body: Array("x".utf8)) }) { server in
            let fetcher = AsyncHTTPClientDataFetcher()
            for _ in 0..<2 { _ = try await fetcher.fetch(DataRequest(url: server.url())) }
            #expect(server.requests.count == 2)
            #expect(server.requests.allSatisfy { $0.values(of: "cookie").isEmpty })
            #expect(server.requests.allSatisfy { $0.values(of: "if-none-match").isEmpty })
        }
    }

    @Test(arguments: ["Basic realm=\"x\"", "Digest realm=\"x\", nonce=\"y\"", "Bearer", "Negotiate", ""])
    func anAnswerThatAsksForCredentialsIsAnAnswer(challenge: String) async throws {
        try await LoopbackServer.serving({ _ in
            .whole(status: 401, headerLines: ["WWW-Authenticate: \(challenge)"], body: Array("who?".utf8))
        }) { server in
            let response = try await AsyncHTTPClientDataFetcher().fetch(DataRequest(url: server.url()))
            #expect(response.status == 401)
            #expect(response.body == Data("who?".utf8))
            #expect(server.requests.count == 1)
        }
    }

    @Test(arguments: [
        "ftp://127.0.0.1/", "file:///etc/hosts", "http:///x", "data:,x", "x", "http://127.0.0.1:99999/",
        "unix:///run/x", "http+unix://%2Frun%2Fx/",
    ])
    func whatIsNoWebAddressIsRefused(address: String) async throws {
        let url = try #require(URL(string: address))
        #expect(await failure(DataRequest(url: url))?.reason == .invalidRequest)
    }

    @Test func whatAClientMustNotSendIsRefused() async throws {
        try await LoopbackServer.serving({ _ in .whole() }) { server in
            let length = HeaderField(.contentLength, "1")
            let framed = DataRequest(method: .post, url: server.url(), headerFields: [length], body: Data("{}".utf8))
            #expect(await failure(framed)?.reason == .invalidRequest)
            #expect(await failure(DataRequest(url: server.url(), body: Data("x".utf8)))?.reason == .invalidRequest)
            let control = HeaderField(.accept, "text\u{1}s3cret")
            let error = await failure(DataRequest(url: server.url(), headerFields: [control]))
            #expect(error?.reason == .invalidRequest)
            #expect(error?.explanation.contains("s3cret") == false)
            #expect(server.requests.isEmpty)
        }
    }

    @Test func redirectsAreFollowedAndTheAnswerSaysSo() async throws {
        try await LoopbackServer.serving({ request in
            request.target == "/a" ? .whole(status: 302, headerLines: ["Location: /b"]) : .whole(body: Array("b".utf8))
        }) { server in
            let response = try await AsyncHTTPClientDataFetcher().fetch(DataRequest(url: server.url("a")))
            #expect(response.body == Data("b".utf8))
            #expect(response.url == server.url("b"))
            let fetcher = AsyncHTTPClientDataFetcher(redirects: .returned)
            let returned = try await fetcher.fetch(DataRequest(url: server.url("a")))
            #expect(returned.status == 302)
            #expect(returned.headerFields[.location] == "/b")
        }
    }

    @Test func credentialsAreNotSentToAnotherOrigin() async throws {
        try await LoopbackServer.serving({ _ in .whole() }) { other in
            let elsewhere = other.url("b").absoluteString
            try await LoopbackServer.serving({ _ in .whole(status: 307, headerLines: ["Location: \(elsewhere)"]) }) {
                server in
                let token = try #require(HeaderField.Name("X-Token"))
                let fields: HeaderFields = [
                    HeaderField(token, "t", isSensitive: true), HeaderField(.accept, "text/plain"),
                ]
                let request = DataRequest(url: server.url("a"), headerFields: fields)
                _ = try await AsyncHTTPClientDataFetcher().fetch(request)
                #expect(server.requests.first?.values(of: "x-token") == ["t"])
                #expect(other.requests.map { $0.values(of: "x-token") } == [[]])
                #expect(other.requests.map { $0.values(of: "accept") } == [["text/plain"]])
            }
        }
    }

    @Test func aRedirectThatNeverEndsIsAnError() async throws {
        try await LoopbackServer.serving({ _ in .whole(status: 302, headerLines: ["Location: /"]) }) { server in
            let fetcher = AsyncHTTPClientDataFetcher(redirects: .followed(upTo: 3))
            #expect(await failure(of: fetcher, DataRequest(url: server.url()))?.reason == .tooManyRedirects)
            #expect(server.requests.count == 4)
        }
    }
}
#endif
