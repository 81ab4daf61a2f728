import InwardFetching
import TestSupport
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

struct DataRequestTests {
    @Test func descriptionContainsNoSecrets() throws {
        let request = try DataRequest.example(
            "https://ada:s3cret@upstream.test:8443/users/7?key=s3cret&flag&sig=s3cret#s3cret",
            method: .put,
            headerFields: [HeaderField(.authorization, "Bearer s3cret")]
        )
        #expect("\(request)" == "PUT https://upstream.test:8443/users/7?key=…&…&sig=…")
        var dumped = ""
        dump(request, to: &dumped)
        for text in [String(reflecting: request), dumped] {
            #expect(!text.contains("s3cret"))
        }
    }

    @Test func relativeURLsAreDescribedInFull() throws {
        let url = try #require(URL(string: "users/7?key=s3cret", relativeTo: URL(string: "https://upstream.test/api/")))
        #expect("\(DataRequest(url: url))" == "GET https://upstream.test/api/users/7?key=…")
    }

    @Test func requestsThatAnUpstreamCannotDistinguishAreEqual() throws {
        let plain = try DataRequest.example()
        let signed = try DataRequest.example(headerFields: [HeaderField(.authorization, "Bearer a")])
        let other = try DataRequest.example(headerFields: [HeaderField(.authorization, "Bearer b")])
        #expect(try plain == .example())
        #expect(plain != signed)
        #expect(signed != other)
    }
}
