import Testing

@testable import InwardRepositories

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

struct FieldErrorTests {
    private struct Place: Decodable {
        let name: String
        let isOpen: Bool
        let height: Double
        let steps: [Int]
        let address: [String: [Int]]
    }

    /// Returns the error of decoding a place with another value in one field.
    private func error(_ field: String, _ value: String?) throws -> FieldError {
        var fields = [
            "name": #""hill""#, "isOpen": "true", "height": "1.5", "steps": "[1, 2]", "address": #"{"doors": [1]}"#,
        ]
        fields[field] = value
        let json = "{\(fields.map { #""\#($0)": \#($1)"# }.joined(separator: ","))}"
        return try #require(#expect(throws: FieldError.self) { try Place.decoded(from: Data(json.utf8)) })
    }

    /// A reason can quote a record, and the values of a record can have any length.
    @Test(arguments: [(199, false), (200, false), (201, true), (1_000, true)])
    func longReasonIsTruncated(count: Int, isCut: Bool) {
        let reason = FieldError("a.b", String(repeating: "x", count: count)).reason
        #expect(reason.count == min(count, 200))
        #expect(reason.hasSuffix("…") == isCut)
    }

    @Test(arguments: [
        ("name", "7", "its field “name” is not a string"), ("isOpen", "1", "its field “isOpen” is not true or false"),
        ("height", "[]", "its field “height” is not a number"), ("steps", "7", "its field “steps” is not a list"),
        ("steps", #"[1, "x"]"#, "its field “steps.1” is not a whole number"),
        ("steps", "[null]", "its field “steps.0” is null"), ("address", "[]", "its field “address” is not an object"),
        ("address", #"{"doors": [1, {}]}"#, "its field “address.doors.1” is not a whole number"),
        ("name", nil, "its field “name” is missing"), ("name", "null", "its field “name” is null"),
    ])
    func decodingErrorNamesTheFieldAndTheExpectedType(field: String, value: String?, words: String) throws {
        #expect(try error(field, value).description == words)
    }

    @Test func fieldErrorOfARecordIsKept() {
        let error = FieldError("at", "is not a time")
        #expect(FieldError(decoding: error) == error)
        #expect(error.description == "its field “at” is not a time")
        #expect(FieldError(nil, "is not a place").description == "it is not a place")
    }

    @Test func unknownErrorSaysThatTheRecordCannotBeRead() {
        struct OtherError: Error {}
        #expect(FieldError(decoding: OtherError()) == FieldError(nil, "cannot be read"))
    }
}
