import Foundation
import InwardCore
import InwardFetching
import InwardTesting
import LoopbackServer
import Testing

/// How often a fresh response is requested.
@Suite(.timeLimit(.minutes(5)))
struct ClientCachingTests {
    private let clock = ManualClock()
    private let fresh = LoopbackAnswer.whole(headerLines: ["Cache-Control: max-age=60"], body: Array("x".utf8))

    private func caching(_ client: TestedClient) -> any DataFetcher {
        let cache = ResponseCache(byteLimit: 1_000_000, clock: clock)
        return client.makeFetcher().caching(in: cache.makePartition())
    }

    @Test(arguments: TestedClient.allCases)
    func freshResponseIsRequestedOnce(client: TestedClient) async throws {
        try await LoopbackServer.serving({ _ in fresh }) { server in
            let fetcher = caching(client)
            let request = DataRequest(url: server.url())
            #expect(try await fetcher.fetch(request).origin == .upstream)
            clock.advance(by: .seconds(59))
            let response = try await fetcher.fetch(request)
            #expect(response.origin == .memory)
            #expect(response.body == Data("x".utf8))
            #expect(server.requests.count == 1)
            clock.advance(by: .seconds(1))
            #expect(try await fetcher.fetch(request).origin == .upstream)
            #expect(server.requests.count == 2)
        }
    }

    @Test(arguments: TestedClient.allCases)
    func truncatedResponseIsNotCached(client: TestedClient) async throws {
        let head = "HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Length: 10\r\n\r\n"
        try await LoopbackServer.serving(inTurn: [.raw(Array("\(head)hello".utf8)), fresh]) { server in
            let fetcher = caching(client)
            let request = DataRequest(url: server.url())
            #expect(await fetcher.failure(request)?.reason == .interrupted)
            let response = try await fetcher.fetch(request)
            #expect(response.body == Data("x".utf8))
            #expect(server.requests.count == 2)
        }
    }

    @Test(arguments: TestedClient.allCases)
    func failedWriteInvalidatesTheCache(client: TestedClient) async throws {
        try await LoopbackServer.serving({ request in request.method == "POST" ? .raw([]) : fresh }) { server in
            let fetcher = caching(client)
            let request = DataRequest(url: server.url())
            _ = try await fetcher.fetch(request)
            _ = try? await fetcher.fetch(DataRequest(method: .post, url: server.url(), body: Data("{}".utf8)))
            #expect(try await fetcher.fetch(request).origin == .upstream)
        }
    }
}
