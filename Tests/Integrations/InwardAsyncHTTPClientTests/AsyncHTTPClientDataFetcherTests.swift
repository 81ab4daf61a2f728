#if AsyncHTTPClient
import Foundation
import InwardAsyncHTTPClient
import InwardFetching
import LoopbackServer
import Testing

/// Tests of behavior that only this fetcher has. `CompositionTests` contains the tests that every fetcher must pass.
@Suite(.timeLimit(.minutes(5)))
struct AsyncHTTPClientDataFetcherTests {
    private func failure(
        of fetcher: AsyncHTTPClientDataFetcher = AsyncHTTPClientDataFetcher(),
        _ request: DataRequest
    ) async -> FetchError? {
        await #expect(throws: FetchError.self) { try await fetcher.fetch(request) }
    }

    @Test func urlIsSentAsWritten() async throws {
        try await LoopbackServer.serving({ _ in .whole() }) { server in
            let url = try #require(URL(string: "a%20b/%C3%A4?q=1%2B1&r=%C3%A4#part", relativeTo: server.url()))
            _ = try await AsyncHTTPClientDataFetcher().fetch(DataRequest(url: url))
            #expect(server.requests.map(\.target) == ["/a%20b/%C3%A4?q=1%2B1&r=%C3%A4"])
            #expect(server.requests.first?.values(of: "host") == ["127.0.0.1:\(server.port)"])
        }
    }

    @Test func repeatedHeaderFieldsStaySeparate() async throws {
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

    @Test func cookiesAreSentAsOneField() async throws {
        try await LoopbackServer.serving({ _ in .whole() }) { server in
            let fields: HeaderFields = [HeaderField(.cookie, "a=1"), HeaderField(.cookie, "b=2")]
            _ = try await AsyncHTTPClientDataFetcher().fetch(DataRequest(url: server.url(), headerFields: fields))
            #expect(server.requests.first?.values(of: "cookie") == ["a=1; b=2"])
        }
    }

    @Test func userNameInTheURLIsSentAsAuthorization() async throws {
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

    @Test(arguments: ["unix:///run/x", "http+unix://%2Frun%2Fx/"])
    func unixSocketIsRefused(address: String) async throws {
        let url = try #require(URL(string: address))
        #expect(await failure(DataRequest(url: url))?.reason == .invalidRequest)
    }

    @Test func controlCharacterInAHeaderFieldIsRefused() async throws {
        try await LoopbackServer.serving({ _ in .whole() }) { server in
            let control = HeaderField(.accept, "text\u{1}s3cret")
            let error = await failure(DataRequest(url: server.url(), headerFields: [control]))
            #expect(error?.reason == .invalidRequest)
            #expect(error?.explanation.contains("s3cret") == false)
            #expect(server.requests.isEmpty)
        }
    }
}
#endif
