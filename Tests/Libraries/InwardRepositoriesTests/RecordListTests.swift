import InwardCore
import Testing

@testable import InwardRepositories

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

struct RecordListTests {
    private func list(_ records: String...) throws -> RecordList<RemarkDTO> {
        try RecordList.decoded(from: Data("[\(records.joined(separator: ","))]".utf8))
    }

    private func record(_ id: Int, author: String = "7", text: String = #""t""#) -> String {
        #"{"id": \#(id), "author": \#(author), "text": \#(text)}"#
    }

    @Test func entityCanBeItsOwnRecord() throws {
        struct Tag: RecordDTO, Identifiable, Equatable {
            static let listName = "tags"
            let id: Int
            let name: String
        }
        let records = #"[{"id": 1, "name": "swift"}, {"id": 2}]"#
        let list = try RecordList<Tag>.decoded(from: Data(records.utf8))
        #expect(list.entities == [Tag(id: 1, name: "swift")])
        #expect(list.rejected.map(\.description) == ["tags[1].name is missing"])
        #expect(try Tag(Tag(id: 3, name: "c")).entity() == Tag(id: 3, name: "c"))
    }

    @Test func recordsBecomeEntitiesInOrder() throws {
        let list = try list(record(3), record(1, author: "8", text: #""one""#), record(2))
        #expect(list.entities.map(\.id) == [3, 1, 2])
        #expect(list.entities[1] == Remark(id: 1, author: 8, text: "one"))
        #expect(list.rejected.isEmpty)
    }

    @Test(arguments: [
        (#"{"id": 5, "text": "t"}"#, "remarks[1].author is missing"),
        (#"{"id": 5, "author": null, "text": "t"}"#, "remarks[1].author is null"),
        (#"{"id": 5, "author": "x", "text": "t"}"#, "remarks[1].author is not a whole number"),
        (#"{"id": 5, "author": 1.5, "text": "t"}"#, "remarks[1].author is not a whole number"),
        (#"{"id": 5, "author": 99999999999999999999, "text": "t"}"#, "remarks[1].author is not a whole number"),
        (#"{"id": 5, "author": 7, "text": 8}"#, "remarks[1].text is not a string"),
        (#"{"id": 5, "author": 7, "text": "\ud800"}"#, "remarks[1].text is not a string"),
        ("null", "remarks[1] is null"), ("42", "remarks[1] is not an object"), ("{}", "remarks[1].id is missing"),
        ("[]", "remarks[1] is not an object"), (#""x""#, "remarks[1] is not an object"),
    ])
    func onlyTheDamagedRecordIsLeftOutAndNamed(damaged: String, note: String) throws {
        let list = try list(record(2), damaged, record(3))
        #expect(list.entities.map(\.id) == [2, 3])
        #expect(list.rejected.map(\.description) == [note])
    }

    @Test func firstRecordOfAnIdentifierWins() throws {
        let other = record(1, text: #""other""#)
        let list = try list(record(2), record(1), other, other)
        #expect(list.entities.map(\.text) == ["t", "t"])
        #expect(list.rejected.map(\.position) == [2, 3])
        #expect(list.rejected.map(\.reason) == Array(repeating: "is already used at position 1", count: 2))
    }

    @Test func identifiersWithEqualHashesAreDifferent() throws {
        struct Label: Codable, Hashable, Sendable {
            let text: String

            func hash(into hasher: inout Hasher) {}
        }
        struct Tag: RecordDTO, Identifiable, Equatable {
            static let listName = "tags"
            let id: Label
        }
        let records = ["a", "", "b", "c", "b", "d", "a", "d"].map { $0.isEmpty ? "7" : #"{"id": {"text": "\#($0)"}}"# }
        let list = try RecordList<Tag>.decoded(from: Data("[\(records.joined(separator: ","))]".utf8))
        #expect(list.entities.map(\.id.text) == ["a", "b", "c", "d"])
        #expect(
            list.rejected.map(\.description) == [
                "tags[1] is not an object", "tags[4].id is already used at position 2",
                "tags[6].id is already used at position 0", "tags[7].id is already used at position 5",
            ]
        )
    }

    @Test(arguments: [
        ("", "it is empty"), ("{}", "it is not a list"), ("7", "it is not a list"), ("null", "it is null"),
        ("<html>", "it is not valid JSON; it begins with “<html>”"),
        ("[1,", "it is not valid JSON; it begins with “[1,”"),
        (
            "<html><head><title>503 Service Unavailable</title></head>",
            "it is not valid JSON; it begins with “<html><head><title>503 Service Unavaila…”"
        ),
    ])
    func valueThatIsNotAListIsAnError(json: String, explanation: String) {
        let error = #expect(throws: FieldError.self) { try RecordList<RemarkDTO>.decoded(from: Data(json.utf8)) }
        #expect(error?.description == explanation)
    }

    /// A character can have any number of combining marks. The error must not quote all of them.
    @Test func errorQuotesAtMost80Bytes() throws {
        let letter = "\u{E9}" + String(repeating: "\u{301}", count: 100)
        let error = #expect(throws: FieldError.self) { try RecordList<RemarkDTO>.decoded(from: Data(letter.utf8)) }
        let quoted = "\u{E9}" + String(repeating: "\u{301}", count: 39)
        #expect(error?.reason == "is not valid JSON; it begins with “\(quoted)”")
    }

    @Test func thousandDamagedRecordsAreNamedAndTheRestAreCounted() throws {
        let many = Array(repeating: "0", count: 1_000).joined(separator: ",")
        let named = try list(many)
        #expect(named.rejected.count == 1_000)
        #expect(named.rejected.last?.description == "remarks[999] is not an object")
        let counted = try list(many, "{}", "null", record(7), "7")
        #expect(counted.entities.map(\.id) == [7])
        #expect(counted.rejected.count == 1_001)
        #expect(counted.rejected.last?.description == "remarks[1000] is damaged, as are 2 records after it")
    }

    @Test func deeplyNestedListIsAnError() {
        let json = String(repeating: "[", count: 100_000) + String(repeating: "]", count: 100_000)
        #expect(throws: FieldError.self) { try RecordList<RemarkDTO>.decoded(from: Data(json.utf8)) }
    }
}
