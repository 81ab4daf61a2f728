import Foundation
import InwardFetching
import LoopbackServer
import Testing

/// Reuse of connections, and servers that close them.
@Suite(.timeLimit(.minutes(5)))
struct ClientConnectionTests {
    private let whole = LoopbackAnswer.whole(body: Array("whole".utf8))

    private func retrying(_ client: TestedClient) -> any DataFetcher {
        client.makeFetcher().retrying(RetryPolicy(jitter: Jitter { 0 }))
    }

    @Test(arguments: TestedClient.allCases)
    func connectionIsReused(client: TestedClient) async throws {
        try await LoopbackServer.serving({ _ in whole }) { server in
            let fetcher = client.makeFetcher()
            for _ in 0..<3 { _ = try await fetcher.fetch(DataRequest(url: server.url())) }
            #expect(server.connectionCount == 1)
        }
    }

    @Test(arguments: TestedClient.allCases)
    func connectionClosedWhileIdleIsReplaced(client: TestedClient) async throws {
        try await LoopbackServer.serving({ _ in .last(whole) }) { server in
            let fetcher = retrying(client)
            for _ in 0..<20 {
                let response = try await fetcher.fetch(DataRequest(url: server.url()))
                #expect(response.body == Data("whole".utf8))
            }
            #expect(server.requests.count == 20)
        }
    }

    // The client cannot distinguish this from an idle connection: only the server knows whether it read the request.
    @Test(arguments: TestedClient.allCases)
    func readIsRepeatedIfTheServerClosesTheReusedConnection(client: TestedClient) async throws {
        try await LoopbackServer.serving(inTurn: [whole, .raw([]), whole]) { server in
            let fetcher = retrying(client)
            for _ in 0..<2 {
                let response = try await fetcher.fetch(DataRequest(url: server.url()))
                #expect(response.body == Data("whole".utf8))
            }
            #expect(server.requests.count == 3)
            #expect(server.connectionCount == 2)
        }
    }

    @Test(arguments: TestedClient.allCases, [nil, Data("{}".utf8)])
    func writeIsNotRepeatedIfTheServerClosesTheReusedConnection(client: TestedClient, body: Data?) async throws {
        try await LoopbackServer.serving(inTurn: [whole, .raw([]), whole]) { server in
            let fetcher = retrying(client)
            _ = try await fetcher.fetch(DataRequest(url: server.url()))
            let error = await fetcher.failure(DataRequest(method: .post, url: server.url(), body: body))
            #expect(error?.reason == .interrupted)
            #expect(server.requests.map(\.method) == ["GET", "POST"])
        }
    }

    @Test(arguments: TestedClient.allCases)
    func idempotentWriteIsRepeatedWithItsBody(client: TestedClient) async throws {
        try await LoopbackServer.serving(inTurn: [whole, .raw([]), whole]) { server in
            let fetcher = retrying(client)
            _ = try await fetcher.fetch(DataRequest(url: server.url()))
            let request = DataRequest(method: .put, url: server.url(), body: Data("{}".utf8))
            let response = try await fetcher.fetch(request)
            #expect(response.body == Data("whole".utf8))
            #expect(server.requests.dropFirst().map(\.body) == [Array("{}".utf8), Array("{}".utf8)])
        }
    }
}
