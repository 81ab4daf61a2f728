import Foundation
import Infrastructure
import InterfaceAdapters
import InwardTesting
import LoopbackServer
import Testing
import UseCases

@Suite(.timeLimit(.minutes(1)))
struct URLSessionDataFetcherTests {
    private func failure(
        of fetcher: URLSessionDataFetcher = URLSessionDataFetcher(),
        _ request: DataRequest
    ) async -> FetchError? {
        await #expect(throws: FetchError.self) { try await fetcher.fetch(request) }
    }

    @Test func itConforms() async throws {
        let large = (0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let server = try LoopbackServer { request in
            switch request.target {
            case "/small":
                .whole(headerLines: ["X-Kind: small", "Content-Type: text/plain"], body: Array("small".utf8))
            case "/empty": .whole()
            case "/large": .whole(body: large)
            case "/echo": .whole(body: Array(request.values(of: "x-asked").joined(separator: "|").utf8))
            case "/broken": .whole(status: 500, headerLines: ["Retry-After: 3"], body: Array("broken".utf8))
            case "/silence": .never
            default: .whole(status: 404)
            }
        }
        defer { server.stop() }
        let kind = try #require(HeaderField.Name("X-Kind"))
        let asked = HeaderField(try #require(HeaderField.Name("X-Asked")), "this")
        let conformance = DataFetcherConformance(
            exchanges: [
                DataFetcherExchange(
                    DataRequest(url: server.url("small")),
                    DataResponse(
                        headerFields: [HeaderField(kind, "small"), HeaderField(.contentType, "text/plain")],
                        body: Data("small".utf8)
                    )
                ),
                DataFetcherExchange(DataRequest(url: server.url("empty")), DataResponse()),
                DataFetcherExchange(DataRequest(url: server.url("large")), DataResponse(body: Data(large))),
                DataFetcherExchange(
                    DataRequest(url: server.url("echo"), headerFields: [asked]),
                    DataResponse(body: Data("this".utf8))
                ),
                DataFetcherExchange(
                    DataRequest(url: server.url("broken")),
                    DataResponse(status: 500, headerFields: [HeaderField(.retryAfter, "3")], body: Data("broken".utf8))
                ),
                DataFetcherExchange(DataRequest(url: server.url("missing")), DataResponse(status: .notFound)),
            ],
            unanswered: DataRequest(url: server.url("silence")),
            impossible: DataRequest(url: URL(filePath: "/etc/hosts"))
        )
        try await conformance.check(URLSessionDataFetcher())
    }

    @Test(arguments: [
        DataRequest.Method.get, .head, .post, .put, .patch, .delete, .options, DataRequest.Method("REPORT"),
    ])
    func everyMethodReachesTheServer(method: DataRequest.Method?) async throws {
        let method = try #require(method)
        let hasBody = [.post, .put, .patch].contains(method)
        try await LoopbackServer.serving({ _ in .whole(status: 202, body: Array("done".utf8)) }) { server in
            let body = hasBody ? Data("{\"a\": \"ä\"}".utf8) : nil
            let response = try await URLSessionDataFetcher().fetch(
                DataRequest(method: method, url: server.url("x"), body: body)
            )
            #expect(response.status == 202)
            #expect(response.body == (method == .head ? Data() : Data("done".utf8)))
            #expect(server.requests.map(\.method) == [method.rawValue])
            #expect(server.requests.first?.body == body.map(Array.init) ?? [])
        }
    }

    @Test func headerFieldsTravelBothWays() async throws {
        let name = try #require(HeaderField.Name("X-Repeat"))
        try await LoopbackServer.serving({ _ in .whole(headerLines: ["X-Repeat: c", "X-Repeat: d", "Empty:"]) }) {
            server in
            let fields: HeaderFields = [
                HeaderField(name, "a"), HeaderField(.authorization, "Bearer t"), HeaderField(name, "b"),
            ]
            let response = try await URLSessionDataFetcher().fetch(DataRequest(url: server.url(), headerFields: fields))
            // The platform joins what repeats, which HTTP holds for the same.
            #expect(response.headerFields[name] == "c, d")
            #expect(server.requests.first?.values(of: "x-repeat") == ["a, b"])
            #expect(server.requests.first?.values(of: "authorization") == ["Bearer t"])
        }
    }

    @Test func nothingIsKeptBetweenRequests() async throws {
        try await LoopbackServer.serving({ _ in
            .whole(
                headerLines: ["Set-Cookie: a=1", "Cache-Control: max-age=600", "ETag: \"1\""],
                body: Array("x".utf8)
            )
        }) { server in
            let fetcher = URLSessionDataFetcher()
            for _ in 0..<2 { _ = try await fetcher.fetch(DataRequest(url: server.url())) }
            #expect(server.requests.count == 2)
            #expect(server.requests.allSatisfy { $0.values(of: "cookie").isEmpty })
            #expect(server.requests.allSatisfy { $0.values(of: "if-none-match").isEmpty })
        }
    }

    @Test func aBodyMayBeAsLargeAsTheLimitAndNoLarger() async throws {
        try await LoopbackServer.serving({ request in
            .whole(body: [UInt8](repeating: 0x78, count: request.target == "/a" ? 1_000 : 1_001))
        }) {
            server in
            let fetcher = URLSessionDataFetcher(bodyLimit: 1_000)
            #expect(try await fetcher.fetch(DataRequest(url: server.url("a"))).body.count == 1_000)
            #expect(await failure(of: fetcher, DataRequest(url: server.url("b")))?.reason == .tooLarge)
            let head = try await fetcher.fetch(DataRequest(method: .head, url: server.url("b")))
            #expect(head.headerFields[.contentLength] == "1001")
        }
    }

    @Test func aBodyWithoutAnEndFailsAtTheLimitAndTheTransferEnds() async throws {
        try await LoopbackServer.serving({ _ in .endless }) { server in
            let fetcher = URLSessionDataFetcher(bodyLimit: 1_000_000)
            let error = await failure(of: fetcher, DataRequest(url: server.url("x")))
            #expect(error?.reason == .tooLarge)
            #expect(error?.explanation.contains("1000000 bytes") == true)
            var events = server.events.makeAsyncIterator()
            #expect(await events.next() == .waiting("/x"))
            #expect(await events.next() == .abandoned("/x"))
        }
    }

    @Test func cancellationEndsTheTransfer() async throws {
        try await LoopbackServer.serving({ _ in .never }) { server in
            var events = server.events.makeAsyncIterator()
            let task = Task { await failure(DataRequest(url: server.url("x"))) }
            #expect(await events.next() == .waiting("/x"))
            task.cancel()
            #expect(await task.value?.reason == .cancelled)
            #expect(await events.next() == .abandoned("/x"))
        }
    }

    @Test func cancellationAtAnyMomentEndsEveryFetch() async throws {
        try await LoopbackServer.serving({ request in request.target == "/a" ? .whole(body: Array("x".utf8)) : .never })
        { server in
            let fetcher = URLSessionDataFetcher()
            await withTaskGroup { group in
                for index in 0..<200 {
                    group.addTask {
                        await withTaskGroup { inner in
                            inner.addTask {
                                let path = index.isMultiple(of: 2) ? "a" : "b"
                                return (try? await fetcher.fetch(DataRequest(url: server.url(path))))?.body.count
                            }
                            for _ in 0..<index { await Task.yield() }
                            inner.cancelAll()
                            return await inner.next() ?? nil
                        }
                    }
                }
                for await count in group { #expect(count == nil || count == 1) }
            }
        }
    }

    @Test func aBodyThatIsCutOffIsAnError() async throws {
        try await LoopbackServer.serving({ _ in .cutOff(promised: 1_000, sent: 100) }) { server in
            #expect(await failure(DataRequest(url: server.url()))?.reason == .interrupted)
        }
    }

    @Test func aChunkedBodyThatIsCutOffIsAnError() async throws {
        let raw = Array("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n".utf8)
        try await LoopbackServer.serving({ _ in .raw(raw) }) { server in
            #expect(await failure(DataRequest(url: server.url()))?.reason == .interrupted)
        }
    }

    // A head that ends with one of its lines belongs here too, and cannot be: before the fix of swift-corelibs-foundation
    // #5286 the platform's client traps on it.
    @Test(arguments: [
        "", "not HTTP at all\r\n\r\n", "HTTP/1.1 200 OK", "HTTP/1.1 abc\r\n\r\n",
        "HTTP/1.1 200 OK\r\nno colon\r\n\r\nx",
        "HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nx", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n",
    ])
    func whatIsNoAnswerIsAnError(text: String) async throws {
        try await LoopbackServer.serving({ _ in .raw(Array(text.utf8)) }) { server in
            let error = await failure(DataRequest(url: server.url()))
            #expect(error?.reason == .interrupted)
        }
    }

    @Test(arguments: ["Basic realm=\"x\"", "Digest realm=\"x\", nonce=\"y\"", "Bearer", "Negotiate", ""])
    func anAnswerThatAsksForCredentialsIsAnAnswer(challenge: String) async throws {
        try await LoopbackServer.serving({ _ in
            .whole(status: 401, headerLines: ["WWW-Authenticate: \(challenge)"], body: Array("who?".utf8))
        }) { server in
            let response = try await URLSessionDataFetcher().fetch(DataRequest(url: server.url()))
            #expect(response.status == 401)
            #expect(response.body == Data("who?".utf8))
            #expect(server.requests.count == 1)
        }
    }

    @Test func silenceIsATimeout() async throws {
        try await LoopbackServer.serving({ _ in .never }) { server in
            let fetcher = URLSessionDataFetcher(idleTimeout: .seconds(1))
            #expect(await failure(of: fetcher, DataRequest(url: server.url()))?.reason == .timedOut)
        }
    }

    @Test func aClosedPortAndAnUnknownHostAreUnreachable() async throws {
        let server = try LoopbackServer { _ in .never }
        let closed = server.url("x")
        server.stop()
        let error = await failure(DataRequest(url: closed))
        #expect(error?.reason == .unreachable)
        #expect(error?.canRetry == true)
        let unknown = try #require(URL(string: "http://nohost.invalid/"))
        #expect(await failure(DataRequest(url: unknown))?.reason == .unreachable)
    }

    @Test(arguments: [
        "ftp://127.0.0.1/", "file:///etc/hosts", "http:///x", "data:,x", "x", "http://127.0.0.1:99999/",
        "http://127.0.0.1:0/",
    ])
    func whatIsNoWebAddressIsRefused(address: String) async throws {
        let url = try #require(URL(string: address))
        #expect(await failure(DataRequest(url: url))?.reason == .invalidRequest)
    }

    @Test func redirectsAreFollowedAndTheAnswerSaysSo() async throws {
        try await LoopbackServer.serving({ request in
            request.target == "/a" ? .whole(status: 302, headerLines: ["Location: /b"]) : .whole(body: Array("b".utf8))
        }) { server in
            let response = try await URLSessionDataFetcher().fetch(DataRequest(url: server.url("a")))
            #expect(response.body == Data("b".utf8))
            #expect(response.url == server.url("b"))
            let returned = try await URLSessionDataFetcher(redirects: .returned).fetch(
                DataRequest(url: server.url("a"))
            )
            #expect(returned.status == 302)
            #expect(returned.headerFields[.location] == "/b")
        }
    }

    @Test func credentialsAreNotSentToAnotherOrigin() async throws {
        try await LoopbackServer.serving({ _ in .whole() }) { other in
            let elsewhere = other.url("b").absoluteString
            try await LoopbackServer.serving({ _ in .whole(status: 307, headerLines: ["Location: \(elsewhere)"]) }) {
                server in
                let fields: HeaderFields = [
                    HeaderField(.authorization, "Bearer t"), HeaderField(.accept, "text/plain"),
                ]
                _ = try await URLSessionDataFetcher().fetch(DataRequest(url: server.url("a"), headerFields: fields))
                #expect(server.requests.first?.values(of: "authorization") == ["Bearer t"])
                #expect(other.requests.count == 1)
                #expect(other.requests.first?.values(of: "authorization").isEmpty == true)
                #expect(other.requests.first?.values(of: "accept") == ["text/plain"])
            }
        }
    }

    @Test func aRedirectThatNeverEndsIsAnError() async throws {
        try await LoopbackServer.serving({ _ in .whole(status: 302, headerLines: ["Location: /"]) }) { server in
            let fetcher = URLSessionDataFetcher(redirects: .followed(upTo: 3))
            #expect(await failure(of: fetcher, DataRequest(url: server.url()))?.reason == .tooManyRedirects)
            #expect(server.requests.count == 4)
        }
    }

    @Test func connectionsCloseWithTheLastReference() async throws {
        try await LoopbackServer.serving({ _ in .whole() }) { server in
            var fetcher: URLSessionDataFetcher? = URLSessionDataFetcher()
            _ = try await fetcher?.fetch(DataRequest(url: server.url("a")))
            fetcher = nil
            var events = server.events.makeAsyncIterator()
            #expect(await events.next() == .disconnected)
        }
    }

    @Test func aBodyThatIsAnnouncedTooLargeIsNotWaitedFor() async throws {
        let head = Array("HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n".utf8)
        try await LoopbackServer.serving({ _ in .begun(head) }) { server in
            var events = server.events.makeAsyncIterator()
            // Patient beyond the time limit of this test, so that nothing but the announcement ends the transfer.
            let fetcher = URLSessionDataFetcher(idleTimeout: .seconds(600))
            #expect(await failure(of: fetcher, DataRequest(url: server.url("x")))?.reason == .tooLarge)
            #expect(await events.next() == .waiting("/x"))
            #expect(await events.next() == .abandoned("/x"))
        }
    }

    @Test func aCompressedBodyArrivesDecodedAndIsDescribedSo() async throws {
        let compressed: [UInt8] = [
            31, 139, 8, 0, 0, 0, 0, 0, 2, 3, 203, 72, 205, 201, 201, 7, 0, 134, 166, 16, 54, 5, 0, 0, 0,
        ]
        try await LoopbackServer.serving({ _ in .whole(headerLines: ["Content-Encoding: gzip"], body: compressed) }) {
            server in
            let response = try await URLSessionDataFetcher().fetch(DataRequest(url: server.url()))
            #expect(response.body == Data("hello".utf8))
            #expect(response.headerFields[.contentEncoding] == nil)
            #expect(response.headerFields[.contentLength] == nil)
        }
    }

    @Test(arguments: ["Content-Length", "transfer-encoding", "Connection", "TE", "Upgrade", "Keep-Alive", "Trailer"])
    func nobodyElseSaysWhereARequestEnds(name: String) async throws {
        try await LoopbackServer.serving({ _ in .whole() }) { server in
            let field = HeaderField(try #require(HeaderField.Name(name)), "1")
            let request = DataRequest(method: .post, url: server.url(), headerFields: [field], body: Data("{}".utf8))
            let error = await failure(request)
            #expect(error?.reason == .invalidRequest)
            #expect(error?.explanation.contains(name) == true)
            #expect(server.requests.isEmpty)
        }
    }

    @Test func aBodyIsNoFormUnlessItSaysSo() async throws {
        try await LoopbackServer.serving({ _ in .whole() }) { server in
            let fetcher = URLSessionDataFetcher()
            let body = Data("x".utf8)
            _ = try await fetcher.fetch(DataRequest(method: .post, url: server.url(), body: body))
            let fields: HeaderFields = [
                HeaderField(.contentType, "text/plain"), HeaderField(.cookie, "a=1"), HeaderField(.cookie, "b=2"),
            ]
            _ = try await fetcher.fetch(DataRequest(method: .post, url: server.url(), headerFields: fields, body: body))
            #expect(
                server.requests.map { $0.values(of: "content-type") } == [["application/octet-stream"], ["text/plain"]]
            )
            #expect(server.requests.last?.values(of: "cookie") == ["a=1; b=2"])
        }
    }

    @Test func aReadHasNoBody() async throws {
        let url = try #require(URL(string: "http://127.0.0.1/"))
        #expect(await failure(DataRequest(url: url, body: Data("x".utf8)))?.reason == .invalidRequest)
    }

    @Test func theDeadlineOfTheTaskEndsAFetch() async throws {
        let clock = ManualClock()
        let timer = TimerService(clock)
        try await LoopbackServer.serving({ _ in .never }) { server in
            let request = DataRequest(url: server.url())
            // Nothing cancels it: the fetcher looks at the deadline itself.
            async let outcome = Deadline(in: .seconds(2), on: timer).carried { await failure(request) }
            await timer.timers(1)
            clock.advance(by: .seconds(2))
            let error = await outcome.get()
            #expect(error?.reason == .timedOut)
            #expect(error?.explanation == "was not answered before the deadline")
        }
        #expect(timer.count == 0)
    }

    @Test func nothingIsSentBehindTheDeadline() async throws {
        let clock = ManualClock()
        let deadline = Deadline(in: .seconds(2), on: clock)
        clock.advance(by: .seconds(2))
        try await LoopbackServer.serving({ _ in .whole() }) { server in
            let error = await deadline.carried { await failure(DataRequest(url: server.url())) }.get()
            #expect(error?.reason == .timedOut)
            #expect(server.requests.isEmpty)
        }
    }
}
