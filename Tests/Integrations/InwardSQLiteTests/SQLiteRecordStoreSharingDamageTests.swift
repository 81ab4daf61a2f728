#if SQLite
import Foundation
import GRDB
import InwardRecordDirectories
import InwardRepositories
import InwardTransfers
import Synchronization
import TestSupport
import Testing
import Thoroughness

@testable import InwardSQLite

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Tests of versions and leases in databases that are old, damaged, or left behind by a process that ended.
@Suite(.timeLimit(.minutes(30)))
struct SQLiteRecordStoreSharingDamageTests {
    private static let database = "records/database.sqlite"

    private let limits = DatabaseLimits(pageSize: 512, isFlushed: false)
    private let directory: TemporaryDirectory
    private let url: URL

    init() throws {
        directory = try TemporaryDirectory()
        url = directory.url.appending(path: "store")
    }

    /// Changes the database with SQL, while no store has it open.
    private func execute(_ sql: String, arguments: StatementArguments = []) throws {
        let queue = try DatabaseQueue(path: url.appending(path: Self.database).path(percentEncoded: false))
        try queue.write { try $0.execute(sql: sql, arguments: arguments) }
        try queue.close()
    }

    /// Creates a directory that contains the given database and its log.
    private func place(_ bytes: [UInt8], log: [UInt8]? = nil) throws -> URL {
        let url = directory.url.appending(path: "placed")
        try? FileManager.default.removeItem(at: url)
        let records = url.appending(path: "records")
        try FileManager.default.createDirectory(at: records, withIntermediateDirectories: true)
        try Data(bytes).write(to: url.appending(path: Self.database))
        if let log { try Data(log).write(to: url.appending(path: Self.database + "-wal")) }
        return url
    }

    // MARK: Older programs

    /// Creates a database as an older program writes it.
    private func createOldDatabase(_ records: [(RecordKey, StoredRecord)]) throws {
        let old = RecordSchema(migrations: Array(RecordSchema.current.migrations.prefix(2)))
        let path = url.appending(path: Self.database).path(percentEncoded: false)
        let parent = url.appending(path: "records")
        try FileManager.default.createDirectory(at: parent, withIntermediateDirectories: true)
        try Data().write(to: url.appending(path: Self.database))
        let writer = try DatabaseConnections.writer(path, schema: old, limits: limits)
        try writer.write { database in
            var total = 0
            for (key, record) in records {
                func bytes(of number: Int64) -> [UInt8] {
                    (0..<8).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
                }
                let expiry = record.expiry?.orderedBits
                let valueChecksum = Int64(bitPattern: Checksum(of: record.bytes.span).value)
                let checked = key.encoded + [expiry == nil ? 0 : 1] + bytes(of: expiry ?? 0) + bytes(of: valueChecksum)
                let checksum = Int64(bitPattern: Checksum(of: checked.span).value)
                total += key.encoded.count + record.bytes.count + 32
                try database.execute(
                    sql: "INSERT INTO records VALUES (?, ?, ?, ?, ?)",
                    arguments: [Data(key.encoded), expiry, checksum, valueChecksum, Data(record.bytes)]
                )
            }
            try database.execute(sql: "UPDATE total SET byteCount = ?, inverse = ?", arguments: [total, -total])
        }
        try writer.close()
    }

    @Test func olderProgramThatHasTheDatabaseOpenDoesNotFindTheRecords() async throws {
        try createOldDatabase([(["a"], StoredRecord([1]))])
        let old = try DatabaseQueue(path: url.appending(path: Self.database).path(percentEncoded: false))
        let reading = "SELECT value FROM records"
        #expect(try await old.read { try Data.fetchAll($0, sql: reading) } == [Data([1])])
        let store = SQLiteRecordStore.opened(url, limits: limits, reports: RecordDamageReports())
        _ = try await store.keep(2, ["b"])
        let error = await #expect(throws: DatabaseError.self) {
            try await old.read { try Data.fetchAll($0, sql: reading) }
        }
        #expect(error?.resultCode == .SQLITE_ERROR)
        await store.close()
    }

    @Test func recordsOfAnOlderProgramHaveTheVersionZeroAndAreFree() async throws {
        let expiry = SQLiteRecordStore.testTime.addingTimeInterval(1_000)
        try createOldDatabase([(["b"], StoredRecord([2], expiry: expiry)), (["a"], StoredRecord([1]))])
        let (reports, clock) = (RecordDamageReports(), RecordClock())
        let store = SQLiteRecordStore.opened(url, limits: limits, reports: reports, now: { clock.time })
        let snapshots = try await store.snapshots(for: [["a"], ["b"]])
        #expect(snapshots.map { $0?.version } == [RecordVersion(0), RecordVersion(0)])
        #expect(snapshots.map { $0?.record } == [StoredRecord([1]), StoredRecord([2], expiry: expiry)])
        #expect(try await store.keep(3, ["0"]) > 0)
        // The old records have been free since the beginning, and the new one since it was created.
        clock.advance(by: 1)
        let leases = try await store.lease(under: [], limit: 2, for: .seconds(60))
        #expect(leases.map(\.lease.key) == [["a"], ["b"]])
        #expect(leases.allSatisfy { $0.lease.token > 0 && $0.snapshot.version == RecordVersion(0) })
        await store.close()
        let again = SQLiteRecordStore.opened(url, limits: limits, reports: reports, now: { clock.time })
        #expect(try await again.leaseOne()?.key == ["0"])
        try await again.commit(
            [.keep(StoredRecord([4]), ["a"])],
            if: [.hasVersion(RecordVersion(0), ["a"]), .isLeased(leases[0].lease)]
        )
        #expect(try #require(try await again.snapshot(for: ["a"])).version.number > leases[1].lease.token)
        #expect(reports.all == [])
    }

    @Test func damagedDatabaseOfAnOlderProgramKeepsItsRecords() async throws {
        try createOldDatabase([(["a"], StoredRecord([1])), (["b"], StoredRecord([2]))])
        try execute("CREATE TABLE strangers (number INTEGER)")
        let reports = RecordDamageReports()
        let store = SQLiteRecordStore.opened(url, limits: limits, reports: reports)
        #expect(try await store.contents() == [["a"]: [1], ["b"]: [2]])
        #expect(try await store.snapshot(for: ["a"])?.version == RecordVersion(0))
        #expect(reports.all.count == 1)
    }

    /// The schema is compared with the text in the database, so it must be the same on every system.
    @Test func schemaIsTheSameEverywhere() async throws {
        #expect(RecordSchema.current.migrations.count == 3)
        #expect(RecordHeader.beginning == -4_768_577_294_404_943_873)
    }

    // MARK: Damage

    /// The records with their versions, and the numbers that were handed out.
    private struct Expectation {
        var versions: [RecordKey: [UInt64: [UInt8]]] = [:]
        var outdated: [RecordLease] = []
        var numbers: [UInt64] = []
    }

    /// Writes a database with versions and leases.
    private func write(_ store: SQLiteRecordStore) async throws -> Expectation {
        var expected = Expectation()
        for round in 0..<3 as Range<UInt8> {
            for key in [["a"], ["b", "1"], ["b", "2"]] as [RecordKey] {
                let byte = round * 16 + UInt8(key.components.count)
                let version = try await store.keep(byte, key)
                expected.versions[key, default: [:]][version] = [byte]
                expected.numbers.append(version)
            }
            let lease = try #require(try await store.leaseOne(under: ["b"], for: 1_000))
            expected.numbers.append(lease.token)
            if round == 1 {
                #expect(try await store.extend(lease, for: .zero))
                try await store.commit([.remove(lease.key)])
                expected.outdated.append(lease)
            }
        }
        return expected
    }

    /// Checks the versions and the numbers of a damaged database.
    private func check(_ url: URL, _ expected: Expectation, _ comment: Comment) async throws {
        let store = SQLiteRecordStore.opened(url, limits: limits)
        for (key, versions) in expected.versions {
            guard let snapshot = try await store.snapshot(for: key) else { continue }
            #expect(versions[snapshot.version.number] == snapshot.record.bytes, comment)
        }
        for lease in expected.outdated { #expect(try await !store.extend(lease, for: .seconds(1)), comment) }
        let number = try await store.keep(1, ["new"])
        #expect(expected.numbers.allSatisfy { $0 < number }, comment)
        #expect(try #require(try await store.leaseOne(under: ["new"])?.token) > number, comment)
        await store.close()
    }

    @Test(arguments: [0xFF, 0x01] as [UInt8])
    func changedByteNeverCausesAWrongVersionOrAnOldNumber(mask: UInt8) async throws {
        let store = SQLiteRecordStore.opened(url, limits: limits)
        let expected = try await write(store)
        await store.close()
        let database = Array(try Data(contentsOf: url.appending(path: Self.database)))
        for index in database.indices where Thoroughness.isExhaustive || index % 29 == 0 {
            var bytes = database
            bytes[index] ^= mask
            // The counters at the start of a page can hide its rows, including that of the numbers.
            if index % 512 < 12 { continue }
            try await check(try place(bytes), expected, "after a change of byte \(index)")
        }
    }

    /// A process that was killed, or a power failure, leaves a part of the log.
    @Test func incompleteLogDoesNotSetTheCounterBack() async throws {
        let store = SQLiteRecordStore.opened(url, limits: limits)
        let expected = try await write(store)
        // The store is still open, so its commits are in the log only.
        let database = Array(try Data(contentsOf: url.appending(path: Self.database)))
        let log = Array(try Data(contentsOf: url.appending(path: Self.database + "-wal")))
        let frame = 512 + 24
        #expect(log.count > 20 * frame)
        for end in stride(from: 32 + frame, through: log.count, by: Thoroughness.isExhaustive ? frame : 5 * frame) {
            let comment: Comment = "damaged before \(end)"
            var damaged = log
            damaged[end - 30] ^= 1
            var rest = expected
            // The outdated lease can be the last one again, as long as nobody leases the record.
            rest.outdated = []
            try await check(try place(database, log: damaged), rest, comment)
            try await check(try place(database, log: Array(log.prefix(end - 30))), rest, comment)
        }
        await store.close()
    }

    @Test(arguments: ["last = 0", "inverse = 0", "last = 'x'", "last = NULL", "last = -5, inverse = 5"])
    func damagedCounterIsNotUsed(change: String) async throws {
        let store = SQLiteRecordStore.opened(url, limits: limits)
        let expected = try await write(store)
        let contents = try await store.contents()
        let lease = try #require(try await store.leaseOne(under: ["a"]))
        await store.close()
        do { try execute("UPDATE numbers SET \(change)") } catch {
            // The database does not accept `NULL`.
            try execute("DELETE FROM numbers")
        }
        let reports = RecordDamageReports()
        let damaged = SQLiteRecordStore.opened(url, limits: limits, reports: reports)
        let number = try await damaged.keep(9, ["new"])
        #expect((expected.numbers + [lease.token]).allSatisfy { $0 < number })
        #expect(reports.all.count == 1)
        // Records, versions and leases were copied to the new database.
        #expect(try await damaged.contents() == contents.merging([["new"]: [9]]) { $1 })
        for key in contents.keys {
            let snapshot = try #require(try await damaged.snapshot(for: key))
            #expect(expected.versions[key]?[snapshot.version.number] == snapshot.record.bytes)
        }
        try await damaged.commit([], if: [.isLeased(lease)])
        #expect(try await damaged.leaseOne(under: ["a"]) == nil)
    }

    @Test(
        arguments: [
            "version = version - 1", "version = 0, token = 0", "token = 0", "freeSince = 0", "token = 'x'",
            "version = -1",
        ]
    )
    func damagedStampIsNotUsed(change: String) async throws {
        for action in 0..<5 {
            try? FileManager.default.removeItem(at: url)
            let store = SQLiteRecordStore.opened(url, limits: limits)
            let version = try await store.keep(1, ["a"])
            let lease = try #require(try await store.leaseOne())
            _ = try await store.keep(1, ["b"])
            await store.close()
            try execute(
                "UPDATE stampedRecords SET \(change) WHERE key = ?",
                arguments: [Data(RecordKey(["a"]).encoded)]
            )
            let reports = RecordDamageReports()
            let damaged = SQLiteRecordStore.opened(url, limits: limits, reports: reports)
            switch action {
            case 0: #expect(try await damaged.snapshots(for: [["a"]]) == [nil])
            case 1: #expect(try await damaged.lease(under: [], limit: 9, for: .seconds(1)).map(\.lease.key) == [["b"]])
            case 2: #expect(try await !damaged.extend(lease, for: .seconds(1)))
            case 3: try await damaged.commit([], if: [.isAbsent(["a"])])
            default:
                for condition in [.isLeased(lease), .hasVersion(RecordVersion(version), ["a"])] as [RecordCondition] {
                    let error = await #expect(throws: RecordStoreError.self) {
                        try await damaged.commit([], if: [condition])
                    }
                    #expect(error?.reason == .conflict)
                }
            }
            #expect(reports.all.map(\.key) == [["a"]], "in action \(action)")
            #expect(try await damaged.keep(1, ["a"]) > lease.token)
            #expect(try await damaged.contents() == [["a"]: [1], ["b"]: [1]])
            await damaged.close()
        }
    }

    // MARK: Crashes

    /// Kills the current process, as the system does when it runs out of memory.
    private static func die() -> Never {
        kill(getpid(), SIGKILL)
        exit(EXIT_FAILURE)
    }

    /// Uses a number in each of several transactions, and kills the process before the flush after the given number of them.
    private static func useNumbersAndDie(_ path: String, count: Int) async throws {
        let flushes = Mutex(0)
        let store = SQLiteRecordStore.opened(URL(filePath: path)) { step in
            guard case .flush = step else { return nil }
            flushes.withLock { $0 += 1 }
            if flushes.withLock(\.self) > count { die() }
            return nil
        }
        for round in 0..<4 {
            try await store.commit([.keep(StoredRecord([1]), [String(round)])])
            _ = try await store.leaseOne(under: [String(round)], for: 1_000)
        }
        die()
    }

    @Test(arguments: 0..<8) func numbersAndLeasesSurviveTheEndOfTheProcess(count: Int) async throws {
        let path = url.path(percentEncoded: false)
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String, count = count as Int] in
            try await Self.useNumbersAndDie(path, count: count)
        }
        let reports = RecordDamageReports()
        let store = SQLiteRecordStore.opened(url, reports: reports)
        for round in 0..<4 {
            let snapshot = try await store.snapshot(for: [String(round)])
            #expect(snapshot?.version == (count > 2 * round ? RecordVersion(UInt64(2 * round + 1)) : nil))
            let lease = RecordLease([String(round)], token: UInt64(2 * round + 2))
            #expect(try await store.extend(lease, for: .seconds(1_000)) == (count > 2 * round + 1))
        }
        #expect(try await store.keep(1, ["new"]) > UInt64(count))
        #expect(reports.all == [])
    }
}
#endif
