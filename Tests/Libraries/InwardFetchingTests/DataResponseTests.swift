import InwardFetching
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

struct DataResponseTests {
    @Test(arguments: [("gzip", true), ("GZip", true), ("br", false)])
    func decodingABodyRemovesItsCodingFields(coding: String, isDecoded: Bool) {
        let fields = [
            (name: "content-encoding", value: coding), (name: "Content-Length", value: "9"), (name: "ETag", value: "1"),
        ]
        let response = DataResponse(status: 201, fields: fields, body: Data([7])) { $0 == "gzip" }
        #expect(response.status == .created && response.body == Data([7]))
        #expect(response.headerFields[.contentEncoding] == (isDecoded ? nil : coding))
        #expect(response.headerFields[.contentLength] == (isDecoded ? nil : "9"))
        #expect(response.headerFields[.etag] == "1")
    }

    @Test func fieldsWithInvalidNamesAreDropped() {
        let fields = [(name: "not a name", value: "1"), (name: "Age", value: "2"), (name: "Age", value: "3")]
        let response = DataResponse(status: 200, fields: fields, body: Data()) { _ in true }
        #expect(response.headerFields == [HeaderField(.age, "2"), HeaderField(.age, "3")])
    }
}
