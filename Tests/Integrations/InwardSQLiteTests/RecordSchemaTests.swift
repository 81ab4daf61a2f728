#if SQLite
import Foundation
import GRDB
import InwardRepositories
import TestSupport
import Testing

@testable import InwardSQLite

@Suite(.timeLimit(.minutes(5)))
struct RecordSchemaTests {
    private let directory: TemporaryDirectory
    private let url: URL
    private let later = RecordSchema(
        migrations: RecordSchema.current.migrations + [
            { database in try database.execute(sql: "CREATE TABLE more (number INTEGER NOT NULL)") }
        ]
    )

    init() throws {
        directory = try TemporaryDirectory()
        url = directory.url.appending(path: "store")
    }

    private func keep(_ byte: UInt8, _ key: RecordKey, by schema: RecordSchema) async throws {
        let store = SQLiteRecordStore.opened(url, schema: schema)
        try await store.commit([.keep(StoredRecord([byte]), key)])
        await store.close()
    }

    @Test func writerIsConfiguredToFlushCommitsAndOverwriteRemovedRecords() throws {
        try directory.write("", to: "database")
        let path = directory.url.appending(path: "database").path(percentEncoded: false)
        let writer = try DatabaseConnections.writer(path, schema: .current, limits: DatabaseLimits())
        let names = ["journal_mode", "synchronous", "fullfsync", "checkpoint_fullfsync", "secure_delete"]
        let values = try writer.writeWithoutTransaction { database in
            try names.map { try DatabaseValue.fetchOne(database, sql: "PRAGMA \($0)")?.description }
        }
        // 2 is `FULL`.
        #expect(values == ["\"wal\"", "2", "1", "1", "1"])
    }

    @Test func olderFormatIsMigratedWithoutLoss() async throws {
        try await keep(1, ["a"], by: .current)
        try await keep(2, ["b"], by: later)
        let store = SQLiteRecordStore.opened(url, schema: later)
        #expect(try await store.contents() == [["a"]: [1], ["b"]: [2]])
        await store.close()
        let path = url.appending(path: "records/database.sqlite").path(percentEncoded: false)
        let count = try await DatabaseConnections.viewer(path).read { database in
            try Int.fetchOne(database, sql: "SELECT COUNT(*) FROM more")
        }
        #expect(count == 0)
    }

    @Test func newerFormatIsRefusedAndLeftUnchanged() async throws {
        try await keep(1, ["a"], by: later)
        let database = try Data(contentsOf: url.appending(path: "records/database.sqlite"))
        let reports = RecordDamageReports()
        let store = SQLiteRecordStore.opened(url, reports: reports)
        let reading = await #expect(throws: RecordStoreError.self) { try await store.record(for: ["a"]) }
        let writing = await #expect(throws: RecordStoreError.self) {
            try await store.commit([.removeAll([])])
        }
        await store.close()
        for error in [reading, writing] {
            #expect(error?.reason == .unavailable)
            #expect(error?.explanation.contains("newer version") == true)
        }
        #expect(try Data(contentsOf: url.appending(path: "records/database.sqlite")) == database)
        // Opening the database for the check leaves an empty log.
        #expect(try Data(contentsOf: url.appending(path: "records/database.sqlite-wal")).isEmpty)
        #expect(reports.all == [])
        #expect(try await SQLiteRecordStore.opened(url, schema: later).contents() == [["a"]: [1]])
    }

    @Test func failedMigrationKeepsTheOlderFormat() async throws {
        try await keep(1, ["a"], by: .current)
        let failing = RecordSchema(
            migrations: RecordSchema.current.migrations + [
                { database in
                    try database.execute(sql: "DELETE FROM stampedRecords")
                    try database.execute(sql: "CREATE TABLE more (number INTEGER NOT NULL)")
                    throw RecordStoreError(.full, explanation: "The disk is full.")
                }
            ]
        )
        let error = await #expect(throws: RecordStoreError.self) { try await keep(2, ["b"], by: failing) }
        #expect(error?.reason == .full)
        #expect(try await SQLiteRecordStore.contents(of: url) == [["a"]: [1]])
    }

    @Test func foreignDatabaseIsSetAside() async throws {
        let records = url.appending(path: "records")
        try FileManager.default.createDirectory(at: records, withIntermediateDirectories: true)
        let path = records.appending(path: "database.sqlite").path(percentEncoded: false)
        let foreign = try DatabaseQueue(path: path)
        try await foreign.write { try $0.execute(sql: "CREATE TABLE strangers (number INTEGER)") }
        try foreign.close()
        let reports = RecordDamageReports()
        #expect(try await SQLiteRecordStore.contents(of: url, reports: reports) == [:])
        let place = try #require(reports.all.first?.path)
        let tables = try await DatabaseConnections.viewer(place + "/database.sqlite").read { database in
            try String.fetchAll(database, sql: "SELECT name FROM sqlite_schema")
        }
        #expect(tables == ["strangers"])
    }
}
#endif
