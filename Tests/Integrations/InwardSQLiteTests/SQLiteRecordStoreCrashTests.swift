#if SQLite
import Foundation
import InwardRecordDirectories
import InwardRepositories
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

/// Tests of directories that a killed process has left behind, or that other processes use at the same time.
@Suite(.timeLimit(.minutes(60)))
struct SQLiteRecordStoreCrashTests {
    private static let log = "records/database.sqlite-wal"

    private let limits = DatabaseLimits(pageSize: 512, isFlushed: false)
    private let directory: TemporaryDirectory
    private let history = RecordHistory()

    init() throws {
        directory = try TemporaryDirectory()
    }

    /// Kills the current process, as the system does when it runs out of memory.
    private static func die() -> Never {
        kill(getpid(), SIGKILL)
        exit(EXIT_FAILURE)
    }

    /// Makes commits in the directory at a path, and kills the process after the given number of commits.
    private static func keepAndDie(_ path: String, count: Int, pageSize: Int) async throws {
        let flushes = Mutex(0)
        let limits = DatabaseLimits(pageSize: pageSize)
        let store = SQLiteRecordStore.opened(URL(filePath: path), limits: limits) { step in
            guard case .flush = step else { return nil }
            flushes.withLock { $0 += 1 }
            if flushes.withLock(\.self) > count { die() }
            return nil
        }
        for changes in RecordHistory().commits { try await store.commit(changes) }
        die()
    }

    /// Stores pairs of equal records in the directory at a path.
    private static func keepPairs(_ path: String, _ name: String) async throws {
        let reports = RecordDamageReports()
        let limits = DatabaseLimits(logLength: 20_000)
        let store = SQLiteRecordStore.opened(URL(filePath: path), limits: limits, reports: reports)
        let pair: [RecordKey] = [["pair", "1"], ["pair", "2"]]
        for round in 0..<40 {
            let record = StoredRecord(Array("\(name) \(round)".utf8))
            let changes: [RecordChange] = pair.map { .keep(record, $0) }
            try await store.commit(changes + [.keep(record, ["own", name, String(round)])])
            let found = try await store.records(under: ["pair"]).map(\.record)
            guard found.count == 2, found.first == found.last, reports.all.isEmpty else {
                throw RecordStoreError(.unavailable, explanation: "Two records that are changed together differ.")
            }
        }
    }

    /// Returns a directory that a killed process has left. All of its commits are in the log only.
    private func leftBehind() async throws -> URL {
        let url = directory.url.appending(path: "left")
        let path = url.path(percentEncoded: false)
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
            try await Self.keepAndDie(path, count: 6, pageSize: 512)
        }
        return url
    }

    /// Copies that directory and replaces its log.
    private func place(_ log: [UInt8], of url: URL) throws -> URL {
        let copy = directory.url.appending(path: "copy")
        try? FileManager.default.removeItem(at: copy)
        let records = copy.appending(path: "records")
        try FileManager.default.createDirectory(at: records, withIntermediateDirectories: true)
        let database = "records/database.sqlite"
        try FileManager.default.copyItem(at: url.appending(path: database), to: copy.appending(path: database))
        try Data(log).write(to: copy.appending(path: Self.log))
        return copy
    }

    @Test(arguments: 0..<7) func commitOfAProcessKilledBeforeTheFlushIsUndone(count: Int) async throws {
        let url = directory.url.appending(path: "killed")
        let path = url.path(percentEncoded: false)
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String, count = count as Int] in
            try await Self.keepAndDie(path, count: count, pageSize: 4_096)
        }
        let reports = RecordDamageReports()
        #expect(try await SQLiteRecordStore.contents(of: url, reports: reports) == history.states[count])
        #expect(reports.all == [])
    }

    @Test func commitsOfSeveralProcessesAllSurvive() async throws {
        let url = directory.url.appending(path: "shared")
        let path = url.path(percentEncoded: false)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
                    try await Self.keepPairs(path, "child")
                    Self.die()
                }
            }
            group.addTask { try await Self.keepPairs(path, "parent") }
            try await group.waitForAll()
        }
        let reports = RecordDamageReports()
        let contents = try await SQLiteRecordStore.contents(of: url, reports: reports)
        for name in ["parent", "child"] {
            #expect(contents.keys.count { (["own", name] as RecordKey).contains($0) } == 40)
        }
        #expect(reports.all == [])
    }

    @Test func truncatedLogReturnsTheEarlierRecords() async throws {
        let url = try await leftBehind()
        let log = Array(try Data(contentsOf: url.appending(path: Self.log)))
        var seen: Set<[RecordKey: [UInt8]]> = []
        let frame = 512 + 24
        let lengths = stride(from: 32, through: log.count, by: frame).flatMap { (start: Int) -> [Int] in
            [start - 1, start, start + 1, start + 24, start + 300]
        }
        #expect(log.count > 20 * frame)
        for length in [0] + lengths where length <= log.count {
            let copy = try place(Array(log.prefix(length)), of: url)
            let reports = RecordDamageReports()
            let store = SQLiteRecordStore.opened(copy, limits: limits, reports: reports)
            let contents = try await store.contents()
            #expect(history.states.contains(contents), "truncated to \(length) bytes")
            seen.insert(contents)
            try await store.commit([.keep(StoredRecord([9]), ["new"])])
            await store.close()
            #expect(reports.all.count <= 1)
            let again = RecordDamageReports()
            let expected = contents.merging([["new"]: [9]]) { $1 }
            #expect(try await SQLiteRecordStore.contents(of: copy, limits: limits, reports: again) == expected)
            #expect(again.all == [])
        }
        #expect(seen == Set(history.states))
    }

    @Test func changedByteInTheLogNeverCausesAWrongAnswer() async throws {
        let url = try await leftBehind()
        let log = Array(try Data(contentsOf: url.appending(path: Self.log)))
        let frame = 512 + 24
        // An exhaustive run covers all bytes of the headers, and a sample of the rest.
        for index in log.indices
        where Thoroughness.isExhaustive && (index < 32 || (index - 32) % frame < 24) || index % 67 == 0 {
            var bytes = log
            bytes[index] ^= 0x01
            let copy = try place(bytes, of: url)
            let reports = RecordDamageReports()
            let contents = try await SQLiteRecordStore.contents(of: copy, limits: limits, reports: reports)
            #expect(history.states.contains(contents), "after a change of byte \(index)")
            #expect(contents == history.last || !reports.all.isEmpty, "after a change of byte \(index)")
            let again = RecordDamageReports()
            #expect(try await SQLiteRecordStore.contents(of: copy, limits: limits, reports: again) == contents)
            #expect(again.all == [])
        }
    }
}
#endif
