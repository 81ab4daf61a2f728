import Foundation
import InwardFetching
import LoopbackServer
import Testing

/// How every client handles servers that misbehave.
@Suite(.timeLimit(.minutes(5)))
struct ClientFaultTests {
    private static let beginning = Array("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello".utf8)

    @Test(arguments: TestedClient.allCases)
    func bodyMayBeAsLargeAsTheLimitButNotLarger(client: TestedClient) async throws {
        try await LoopbackServer.serving({ request in
            .whole(body: [UInt8](repeating: 0x78, count: request.target == "/a" ? 1_000 : 1_001))
        }) { server in
            let fetcher = client.makeFetcher(bodyLimit: 1_000)
            #expect(try await fetcher.fetch(DataRequest(url: server.url("a"))).body.count == 1_000)
            #expect(await fetcher.failure(DataRequest(url: server.url("b")))?.reason == .tooLarge)
            let head = try await fetcher.fetch(DataRequest(method: .head, url: server.url("b")))
            #expect(head.headerFields[.contentLength] == "1001")
        }
    }

    @Test(arguments: TestedClient.allCases)
    func bodyAnnouncedAsTooLargeFailsImmediately(client: TestedClient) async throws {
        let head = Array("HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n".utf8)
        try await LoopbackServer.serving({ _ in .begun(head) }) { server in
            var events = server.events.makeAsyncIterator()
            #expect(await client.makeFetcher().failure(DataRequest(url: server.url("x")))?.reason == .tooLarge)
            #expect(await events.next() == .waiting("/x"))
            #expect(await events.next() == .abandoned("/x"))
        }
    }

    @Test(arguments: TestedClient.allCases)
    func endlessBodyFailsAtTheLimitAndTheTransferEnds(client: TestedClient) async throws {
        try await LoopbackServer.serving({ _ in .endless }) { server in
            let fetcher = client.makeFetcher(bodyLimit: 1_000_000)
            let error = await fetcher.failure(DataRequest(url: server.url("x")))
            #expect(error?.reason == .tooLarge)
            #expect(error?.explanation.contains("1000000 bytes") == true)
            var events = server.events.makeAsyncIterator()
            #expect(await events.next() == .waiting("/x"))
            #expect(await events.next() == .abandoned("/x"))
        }
    }

    @Test(arguments: TestedClient.allCases)
    func truncatedBodyIsAnError(client: TestedClient) async throws {
        try await LoopbackServer.serving({ _ in .cutOff(promised: 1_000, sent: 100) }) { server in
            let error = await client.makeFetcher().failure(DataRequest(url: server.url()))
            #expect(error?.reason == .interrupted)
        }
    }

    // A head that ends after one of its lines belongs here, too. It is missing because URLSession crashes on it before the fix
    // of swift-corelibs-foundation #5286.
    @Test(
        arguments: TestedClient.allCases,
        [
            "", "not HTTP at all\r\n\r\n", "HTTP/1.1 200 OK", "HTTP/1.1 abc\r\n\r\n",
            "HTTP/1.1 200 OK\r\nno colon\r\n\r\nx", "HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nx",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
        ]
    )
    func malformedResponseIsAnError(client: TestedClient, text: String) async throws {
        try await LoopbackServer.serving({ _ in .raw(Array(text.utf8)) }) { server in
            let error = await client.makeFetcher().failure(DataRequest(url: server.url()))
            #expect(error?.reason == .interrupted)
        }
    }

    @Test(arguments: TestedClient.allCases)
    func responseThatEndsWithItsConnectionIsComplete(client: TestedClient) async throws {
        try await LoopbackServer.serving({ _ in .raw(Array("HTTP/1.1 200 OK\r\n\r\nhello".utf8)) }) { server in
            let response = try await client.makeFetcher().fetch(DataRequest(url: server.url()))
            #expect(response.body == Data("hello".utf8))
        }
    }

    @Test(arguments: TestedClient.allCases, [LoopbackAnswer.never, .begun(beginning)])
    func silenceIsATimeoutAndTheTransferEnds(client: TestedClient, silence: LoopbackAnswer) async throws {
        try await LoopbackServer.serving({ _ in silence }) { server in
            var events = server.events.makeAsyncIterator()
            let fetcher = client.makeFetcher(idleTimeout: .seconds(1))
            #expect(await fetcher.failure(DataRequest(url: server.url("x")))?.reason == .timedOut)
            #expect(await events.next() == .waiting("/x"))
            #expect(await events.next() == .abandoned("/x"))
        }
    }

    @Test(arguments: TestedClient.allCases)
    func closedPortAndUnknownHostAreUnreachable(client: TestedClient) async throws {
        try await LoopbackServer.refusing { port in
            for address in ["http://127.0.0.1:\(port)/", "http://localhost:\(port)/", "http://nohost.invalid/"] {
                let url = try #require(URL(string: address))
                let error = await client.makeFetcher().failure(DataRequest(url: url))
                #expect(error?.reason == .unreachable)
                #expect(error?.canRetry == true)
            }
        }
    }

    @Test(arguments: TestedClient.allCases, [LoopbackAnswer.never, .begun(beginning)])
    func cancellationEndsTheTransfer(client: TestedClient, silence: LoopbackAnswer) async throws {
        try await LoopbackServer.serving({ _ in silence }) { server in
            var events = server.events.makeAsyncIterator()
            let fetcher = client.makeFetcher()
            await withTaskGroup { group in
                group.addTask { await fetcher.failure(DataRequest(url: server.url("x")))?.reason }
                #expect(await events.next() == .waiting("/x"))
                group.cancelAll()
                #expect(await group.next() == .cancelled)
                #expect(await events.next() == .abandoned("/x"))
            }
        }
    }

    @Test(arguments: TestedClient.allCases)
    func cancellationAtAnyMomentEndsEveryFetch(client: TestedClient) async throws {
        try await LoopbackServer.serving({ request in
            request.target == "/a" ? .whole(body: Array("x".utf8)) : .never
        }) { server in
            let fetcher = client.makeFetcher()
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

    @Test(arguments: TestedClient.allCases)
    func connectionsCloseWithTheLastReference(client: TestedClient) async throws {
        try await LoopbackServer.serving({ _ in .whole() }) { server in
            var fetcher: (any DataFetcher)? = client.makeFetcher()
            _ = try await fetcher?.fetch(DataRequest(url: server.url("a")))
            fetcher = nil
            var events = server.events.makeAsyncIterator()
            #expect(await events.next() == .disconnected)
        }
    }
}
