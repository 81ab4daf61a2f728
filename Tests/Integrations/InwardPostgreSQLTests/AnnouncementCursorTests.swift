#if PostgreSQL
import InwardRepositories
import Testing

@testable import InwardPostgreSQL

struct AnnouncementCursorTests {
    private let start = ContinuousClock.now

    private func rows(oldest: Int64, _ announcements: KeyValuePairs<Int64, RecordKey>) -> [Row] {
        announcements.isEmpty
            ? [Row(values: [bytes(oldest), nil, nil])]
            : announcements.map { Row(values: [bytes(oldest), bytes($0.key), $0.value.encoded]) }
    }

    private func bytes(_ number: Int64) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) }
    }

    @Test func rowsAreNewOnce() {
        var cursor = AnnouncementCursor()
        #expect(cursor.keys(in: rows(oldest: 5, [1: ["before"]]), readAt: start) == [["before"]])
        #expect(cursor.keys(in: rows(oldest: 5, [1: ["before"], 3: ["c"]]), readAt: start) == [["c"]])
        // An older number that became visible late.
        #expect(cursor.keys(in: rows(oldest: 9, [1: ["before"], 2: ["b"], 3: ["c"]]), readAt: start) == [["b"]])
        #expect(cursor.keys(in: rows(oldest: 9, [:]), readAt: start) == [])
    }

    @Test func readsBeginWithTheOldestTransactionOfTheReadBefore() {
        var cursor = AnnouncementCursor()
        func oldest() -> Int64? {
            if case .integer(let number) = cursor.statement.parameters.first { number } else { nil }
        }
        #expect(oldest() == .max)
        _ = cursor.keys(in: rows(oldest: 5, [:]), readAt: start)
        #expect(oldest() == 5)
        _ = cursor.keys(in: rows(oldest: 7, [1: ["a"]]), readAt: start)
        #expect(oldest() == 7)
    }

    @Test func rowsMayBeMissingAfterALongPause() {
        var cursor = AnnouncementCursor()
        #expect(cursor.keys(in: rows(oldest: 5, [:]), readAt: start) == [])
        #expect(cursor.keys(in: rows(oldest: 5, [:]), readAt: start + .seconds(60)) == [])
        #expect(cursor.keys(in: rows(oldest: 5, [1: ["a"]]), readAt: start + .seconds(121)) == nil)
        #expect(cursor.keys(in: rows(oldest: 5, [1: ["a"], 2: ["b"]]), readAt: start + .seconds(122)) == [["b"]])
    }

    @Test func unreadableKeyMayBeAnything() {
        var cursor = AnnouncementCursor()
        #expect(cursor.keys(in: [Row(values: [bytes(5), bytes(1), [7]])], readAt: start) == nil)
    }

    @Test func requestsThatArriveMeanwhileShareTheNextTime() {
        var requests = SharedRequests()
        let first = [requests.add(), requests.add(), requests.add(), requests.end(), requests.end()]
        #expect(first == [true, false, false, true, false])
        let second = [requests.add(), requests.end(), requests.add()]
        #expect(second == [true, false, true])
    }
}
#endif
