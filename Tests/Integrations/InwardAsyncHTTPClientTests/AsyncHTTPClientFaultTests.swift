#if AsyncHTTPClient
import Foundation
import InwardAsyncHTTPClient
import InwardFetching
import LoopbackServer
import Testing

/// What a fetcher makes of sources that misbehave.
@Suite(.timeLimit(.minutes(5)))
struct AsyncHTTPClientFaultTests {
    // The platform's client may trap on these, so they are not among those that every client gets.
    @Test(arguments: ["HTTP/1.1 200 OK\r\nContent-Le", "HTTP/1.1 200 OK\r\n"])
    func aHeadThatEndsWithOneOfItsLinesIsAnError(text: String) async throws {
        try await LoopbackServer.serving({ _ in .raw(Array(text.utf8)) }) { server in
            let error = await #expect(throws: FetchError.self) {
                try await AsyncHTTPClientDataFetcher().fetch(DataRequest(url: server.url()))
            }
            #expect(error?.reason == .interrupted)
        }
    }

    @Test func aTimeoutWithoutAnEndIsPossible() async throws {
        try await LoopbackServer.serving({ _ in .whole() }) { server in
            let fetcher = AsyncHTTPClientDataFetcher(idleTimeout: .seconds(Int64.max))
            let response = try await fetcher.fetch(DataRequest(url: server.url()))
            #expect(response.status == .ok)
        }
    }
}
#endif
