#if AsyncHTTPClient
import Foundation
import InfrastructureAsyncHTTPClient
import InterfaceAdapters
import LoopbackServer
import Testing

/// What a fetcher makes of sources that misbehave.
@Suite(.timeLimit(.minutes(1)))
struct AsyncHTTPClientFaultTests {
    private func failure(
        of fetcher: AsyncHTTPClientDataFetcher = AsyncHTTPClientDataFetcher(),
        _ request: DataRequest
    ) async -> FetchError? {
        await #expect(throws: FetchError.self) { try await fetcher.fetch(request) }
    }

    @Test func aBodyMayBeAsLargeAsTheLimitAndNoLarger() async throws {
        try await LoopbackServer.serving({ request in
            .whole(body: [UInt8](repeating: 0x78, count: request.target == "/a" ? 1_000 : 1_001))
        }) { server in
            let fetcher = AsyncHTTPClientDataFetcher(bodyLimit: 1_000)
            #expect(try await fetcher.fetch(DataRequest(url: server.url("a"))).body.count == 1_000)
            #expect(await failure(of: fetcher, DataRequest(url: server.url("b")))?.reason == .tooLarge)
            let head = try await fetcher.fetch(DataRequest(method: .head, url: server.url("b")))
            #expect(head.headerFields[.contentLength] == "1001")
        }
    }

    @Test func aBodyThatIsAnnouncedTooLargeIsNotWaitedFor() async throws {
        let head = Array("HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n".utf8)
        try await LoopbackServer.serving({ _ in .begun(head) }) { server in
            var events = server.events.makeAsyncIterator()
            // Patient beyond the time limit of this test, so that nothing but the announcement ends the transfer.
            let fetcher = AsyncHTTPClientDataFetcher(idleTimeout: .seconds(600))
            #expect(await failure(of: fetcher, DataRequest(url: server.url("x")))?.reason == .tooLarge)
            #expect(await events.next() == .waiting("/x"))
            #expect(await events.next() == .abandoned("/x"))
        }
    }

    @Test func aBodyWithoutAnEndFailsAtTheLimitAndTheTransferEnds() async throws {
        try await LoopbackServer.serving({ _ in .endless }) { server in
            let fetcher = AsyncHTTPClientDataFetcher(bodyLimit: 1_000_000)
            let error = await failure(of: fetcher, DataRequest(url: server.url("x")))
            #expect(error?.reason == .tooLarge)
            #expect(error?.explanation.contains("1000000 bytes") == true)
            var events = server.events.makeAsyncIterator()
            #expect(await events.next() == .waiting("/x"))
            #expect(await events.next() == .abandoned("/x"))
        }
    }

    @Test func aBodyThatIsCutOffIsAnError() async throws {
        try await LoopbackServer.serving({ _ in .cutOff(promised: 1_000, sent: 100) }) { server in
            #expect(await failure(DataRequest(url: server.url()))?.reason == .interrupted)
        }
    }

    @Test(arguments: [
        "", "not HTTP at all\r\n\r\n", "HTTP/1.1 200 OK", "HTTP/1.1 200 OK\r\nContent-Le", "HTTP/1.1 200 OK\r\n",
        "HTTP/1.1 abc\r\n\r\n", "HTTP/1.1 200 OK\r\nno colon\r\n\r\nx",
        "HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nx",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
    ])
    func whatIsNoWholeAnswerIsAnError(text: String) async throws {
        try await LoopbackServer.serving({ _ in .raw(Array(text.utf8)) }) { server in
            #expect(await failure(DataRequest(url: server.url()))?.reason == .interrupted)
        }
    }

    @Test func anAnswerThatEndsWithItsConnectionIsWhole() async throws {
        try await LoopbackServer.serving({ _ in .raw(Array("HTTP/1.1 200 OK\r\n\r\nhello".utf8)) }) { server in
            let response = try await AsyncHTTPClientDataFetcher().fetch(DataRequest(url: server.url()))
            #expect(response.body == Data("hello".utf8))
        }
    }

    @Test func silenceIsATimeout() async throws {
        try await LoopbackServer.serving({ _ in .never }) { server in
            let fetcher = AsyncHTTPClientDataFetcher(idleTimeout: .seconds(1))
            #expect(await failure(of: fetcher, DataRequest(url: server.url()))?.reason == .timedOut)
        }
    }

    @Test func silenceBetweenPartsOfABodyIsATimeoutAndTheTransferEnds() async throws {
        let beginning = Array("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello".utf8)
        try await LoopbackServer.serving({ _ in .begun(beginning) }) { server in
            var events = server.events.makeAsyncIterator()
            let fetcher = AsyncHTTPClientDataFetcher(idleTimeout: .seconds(1))
            #expect(await failure(of: fetcher, DataRequest(url: server.url("x")))?.reason == .timedOut)
            #expect(await events.next() == .waiting("/x"))
            #expect(await events.next() == .abandoned("/x"))
        }
    }

    @Test func aTimeoutWithoutAnEndIsPossible() async throws {
        try await LoopbackServer.serving({ _ in .whole() }) { server in
            let fetcher = AsyncHTTPClientDataFetcher(idleTimeout: .seconds(Int64.max))
            let response = try await fetcher.fetch(DataRequest(url: server.url()))
            #expect(response.status == .ok)
        }
    }

    @Test func aClosedPortAndAnUnknownHostAreUnreachable() async throws {
        let server = try LoopbackServer { _ in .never }
        let port = server.port
        server.stop()
        for address in ["http://127.0.0.1:\(port)/", "http://localhost:\(port)/", "http://nohost.invalid/"] {
            let url = try #require(URL(string: address))
            let error = await failure(DataRequest(url: url))
            #expect(error?.reason == .unreachable)
            #expect(error?.canRetry == true)
        }
    }

    @Test func cancellationEndsTheTransfer() async throws {
        try await LoopbackServer.serving({ request in
            request.target == "/a" ? .never : .begun(Array("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello".utf8))
        }) { server in
            var events = server.events.makeAsyncIterator()
            let fetcher = AsyncHTTPClientDataFetcher(idleTimeout: .seconds(600))
            for path in ["a", "b"] {
                await withTaskGroup { group in
                    group.addTask { await failure(of: fetcher, DataRequest(url: server.url(path)))?.reason }
                    #expect(await events.next() == .waiting("/\(path)"))
                    group.cancelAll()
                    #expect(await group.next() == .cancelled)
                    #expect(await events.next() == .abandoned("/\(path)"))
                }
            }
        }
    }

    @Test func cancellationAtAnyMomentEndsEveryFetch() async throws {
        try await LoopbackServer.serving({ request in
            request.target == "/a" ? .whole(body: Array("x".utf8)) : .never
        }) { server in
            let fetcher = AsyncHTTPClientDataFetcher()
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
            let response = try await fetcher.fetch(DataRequest(url: server.url("a")))
            #expect(response.body == Data("x".utf8))
        }
    }
}
#endif
