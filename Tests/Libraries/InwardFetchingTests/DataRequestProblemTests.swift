import InwardFetching
import TestSupport
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

struct DataRequestProblemTests {
    @Test(arguments: [
        "http://upstream.test", "HTTPS://upstream.test:65535/users?a=b", "http://[::1]:1/", "http://a:b@upstream.test/",
    ])
    func webURLsAreAllowed(address: String) throws {
        #expect(try DataRequest.example(address).problem == nil)
    }

    @Test(arguments: [
        "ftp://upstream.test/", "file:///etc/hosts", "http:///x", "data:,x", "x", "http://upstream.test:0/",
        "http://upstream.test:65536/", "http://%97.test/",
    ])
    func otherURLsAreRejected(address: String) throws {
        #expect(try DataRequest.example(address).problem == "is not a request for a valid http or https URL")
    }

    @Test func readsMustNotHaveABody() throws {
        let body = Data("x".utf8)
        #expect(try DataRequest.example(method: .get, body: body).problem == "has a body, which GET does not allow")
        #expect(try DataRequest.example(method: .head, body: body).problem == "has a body, which HEAD does not allow")
        #expect(try DataRequest.example(method: .delete, body: body).problem == nil)
    }

    @Test(arguments: ["Content-Length", "transfer-encoding", "Connection", "TE", "Upgrade", "Keep-Alive", "Trailer"])
    func framingFieldsAreRejected(name: String) throws {
        let fields: HeaderFields = [
            HeaderField(.accept, "text/plain"), HeaderField(try #require(HeaderField.Name(name)), "1"),
        ]
        let request = try DataRequest.example(method: .post, headerFields: fields)
        #expect(request.problem == "has the header field \(name), which only the client may set")
    }

    @Test func urlsHaveAtMostEightKibibytes() throws {
        let start = "http://upstream.test/?q="
        let longest = try DataRequest.example(start + String(repeating: "x", count: 8_192 - start.utf8.count))
        #expect(longest.url.absoluteString.utf8.count == 8_192)
        #expect(longest.problem == nil)
        let longer = try DataRequest.example("\(longest.url.absoluteString)x")
        #expect(longer.problem == "has a URL of 8193 bytes, and the maximum is 8192")
    }

    @Test func longURLsAreShortenedInDescriptions() throws {
        let path = try DataRequest.example("http://upstream.test/" + String(repeating: "x", count: 1_000_000))
        #expect(path.description.hasPrefix("GET http://upstream.test/xxxx"))
        #expect(path.description.hasSuffix("…"))
        #expect(path.description.utf8.count < 1_000)
        let query = try DataRequest.example("http://upstream.test/?" + String(repeating: "x=1&", count: 100_000))
        #expect(query.description.utf8.count < 1_000)
    }
}
