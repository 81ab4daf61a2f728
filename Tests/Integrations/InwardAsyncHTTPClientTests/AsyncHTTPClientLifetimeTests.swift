#if AsyncHTTPClient
import AsyncHTTPClient
import Foundation
import InwardAsyncHTTPClient
import InwardFetching
import LoopbackServer
import Synchronization
import Testing

/// The lifetimes of a fetcher, its client and its connections.
@Suite(.timeLimit(.minutes(5)))
struct AsyncHTTPClientLifetimeTests {
    private func failure(of fetcher: AsyncHTTPClientDataFetcher, _ request: DataRequest) async -> FetchError? {
        await #expect(throws: FetchError.self) { try await fetcher.fetch(request) }
    }

    @Test func unusedFetcherIsReleasedSafely() {
        _ = AsyncHTTPClientDataFetcher()
    }

    @Test func closingEndsConnectionsAndFetchesInProgress() async throws {
        try await LoopbackServer.serving({ _ in .never }) { server in
            var events = server.events.makeAsyncIterator()
            let fetcher = AsyncHTTPClientDataFetcher(idleTimeout: .seconds(600))
            async let error = failure(of: fetcher, DataRequest(url: server.url("x")))
            #expect(await events.next() == .waiting("/x"))
            try await fetcher.close()
            let reason = await error?.reason
            #expect(reason == .interrupted)
            #expect(await events.next() == .abandoned("/x"))
        }
    }

    @Test func closedFetcherFails() async throws {
        try await LoopbackServer.serving({ _ in .whole() }) { server in
            let fetcher = AsyncHTTPClientDataFetcher()
            _ = try await fetcher.fetch(DataRequest(url: server.url("x")))
            try await fetcher.close()
            try await fetcher.close()
            let error = await failure(of: fetcher, DataRequest(url: server.url("x")))
            #expect(error?.reason == .closed)
            #expect(error?.explanation == "was not sent, because the client is closed")
            #expect(server.requests.count == 1)
        }
    }

    @Test func concurrentClosesSucceed() async throws {
        let fetcher = AsyncHTTPClientDataFetcher()
        try await withThrowingTaskGroup { group in
            for _ in 0..<20 { group.addTask { try await fetcher.close() } }
            try await group.waitForAll()
        }
    }

    @Test func closingAtAnyMomentEndsAllFetches() async throws {
        try await LoopbackServer.serving({ request in request.target == "/a" ? .whole() : .never }) { server in
            for index in 0..<40 {
                let fetcher = AsyncHTTPClientDataFetcher(idleTimeout: .seconds(600), connectionsPerHost: 2)
                let reasons = await withTaskGroup(of: FetchError.Reason?.self) { group in
                    for number in 0..<10 {
                        group.addTask {
                            let request = DataRequest(url: server.url(number.isMultiple(of: 2) ? "a" : "b"))
                            do throws(FetchError) {
                                _ = try await fetcher.fetch(request)
                                return nil
                            } catch {
                                return error.reason
                            }
                        }
                    }
                    for _ in 0..<index * index { await Task.yield() }
                    try? await fetcher.close()
                    return await group.reduce(into: Set()) { $0.insert($1) }
                }
                #expect(reasons.isSubset(of: [nil, .interrupted, .closed]))
            }
        }
    }

    @Test func closingDoesNotShutDownTheCallersClient() async throws {
        try await LoopbackServer.serving({ _ in .whole(headerLines: ["Content-Encoding: gzip"], body: [1, 2]) }) {
            server in
            let client = HTTPClient(configuration: HTTPClient.Configuration(redirectConfiguration: .disallow))
            var fetcher = AsyncHTTPClientDataFetcher(client: client)
            try await fetcher.close()
            fetcher = AsyncHTTPClientDataFetcher(client: client)
            let response = try await fetcher.fetch(DataRequest(url: server.url()))
            #expect(response.body == Data([1, 2]))
            #expect(response.headerFields[.contentEncoding] == "gzip")
            #expect(response.headerFields[.contentLength] == "2")
            try await client.shutdown()
            #expect(await failure(of: fetcher, DataRequest(url: server.url()))?.reason == .closed)
        }
    }

    @Test func clientThatFollowsRedirectsIsRejected() async throws {
        try await LoopbackServer.serving({ request in
            request.target == "/a" ? .whole(status: 302, headerLines: ["Location: /b"]) : .whole()
        }) { server in
            let client = HTTPClient()
            let error = await failure(of: AsyncHTTPClientDataFetcher(client: client), DataRequest(url: server.url("a")))
            #expect(error?.reason == .invalidRequest)
            #expect(error?.explanation.contains("redirected") == true)
            try await client.shutdown()
        }
    }

    @Test func numberOfConnectionsIsLimited() async throws {
        let isFree = Mutex(false)
        try await LoopbackServer.serving({ request in
            if request.target == "/a" { return .never }
            return .whole(body: Array((isFree.withLock(\.self) ? "free" : "early").utf8))
        }) { server in
            var events = server.events.makeAsyncIterator()
            // The timeout is long, so that the first request does not time out on a busy machine.
            let fetcher = AsyncHTTPClientDataFetcher(idleTimeout: .seconds(3_600), connectionsPerHost: 0)
            let body = try await withThrowingTaskGroup { group in
                group.addTask { _ = try? await fetcher.fetch(DataRequest(url: server.url("a"))) }
                #expect(await events.next() == .waiting("/a"))
                async let second = fetcher.fetch(DataRequest(url: server.url("b")))
                for _ in 0..<2_000 { await Task.yield() }
                isFree.withLock { $0 = true }
                group.cancelAll()
                return try await second.body
            }
            #expect(body == Data("free".utf8))
        }
    }
}
#endif
