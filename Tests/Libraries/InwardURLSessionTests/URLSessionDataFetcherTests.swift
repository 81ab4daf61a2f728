import Foundation
import InwardFetching
import LoopbackServer
import Testing

@testable import InwardURLSession

/// Tests of behavior that only this fetcher has. `CompositionTests` contains the tests that every fetcher must pass.
@Suite(.timeLimit(.minutes(5)))
struct URLSessionDataFetcherTests {
    @Test func headerFieldsAreSentAndReceived() async throws {
        let name = try #require(HeaderField.Name("X-Repeat"))
        try await LoopbackServer.serving({ _ in .whole(headerLines: ["X-Repeat: c", "X-Repeat: d", "Empty:"]) }) {
            server in
            let fields: HeaderFields = [
                HeaderField(name, "a"), HeaderField(.authorization, "Bearer t"), HeaderField(name, "b"),
            ]
            let response = try await URLSessionDataFetcher().fetch(DataRequest(url: server.url(), headerFields: fields))
            // The platform joins repeated fields, which HTTP treats as equivalent.
            #expect(response.headerFields[name] == "c, d")
            #expect(server.requests.first?.values(of: "x-repeat") == ["a, b"])
            #expect(server.requests.first?.values(of: "authorization") == ["Bearer t"])
        }
    }

    @Test func portZeroIsAnError() async throws {
        let url = try #require(URL(string: "http://127.0.0.1:0/"))
        let error = await #expect(throws: FetchError.self) {
            try await URLSessionDataFetcher().fetch(DataRequest(url: url))
        }
        #expect(error?.reason == .invalidRequest)
    }

    @Test func compressedBodyArrivesDecodedWithoutItsCodingFields() async throws {
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

    @Test func bodyIsNotDeclaredAFormByDefault() async throws {
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

    @Test func requestThatWouldUseAnEnvironmentProxyIsNotSent() async throws {
        try await LoopbackServer.serving({ _ in .whole() }) { server in
            let proxies = EnvironmentProxies(["http_proxy": "http://ada:s3cret@proxy.test"])
            let fetcher = URLSessionDataFetcher(environmentProxies: proxies)
            let error = await #expect(throws: FetchError.self) {
                try await fetcher.fetch(DataRequest(url: server.url()))
            }
            #expect(error?.reason == .untrusted)
            #expect(error?.wasSent == false)
            #expect(error?.explanation.contains("http_proxy") == true)
            #expect(error?.explanation.contains("usesEnvironmentProxies") == true)
            #expect(error?.explanation.contains("proxy.test") == false)
            #expect(error?.explanation.contains("s3cret") == false)
            #expect(server.connectionCount == 0)
        }
    }
}
