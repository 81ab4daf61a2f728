import Testing

@testable import InwardRepositories

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

struct EndpointTests {
    /// A format that fails to encode every value.
    private struct UnwritableFormat: RecordFormat {
        let mediaType = JSONFormat.mediaType

        func decode<Value: Decodable>(_ type: Value.Type, from bytes: Data) throws -> Value {
            try JSONFormat().decode(type, from: bytes)
        }

        func encode(_ value: some Encodable) throws -> Data { throw FieldError(nil, "cannot be written") }
    }

    private let remark = Remark(id: 1, author: 7, text: "one")

    @Test func entityPathIsBelowTheListByDefault() {
        let plain = Endpoint(RemarkDTO.self, at: "/v1/remarks/")
        #expect(plain.path == ["v1", "remarks"] && plain.onePath(1) == ["v1", "remarks", "1"])
        let other = Endpoint(RemarkDTO.self, at: "remarks", one: { ["remark", "no", String($0)] })
        #expect(other.onePath(1) == ["remark", "no", "1"])
        #expect(plain.name == "remarks" && plain.lifetimes == Lifetimes())
    }

    @Test func keysOfAnEntityAreItsIdentifierAndItsSubjects() {
        let endpoint = Endpoint(RemarkDTO.self, at: "x", subjects: { [["users", String($0.author)]] })
        #expect(endpoint.keys(of: remark) == [["remarks", "1"], ["users", "7"]])
    }

    @Test func encodedEntityIsDecodedUnchanged() throws {
        let endpoint = Endpoint(RemarkDTO.self, at: "x")
        #expect(try endpoint.decodeOne(endpoint.encode(remark)) == remark)
    }

    @Test func byteCountIsThatOfTheRecord() throws {
        let endpoint = Endpoint(RemarkDTO.self, at: "x")
        #expect(try endpoint.byteCount(of: remark) == endpoint.encode(remark).count)
        #expect(Endpoint(RemarkDTO.self, at: "x", format: UnwritableFormat()).byteCount(of: remark) == 0)
    }
}
