#if SQLite
import Foundation
import GRDB
import InwardRepositories
import Synchronization
import TestSupport
import Testing

@testable import InwardSQLite

/// Tests which records a store removes because they have expired, or because the store is full.
@Suite(.timeLimit(.minutes(5)))
struct SQLiteRecordStoreLimitTests {
    private let directory: TemporaryDirectory
    private let url: URL

    init() throws {
        directory = try TemporaryDirectory()
        url = directory.url.appending(path: "store")
    }

    /// Returns the stored total, and the total computed from the records.
    private func byteCounts() async throws -> (written: Int, counted: Int) {
        let path = url.appending(path: "records/database.sqlite").path(percentEncoded: false)
        let viewer = try DatabaseConnections.viewer(path)
        defer { try? viewer.close() }
        return try await viewer.read { database in
            let total = RecordTotal(database: database)
            let counted = try Int.fetchOne(
                database,
                sql: "SELECT SUM(length(key) + length(value) + 32) FROM stampedRecords"
            )
            return (try total.byteCount(), counted ?? 0)
        }
    }

    @Test func fullStoreEvictsTheEarliestExpiryFirst() async throws {
        let store = SQLiteRecordStore.opened(url, byteLimit: 20_000)
        let bytes = [UInt8](repeating: 1, count: 1_000)
        try await store.commit([.keep(StoredRecord(bytes), ["stays"])])
        // The order of expiry differs from the order of keys, and the record that expires last is not stored last.
        for index in (0..<100).map({ $0 * 37 % 100 }) {
            let expiry = SQLiteRecordStore.testTime.addingTimeInterval(Double(1 + index))
            try await store.commit([.keep(StoredRecord(bytes, expiry: expiry), [String(99 - index)])])
        }
        try await store.commit([.keep(StoredRecord([]), ["stays", "too"])])
        let kept = try await store.contents()
        #expect(kept[["stays"]] == bytes)
        #expect(kept[["stays", "too"]] == [])
        // Each record takes 1,034 or 1,035 bytes, so there is space for 18 that expire. These are the ones that expire last.
        #expect(Set(kept.keys) == Set((0..<18).map { [String($0)] } + [["stays"], ["stays", "too"]]))
        await store.close()
        let counts = try await byteCounts()
        #expect(counts.written == counts.counted)
        #expect(counts.written <= 20_000)
        #expect(try await SQLiteRecordStore.contents(of: url) == kept)
    }

    @Test func recordWithoutAnExpiryIsStoredBeyondTheLimit() async throws {
        let store = SQLiteRecordStore.opened(url, byteLimit: 100)
        let expiry = SQLiteRecordStore.testTime.addingTimeInterval(10)
        for index in 0..<10 {
            try await store.commit([.keep(StoredRecord([UInt8](repeating: 1, count: 100)), ["stays", String(index)])])
            try await store.commit([.keep(StoredRecord([1], expiry: expiry), ["goes", String(index)])])
        }
        #expect(try await store.records(under: ["stays"]).count == 10)
        #expect(try await store.records(under: ["goes"]).count == 0)
    }

    @Test func storedTotalMatchesTheRecords() async throws {
        let store = SQLiteRecordStore.opened(url)
        let expiry = SQLiteRecordStore.testTime.addingTimeInterval(10)
        try await store.commit((0..<300).map { .keep(StoredRecord([1, 2, 3]), ["many", String($0)]) })
        try await store.commit([
            .keep(StoredRecord([UInt8](repeating: 1, count: 9_000), expiry: expiry), ["many", "7"]),
            .keep(StoredRecord([]), ["many", "8"]), .remove(["many", "9"]), .remove(["many", "none"]),
            .removeAll(["many", "10"]), .keep(StoredRecord([1]), ["é"]), .keep(StoredRecord([1, 2]), ["é"]),
        ])
        try await store.commit([.keep(StoredRecord([4]), ["other"]), .removeAll(["other"]), .removeAll(["none"])])
        await store.close()
        let counts = try await byteCounts()
        #expect(counts.written == counts.counted)
        #expect(counts.written > 9_000)
    }

    @Test func expiredRecordsAreErasedFromTheFile() async throws {
        let time = Mutex(SQLiteRecordStore.testTime)
        let store = SQLiteRecordStore.opened(url, now: { time.withLock(\.self) })
        let expiry = SQLiteRecordStore.testTime.addingTimeInterval(10)
        try await store.commit([.keep(StoredRecord(Array("secret".utf8), expiry: expiry), ["a"])])
        #expect(try await store.record(for: ["a"])?.bytes == Array("secret".utf8))
        time.withLock { $0 = expiry }
        #expect(try await store.record(for: ["a"]) == nil)
        #expect(try await store.contents() == [:])
        try await store.commit([.keep(StoredRecord([]), ["b"])])
        // After closing, the database has no log.
        await store.close()
        let bytes = try Data(contentsOf: url.appending(path: "records/database.sqlite"))
        #expect(bytes.firstRange(of: Data("secret".utf8)) == nil)
    }

    @Test func expiredRecordsAreRemovedInBatches() async throws {
        let time = Mutex(SQLiteRecordStore.testTime)
        let store = SQLiteRecordStore.opened(url, now: { time.withLock(\.self) })
        let expiry = SQLiteRecordStore.testTime.addingTimeInterval(10)
        try await store.commit((0..<600).map { .keep(StoredRecord([1], expiry: expiry), [String($0)]) })
        time.withLock { $0 = expiry }
        for left in [344, 88, 0, 0] {
            try await store.commit([.keep(StoredRecord([]), ["b"])])
            time.withLock { $0 = SQLiteRecordStore.testTime }
            #expect(try await store.contents().count == left + 1)
            time.withLock { $0 = expiry }
        }
    }

    @Test func longLogIsCheckpointed() async throws {
        let store = SQLiteRecordStore.opened(url, limits: DatabaseLimits(logLength: 100_000))
        for index in 0..<100 {
            try await store.commit([.keep(StoredRecord([UInt8](repeating: 1, count: 4_000)), [String(index % 5)])])
        }
        // Each commit is shorter than the difference, and its checkpoint is done before the next one.
        let log = url.appending(path: "records/database.sqlite-wal").path(percentEncoded: false)
        let size = try FileManager.default.attributesOfItem(atPath: log)[.size] as? NSNumber
        #expect((size?.intValue ?? .max) < 200_000)
    }
}
#endif
