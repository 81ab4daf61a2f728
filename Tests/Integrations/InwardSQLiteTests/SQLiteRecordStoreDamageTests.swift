#if SQLite
import Foundation
import InwardRecordDirectories
import InwardRepositories
import InwardTesting
import TestSupport
import Testing
import Thoroughness

@testable import InwardSQLite

/// Tests of damaged databases without a log.
@Suite(.timeLimit(.minutes(60)))
struct SQLiteRecordStoreDamageTests {
    private static let database = "records/database.sqlite"

    private let limits = DatabaseLimits(pageSize: 512, isFlushed: false)
    private let directory: TemporaryDirectory
    private let history = RecordHistory()
    /// The expected records: the history, and further records, so that the database has pages of every kind.
    private let expected: [RecordKey: [UInt8]]

    init() throws {
        directory = try TemporaryDirectory()
        var expected = history.last
        for index in 0..<12 { expected[["more", String(index)]] = [UInt8](repeating: UInt8(index), count: 30) }
        expected[["long"]] = [UInt8](0..<250) + [UInt8](0..<250)
        self.expected = expected
    }

    /// Returns the bytes of a database without a log, with small pages.
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

    @Test func logThatAnotherConnectionRemovesIsNotDamaged() throws {
        let url = directory.url.appending(path: "removed")
        let records = url.appending(path: "records", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: records, withIntermediateDirectories: true)
        let log = records.appending(path: "database.sqlite-wal")
        func damage(_ faults: @escaping RecordFileFault.Source) throws(RecordStoreError) -> Int? {
            try DatabaseFiles(directory: RecordDirectory(url: url, faults: faults)).damagedLog()?.byteCount
        }
        try Data(repeating: 7, count: 100).write(to: log)
        #expect(try damage { _ in nil } == 100)
        #expect(throws: RecordStoreError.self) {
            try damage { $0 == .open("database.sqlite-wal") ? RecordFileFault(code: EACCES) : nil }
        }
        let damageOfRemoved = try damage { step in
            if step == .open("database.sqlite-wal") { try? FileManager.default.removeItem(at: log) }
            return nil
        }
        #expect(damageOfRemoved == nil)
    }

    /// Creates a directory that contains the given database.
    private func place(_ bytes: [UInt8], _ name: String) throws -> URL {
        let url = directory.url.appending(path: name)
        let records = url.appending(path: "records")
        try FileManager.default.createDirectory(at: records, withIntermediateDirectories: true)
        try Data(bytes).write(to: url.appending(path: Self.database))
        return url
    }

    /// Checks that a store with this database returns no wrong records, and accepts commits afterwards. Returns the number of
    /// lost records, and the reports.
    private func check(_ bytes: [UInt8], _ comment: Comment) async throws -> (lost: Int, reports: [RecordDamage]) {
        let url = try place(bytes, "changed")
        defer { try? FileManager.default.removeItem(at: url) }
        let reports = RecordDamageReports()
        let store = SQLiteRecordStore.opened(url, limits: limits, reports: reports)
        // Damage in one place must not prevent changes elsewhere.
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
        // Reported damage has been repaired.
        let again = RecordDamageReports()
        #expect(try await SQLiteRecordStore.contents(of: url, limits: limits, reports: again) == contents, comment)
        #expect(again.all == [], comment)
        return (lost, reports.all)
    }

    @Test(arguments: [0xFF, 0x01] as [UInt8]) func changedByteNeverCausesAWrongAnswer(mask: UInt8) async throws {
        let database = try await wholeDatabase()
        #expect(database.count >= 8 * 512)
        var (lostCounts, reportCount) = ([Int](), 0)
        // An exhaustive run takes minutes, so a plain run takes a sample.
        let indices = database.indices.filter { Thoroughness.isExhaustive || $0 % 23 == 0 }
        for index in indices {
            var bytes = database
            bytes[index] ^= mask
            let (lost, reports) = try await check(bytes, "after a change of byte \(index)")
            lostCounts.append(lost)
            reportCount += reports.isEmpty ? 0 : 1
            // Unreported losses are allowed only if the damage is in the counters at the start of a page.
            if lost > 0, reports.isEmpty { #expect(index % 512 < 12, "after a change of byte \(index)") }
        }
        // The other bytes are unused.
        #expect(reportCount > indices.count / 4)
        // Most changes cost at most one record.
        #expect(lostCounts.count { $0 <= 1 } > indices.count * 3 / 4)
    }

    /// A search compares keys, so a damaged key can mislead it.
    @Test func damagedKeyDoesNotHideAdjacentRecords() async throws {
        let database = try await wholeDatabase()
        for key in expected.keys where !key.components.isEmpty {
            let encoded = key.encoded
            for index in database.indices.dropLast(encoded.count)
            where database[index...].starts(with: encoded) {
                for byte in [0x01, 0xFF] as [UInt8] {
                    var bytes = database
                    bytes[index] = byte
                    let (lost, reports) = try await check(bytes, "after a change of the key \(key)")
                    // A damaged key in the expiry index may go unnoticed and costs nothing.
                    #expect(lost == 0 || lost == 1 && !reports.isEmpty, "after a change of the key \(key)")
                }
            }
        }
    }

    @Test func truncatedDatabaseReturnsNoWrongRecords() async throws {
        let database = try await wholeDatabase()
        for length in stride(from: 62, to: database.count, by: 61) {
            let (_, reports) = try await check(Array(database.prefix(length)), "truncated to \(length) bytes")
            #expect(!reports.isEmpty, "truncated to \(length) bytes")
        }
        // An empty file does not show that it had contents.
        #expect(try await SQLiteRecordStore.contents(of: try place([], "nothing"), limits: limits) == [:])
    }

    @Test func overwrittenPartReturnsNoWrongRecords() async throws {
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

    @Test func fileThatIsNotADatabaseIsSetAsideAndTheLastTwoAreKept() async throws {
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

    @Test func damagedRecordIsReportedWithItsKeyAndBytes() async throws {
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
