import InwardFetching
import Testing

@testable import InwardRepositories

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

struct OutboxEntryCodingTests {
    private let name = OutboxEntryName(sequence: 7, idempotencyKey: "k1", subject: ["posts", "é/"])

    /// With equal lengths, keys sort by number.
    @Test(arguments: [0, 9, 10, 1 << 62 - 1]) func sequenceNumbersArePaddedToTheSameLength(sequence: Int) throws {
        let name = OutboxEntryName(sequence: sequence, idempotencyKey: "k", subject: ["7"])
        let key = name.key(under: ["a"])
        #expect(key.components.dropFirst().first?.count == 19)
        #expect(OutboxEntryName(key, under: ["a"]) == name)
    }

    private func entry(body: [UInt8]?, acceptedAt: Date = Date(timeIntervalSince1970: 1.5)) -> OutboxEntry {
        OutboxEntry(
            sequence: name.sequence,
            write: OutboxWrite(
                endpoint: "posts",
                subject: name.subject,
                method: .patch,
                path: "posts/7",
                body: body
            ),
            idempotencyKey: name.idempotencyKey,
            acceptedAt: acceptedAt,
            attempts: 3
        )
    }

    @Test(arguments: [nil, [], [0, 255], Array("{}".utf8)] as [[UInt8]?])
    func storedEntryIsDecodedUnchanged(body: [UInt8]?) throws {
        let entry = entry(body: body)
        let bytes = try OutboxEntryDTO.bytes(of: entry)
        #expect(OutboxEntryDTO.entry(from: bytes, named: name, attempts: 3) == .success(entry))
    }

    /// Earlier versions of the program store no conflict, later ones may store more, and damage to a conflict affects nothing
    /// else.
    @Test(arguments: [
        ("", false), (#""new":1,"#, false), (#""conflict":null,"#, false), (#""conflict":{"mine":"?"},"#, false),
        (#""conflict":{"entityTag":"\"v2\"","mine":"e30=","new":1},"#, true),
    ])
    func deadLetterIsReadEvenIfItsConflictIsMissingOrDamaged(member: String, hasVersions: Bool) {
        let entry = #"{"acceptedAt":1500,"body":"e30=","endpoint":"posts","method":"PUT","path":"posts/7","version":2}"#
        let letter = #"{"attempts":4,"cause":"PUT x was refused",\#(member)"entry":\#(entry),"refusedAt":2000}"#
        let item = DeadLetterDTO.item(from: Array(letter.utf8), named: name)
        #expect(item.state == .refused(at: Date(timeIntervalSince1970: 2)))
        #expect(item.write?.body == Array("{}".utf8))
        let conflict = OutboxConflict(mine: Array("{}".utf8), theirs: nil, entityTag: #""v2""#)
        #expect(item.conflict == (hasVersions ? conflict : nil))
    }

    /// Every later version must be able to read what a released version has stored.
    @Test(arguments: [1, 2]) func entriesOfEarlierVersionsStayReadable(version: Int) throws {
        let text =
            #"{"acceptedAt":1500,"body":"e30=","endpoint":"posts","method":"PATCH","path":"posts\/7","version":\#(version)}"#
        let entry = entry(body: Array("{}".utf8))
        // An entry that needs no newer fields is still written in this form.
        if version == 2 {
            #expect(String(decoding: try OutboxEntryDTO.bytes(of: entry), as: UTF8.self) == text)
        }
        // The first version wrote no note before an attempt.
        #expect(OutboxEntryDTO.mayHaveBeenSentWithoutNote(Array(text.utf8)) == (version == 1))
        #expect(OutboxEntryDTO.entry(from: Array(text.utf8), named: name, attempts: 3) == .success(entry))
        #expect(
            OutboxEntryName(entry).key(under: ["p"])
                == ["p", "0000000000000000007", "k1", "posts", "é/"]
        )
    }

    @Test func fieldsOfTheThirdVersionAreStored() throws {
        let text =
            #"{"acceptedAt":1500,"body":"e30=","contentType":"application\/merge-patch+json","endpoint":"posts","#
            + #""entityID":"7","entityTag":"\"v1\"","method":"PATCH","path":"posts\/7","revision":2,"version":3}"#
        let write = OutboxWrite(
            endpoint: "posts",
            subject: name.subject,
            method: .patch,
            path: "posts/7",
            body: Array("{}".utf8),
            contentType: "application/merge-patch+json",
            entityID: "7",
            version: .entityTag(#""v1""#),
            revision: 2
        )
        let entry = entry(body: nil).revised(to: write)
        let bytes = try OutboxEntryDTO.bytes(of: entry)
        #expect(String(decoding: bytes, as: UTF8.self) == text)
        #expect(OutboxEntryDTO.entry(from: bytes, named: name, attempts: 3) == .success(entry))
    }

    /// An earlier version of the program would send the write without its condition.
    @Test(arguments: [
        OutboxWrite(endpoint: "posts", subject: [], path: "posts", contentType: "text/plain"),
        OutboxWrite(endpoint: "posts", subject: [], path: "posts", entityID: "7"),
        OutboxWrite(endpoint: "posts", subject: [], path: "posts", version: .entityTag(#""v1""#)),
        OutboxWrite(endpoint: "posts", subject: [], path: "posts", version: .previousWrite),
        OutboxWrite(endpoint: "posts", subject: [], path: "posts", revision: 1),
    ])
    func entryWithNewFieldsHasTheThirdVersion(write: OutboxWrite) throws {
        let name = OutboxEntryName(sequence: 7, idempotencyKey: "k1", subject: [])
        let entry = entry(body: nil).revised(to: write)
        let bytes = try OutboxEntryDTO.bytes(of: entry)
        #expect(String(decoding: bytes, as: UTF8.self).contains(#""version":3"#))
        #expect(OutboxEntryDTO.entry(from: bytes, named: name, attempts: 3) == .success(entry))
        #expect(!OutboxEntryDTO.mayHaveBeenSentWithoutNote(bytes))
    }

    @Test func negativeRevisionCountsAsZero() throws {
        let text = #"{"acceptedAt":1500,"endpoint":"posts","method":"PUT","path":"posts/7","revision":-1,"version":3}"#
        #expect(try OutboxEntryDTO.entry(from: Array(text.utf8), named: name, attempts: 0).get().write.revision == 0)
    }

    @Test(arguments: [.infinity, -.infinity, .nan, 1e300])
    func unrepresentableTimeIsClamped(seconds: Double) throws {
        let date = Date(timeIntervalSince1970: seconds).roundedToMilliseconds
        let entry = entry(body: nil, acceptedAt: date)
        let bytes = try OutboxEntryDTO.bytes(of: entry)
        #expect(OutboxEntryDTO.entry(from: bytes, named: name, attempts: 3) == .success(entry))
    }

    /// A dead letter is stored again as an entry when it is retried.
    @Test(arguments: [Int64.min, .max])
    func entryWithAnExtremeTimeIsUnchangedWhenStoredAgain(time: Int64) throws {
        let text = #"{"acceptedAt":\#(time),"endpoint":"posts","method":"PATCH","path":"posts/7","version":2}"#
        let entry = try OutboxEntryDTO.entry(from: Array(text.utf8), named: name, attempts: 0).get()
        let bytes = try OutboxEntryDTO.bytes(of: entry)
        #expect(OutboxEntryDTO.entry(from: bytes, named: name, attempts: 0) == .success(entry))
    }

    @Test func longCauseOfADeadLetterIsTruncatedToOneLine() throws {
        let entry = #"{"acceptedAt":1500,"endpoint":"posts","method":"PATCH","path":"posts/7","version":2}"#
        let cause = String(repeating: #"a line\nand more "#, count: 1_000)
        let text = #"{"attempts":-5,"cause":"\#(cause)","entry":\#(entry),"refusedAt":1}"#
        let item = DeadLetterDTO.item(from: Array(text.utf8), named: name)
        #expect(item.state == .refused(at: Date(timeIntervalSince1970: 0.001)))
        #expect(item.attempts == 0)
        #expect(item.cause?.count == 500 && item.cause?.contains("\n") == false)
    }

    @Test func nameIsParsedFromItsKey() {
        #expect(OutboxEntryName(name.key(under: ["a", "b"]), under: ["a", "b"]) == name)
        #expect(OutboxEntryName(name.key(under: ["a", "b"]), under: ["a", "c"]) == nil)
        let empty = OutboxEntryName(sequence: 0, idempotencyKey: "k", subject: [])
        #expect(OutboxEntryName(empty.key(under: []), under: []) == empty)
    }

    /// If the key of a record differed from the key of its name, the record could not be removed, and would be sent again and
    /// again.
    @Test(arguments: ["+000000000000000007", "-000000000000000000", "٠٠٠٠٠٠٠٠٠7", "7", "9223372036854775807"])
    func sequenceNumberMustConsistOfDigits(number: String) {
        #expect(OutboxEntryName(["p", number, "k1", "posts"], under: ["p"]) == nil)
    }

    @Test func keysSortBySequenceNumber() {
        let keys = [0, 9, 10, 99, 1 << 40, 1 << 61].map {
            OutboxEntryName(sequence: $0, idempotencyKey: "k", subject: ["7"]).key(under: ["p"])
        }
        #expect(keys == keys.sorted())
    }

    @Test func unreadableItemHasNoAttempts() async throws {
        let lost = OutboxItem(unreadable: "a", .lost, byteCount: 7)
        #expect(lost.attempts == 0 && lost.byteCount == 7 && lost.acceptedAt == nil && lost.write == nil)
    }
}
