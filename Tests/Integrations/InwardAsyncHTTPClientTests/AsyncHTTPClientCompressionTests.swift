#if AsyncHTTPClient
import Foundation
import InwardAsyncHTTPClient
import InwardFetching
import LoopbackServer
import Testing

/// Tests of bodies that are compressed, or that are declared to be compressed.
@Suite(.timeLimit(.minutes(5)))
struct AsyncHTTPClientCompressionTests {
    /// “hello”, compressed with gzip.
    private static let hello: [UInt8] = [
        31, 139, 8, 0, 0, 0, 0, 0, 2, 3, 203, 72, 205, 201, 201, 7, 0, 134, 166, 16, 54, 5, 0, 0, 0,
    ]

    /// 100 KB of zeros, compressed with gzip, in Base64.
    private static let zeros =
        "H4sIAAAAAAACA+3BMQEAAADCoPVPbQ0PoAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
        + "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAIBXA32VEdSghgEA"

    @Test func compressedBodyArrivesDecodedWithoutItsCodingFields() async throws {
        try await LoopbackServer.serving({ _ in .whole(headerLines: ["Content-Encoding: GZip"], body: Self.hello) }) {
            server in
            let response = try await AsyncHTTPClientDataFetcher().fetch(DataRequest(url: server.url()))
            #expect(response.body == Data("hello".utf8))
            #expect(response.headerFields[.contentEncoding] == nil)
            #expect(response.headerFields[.contentLength] == nil)
            #expect(server.requests.first?.values(of: "accept-encoding") == ["deflate, gzip"])
        }
    }

    @Test func unknownCodingIsLeftUnchanged() async throws {
        try await LoopbackServer.serving({ _ in .whole(headerLines: ["Content-Encoding: br"], body: [1, 2, 3]) }) {
            server in
            let response = try await AsyncHTTPClientDataFetcher().fetch(DataRequest(url: server.url()))
            #expect(response.body == Data([1, 2, 3]))
            #expect(response.headerFields[.contentEncoding] == "br")
            #expect(response.headerFields[.contentLength] == "3")
        }
    }

    @Test func bodyLimitAppliesToTheDecodedBody() async throws {
        let zeros = try #require(Data(base64Encoded: Self.zeros))
        try await LoopbackServer.serving({ _ in .whole(headerLines: ["Content-Encoding: gzip"], body: Array(zeros)) }) {
            server in
            let exact = AsyncHTTPClientDataFetcher(bodyLimit: 100_000)
            let response = try await exact.fetch(DataRequest(url: server.url()))
            #expect(response.body == Data(count: 100_000))
            let small = AsyncHTTPClientDataFetcher(bodyLimit: 99_999)
            let error = await #expect(throws: FetchError.self) { try await small.fetch(DataRequest(url: server.url())) }
            #expect(error?.reason == .tooLarge)
        }
    }

    @Test func truncatedCompressedBodyIsAnError() async throws {
        for body in [Array(Self.hello.dropLast(9)), [31, 139, 8, 1], []] {
            try await LoopbackServer.serving({ _ in .whole(headerLines: ["Content-Encoding: gzip"], body: body) }) {
                server in
                let error = await #expect(throws: FetchError.self) {
                    try await AsyncHTTPClientDataFetcher().fetch(DataRequest(url: server.url()))
                }
                #expect(error?.reason == .interrupted)
            }
        }
    }

    @Test func responseWithoutABodyMayHaveACodingField() async throws {
        try await LoopbackServer.serving({ request in
            request.method == "HEAD"
                ? .whole(headerLines: ["Content-Encoding: gzip"], body: Self.hello)
                : .raw(Array("HTTP/1.1 304 Not Modified\r\nContent-Encoding: gzip\r\n\r\n".utf8))
        }) { server in
            let fetcher = AsyncHTTPClientDataFetcher()
            let head = try await fetcher.fetch(DataRequest(method: .head, url: server.url()))
            #expect(head.body.isEmpty)
            #expect(try await fetcher.fetch(DataRequest(url: server.url())).status == 304)
        }
    }
}
#endif
