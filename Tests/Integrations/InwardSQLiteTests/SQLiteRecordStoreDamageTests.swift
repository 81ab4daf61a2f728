#if SQLite
import Foundation
import InwardRecordDirectories
import InwardRepositories
import InwardTesting
import TestSupport
import Testing
import Thoroughness

@testable import InwardSQLite

/// What becomes of a database that somebody has changed, which has no log.
@Suite(.timeLimit(.minutes(60)))
struct SQLiteRecordStoreDamageTests {
    private static let database = "records/database.sqlite"

    private let limits = DatabaseLimits(pageSize: 512, isFlushed: false)
    private let directory: TemporaryDirectory
    private let history = RecordHistory()
    /// What is kept: what the history leaves, and more, so that there are pages of every kind.
    private let expected: [RecordKey: [UInt8]]

    init() throws {
        directory = try TemporaryDirectory()
        var expected = history.last
        for index in 0..<12 { expected[["more", String(index)]] = [UInt8](repeating: UInt8(index), count: 30) }
        expected[["long"]] = [UInt8](0..<250) + [UInt8](0..<250)
        self.expected = expected
    }

    /// A database without a log, of small pages.
    private func wholeDatabase() async throws -> [UInt8] {
        let url = directory.url.appending(path: "whole")
        let store = SQLiteRecordStore.opened(url, limits: limits)
        for changes in history.commits { try await store.commit(changes) }
        let expiry = SQLiteRecordStore.testTime.addingTimeInterval(10)
        let others = expected.filter { history.last[$0.key] == nil }.sorted { $0.key < $1.key }
        try await store.commit(
            others.enumerated().map { index, entry in
                .keep(StoredRecord(entry.value, expiry: index % 3 == 0 ? expiry : nil), entry.key)
            }
        )
        #expect(try await store.contents() == expected)
        await store.close()
        #expect(!FileManager.default.fileExists(atPath: url.appending(path: Self.database + "-wal").path()))
        return Array(try Data(contentsOf: url.appending(path: Self.database)))
    }

    /// A directory of its own with a database in it.
    private func place(_ bytes: [UInt8], _ name: String) throws -> URL {
        let url = directory.url.appending(path: name)
        let records = url.appending(path: "records")
        try FileManager.default.createDirectory(at: records, withIntermediateDirectories: true)
        try Data(bytes).write(to: url.appending(path: Self.database))
        return url
    }

    /// Sees that a store over such a database gives nothing wrong, says of what is lost, and works from then on.
    private func check(_ bytes: [UInt8], _ comment: Comment) async throws -> (lost: Int, reports: [RecordDamage]) {
        let url = try place(bytes, "changed")
        defer { try? FileManager.default.removeItem(at: url) }
        let reports = RecordDamageReports()
        let store = SQLiteRecordStore.opened(url, limits: limits, reports: reports)
        // Of what is changed beside it, a damaged place must keep nothing back.
        try await store.commit([.keep(StoredRecord([9]), ["new"]), .remove(["more", "5"]), .removeAll(["c"])])
        var rest = expected.filter { $0.key != ["more", "5"] && !(["c"] as RecordKey).contains($0.key) }
        rest[["new"]] = [9]
        let contents = try await store.contents()
        for (key, found) in contents { #expect(rest[key] == found, comment) }
        for key in expected.keys { #expect(try await store.record(for: key)?.bytes == contents[key], comment) }
        #expect(contents[["new"]] == [9], comment)
        await store.close()
        let lost = rest.count - contents.count
        for report in reports.all where report.path != nil {
            #expect(report.path.map { FileManager.default.fileExists(atPath: $0) } == true, comment)
        }
        if reports.all.isEmpty { return (lost, []) }
        // What was reported is mended.
        let again = RecordDamageReports()
        #expect(try await SQLiteRecordStore.contents(of: url, limits: limits, reports: again) == contents, comment)
        #expect(again.all == [], comment)
        return (lost, reports.all)
    }

    @Test(arguments: [0xFF, 0x01] as [UInt8]) func noByteThatIsChangedMakesAnythingWrong(mask: UInt8) async throws {
        let database = try await wholeDatabase()
        #expect(database.count >= 8 * 512)
        var (lostCounts, reportCount) = ([Int](), 0)
        // All of them take minutes, so that a plain run takes some.
        let indices = database.indices.filter { Thoroughness.isExhaustive || $0 % 23 == 0 }
        for index in indices {
            var bytes = database
            bytes[index] ^= mask
            let (lost, reports) = try await check(bytes, "behind a change of the byte \(index)")
            lostCounts.append(lost)
            reportCount += reports.isEmpty ? 0 : 1
            // What SQLite counts of a page at its beginning may hide something; nothing else does.
            if lost > 0, reports.isEmpty { #expect(index % 512 < 12, "behind a change of the byte \(index)") }
        }
        // The others are in what is not used.
        #expect(reportCount > indices.count / 4)
        // Most cost one record, or none.
        #expect(lostCounts.count { $0 <= 1 } > indices.count * 3 / 4)
    }

    /// Whoever looks for a key compares it with others, and is led astray by one that is damaged.
    @Test func aDamagedKeyHidesNothingBesideIt() async throws {
        let database = try await wholeDatabase()
        for key in expected.keys where !key.components.isEmpty {
            let encoded = key.encoded
            for index in database.indices.dropLast(encoded.count)
            where database[index...].starts(with: encoded) {
                for byte in [0x01, 0xFF] as [UInt8] {
                    var bytes = database
                    bytes[index] = byte
                    let (lost, reports) = try await check(bytes, "behind a change of the key \(key)")
                    // A key in the list of what expires may not be looked at, and costs nothing.
                    #expect(lost == 0 || lost == 1 && !reports.isEmpty, "behind a change of the key \(key)")
                }
            }
        }
    }

    @Test func aDatabaseThatIsCutShortGivesNothingWrong() async throws {
        let database = try await wholeDatabase()
        for length in stride(from: 62, to: database.count, by: 61) {
            let (_, reports) = try await check(Array(database.prefix(length)), "behind \(length) bytes")
            #expect(!reports.isEmpty, "behind \(length) bytes")
        }
        // Of nothing it is not known that it was something.
        #expect(try await SQLiteRecordStore.contents(of: try place([], "nothing"), limits: limits) == [:])
    }

    @Test func aPartThatIsOverwrittenGivesNothingWrong() async throws {
        let database = try await wholeDatabase()
        let seed = UInt64.random(in: 0 ... .max)
        var random = SplitMix64(seed: seed)
        for _ in 0..<100 {
            var bytes = database
            let start = Int.random(in: 0..<bytes.count, using: &random)
            for index in start..<min(bytes.count, start + Int.random(in: 1...700, using: &random)) {
                bytes[index] = UInt8.random(in: 0...255, using: &random)
            }
            let url = try place(bytes, "overwritten")
            let store = SQLiteRecordStore.opened(url, limits: limits)
            for (key, found) in try await store.contents() {
                #expect(expected[key] == found, "The seed is \(seed).")
                #expect(try await store.record(for: key)?.bytes == found, "The seed is \(seed).")
            }
            await store.close()
            try FileManager.default.removeItem(at: url)
        }
    }

    @Test func whatIsNoDatabaseIsSetAsideAndTwoOfThemAreKept() async throws {
        let url = directory.url.appending(path: "nonsense")
        for round in 0..<4 {
            try? FileManager.default.removeItem(at: url.appending(path: "records"))
            let bytes = [UInt8](repeating: UInt8(round), count: 10_000)
            _ = try place(bytes, "nonsense")
            let reports = RecordDamageReports()
            #expect(try await SQLiteRecordStore.contents(of: url, limits: limits, reports: reports) == [:])
            let path = try #require(reports.all.first?.path)
            #expect(Array(try Data(contentsOf: URL(filePath: path + "/database.sqlite"))) == bytes)
        }
        let kept = try FileManager.default.contentsOfDirectory(
            atPath: url.appending(path: "damaged/databases").path(percentEncoded: false)
        )
        #expect(Set(kept) == ["3", "4"])
    }

    @Test func aDamagedRecordIsReportedWithItsKeyAndItsBytes() async throws {
        var database = try await wholeDatabase()
        let value = try #require(expected[["more", "7"]])
        let index = try #require(database.indices.first { database[$0...].starts(with: value) })
        database[index] ^= 1
        let url = try place(database, "reported")
        let reports = RecordDamageReports()
        let store = SQLiteRecordStore.opened(url, limits: limits, reports: reports)
        #expect(try await store.record(for: ["more", "7"]) == nil)
        #expect(reports.all.map(\.key) == [["more", "7"]])
        let path = try #require(reports.all.first?.path)
        #expect(Array(try Data(contentsOf: URL(filePath: path))) == [value[0] ^ 1] + value.dropFirst())
        #expect(try await store.contents() == expected.filter { $0.key != ["more", "7"] })
        #expect(reports.all.count == 1)
    }
}
#endif
