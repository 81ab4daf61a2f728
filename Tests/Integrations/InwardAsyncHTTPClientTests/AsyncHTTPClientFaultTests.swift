#if AsyncHTTPClient
import Foundation
import InwardAsyncHTTPClient
import InwardFetching
import LoopbackServer
import Testing

/// Tests of misbehaving upstreams.
@Suite(.timeLimit(.minutes(5)))
struct AsyncHTTPClientFaultTests {
    // `URLSession` may trap on these response heads, so the tests that all fetchers share leave them out.
    @Test(arguments: ["HTTP/1.1 200 OK\r\nContent-Le", "HTTP/1.1 200 OK\r\n"])
    func truncatedHeadIsAnError(text: String) async throws {
        try await LoopbackServer.serving({ _ in .raw(Array(text.utf8)) }) { server in
            let error = await #expect(throws: FetchError.self) {
                try await AsyncHTTPClientDataFetcher().fetch(DataRequest(url: server.url()))
            }
            #expect(error?.reason == .interrupted)
        }
    }

    @Test func veryLongTimeoutDoesNotOverflow() async throws {
        try await LoopbackServer.serving({ _ in .whole() }) { server in
            let fetcher = AsyncHTTPClientDataFetcher(idleTimeout: .seconds(Int64.max))
            let response = try await fetcher.fetch(DataRequest(url: server.url()))
            #expect(response.status == .ok)
        }
    }
}
#endif
