#if SQLite
import Foundation
import Infrastructure
import InterfaceAdapters
import Synchronization
import Testing

@testable import InfrastructureSQLite

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// What is found behind a process that did not close its store, and what others do meanwhile.
@Suite(.timeLimit(.minutes(10)))
struct SQLiteRecordStoreCrashTests {
    private static let log = "records/database.sqlite-wal"

    private let limits = DatabaseLimits(pageSize: 512, isFlushed: false)
    private let directory: TemporaryDirectory
    private let history = RecordHistory()

    init() throws {
        directory = try TemporaryDirectory()
    }

    /// Ends the process that it is called in, as the system does where there is no memory.
    private static func die() -> Never {
        kill(getpid(), SIGKILL)
        exit(EXIT_FAILURE)
    }

    /// A directory that a process has left behind that was killed when it had made all commits, each in the log alone.
    private func leftBehind() async throws -> URL {
        let url = directory.url.appending(path: "left")
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = url.path(percentEncoded: false)] in
            let store = SQLiteRecordStore.opened(URL(filePath: path), limits: DatabaseLimits(pageSize: 512))
            for changes in RecordHistory().commits { try await store.commit(changes) }
            Self.die()
        }
        return url
    }

    /// A copy of that, with another log.
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

    @Test(arguments: 0..<7) func aProcessThatIsKilledBeforeACommitIsOnTheDiskHasNotMadeIt(count: Int) async throws {
        let url = directory.url.appending(path: "killed")
        await #expect(processExitsWith: .signal(SIGKILL)) {
            [path = url.path(percentEncoded: false), count] in
            let flushes = Mutex(0)
            let store = SQLiteRecordStore.opened(URL(filePath: path)) { step in
                guard case .flush = step else { return nil }
                let flush = flushes.withLock { flushes in
                    flushes += 1
                    return flushes
                }
                if flush > count { Self.die() }
                return nil
            }
            for changes in RecordHistory().commits { try await store.commit(changes) }
            Self.die()
        }
        let reports = RecordDamageReports()
        #expect(try await SQLiteRecordStore.contents(of: url, reports: reports) == history.states[min(count, 6)])
        #expect(reports.all == [])
    }

    @Test func whatSeveralProcessesKeepIsAllThere() async throws {
        let url = directory.url.appending(path: "shared")
        async let child: Void = #expect(processExitsWith: .signal(SIGKILL)) {
            [path = url.path(percentEncoded: false)] in
            try await Self.keepPairs("child", SQLiteRecordStore.opened(URL(filePath: path), limits: DatabaseLimits(logLength: 20_000)))
            Self.die()
        }
        let reports = RecordDamageReports()
        let store = SQLiteRecordStore.opened(url, limits: DatabaseLimits(logLength: 20_000), reports: reports)
        try await Self.keepPairs("parent", store)
        await child
        #expect(try await store.records(under: ["own", "parent"]).count == 40)
        #expect(try await store.records(under: ["own", "child"]).count == 40)
        #expect(reports.all == [])
    }

    private static func keepPairs(_ name: String, _ store: SQLiteRecordStore) async throws {
        let pair: [RecordKey] = [["pair", "1"], ["pair", "2"]]
        for round in 0..<40 {
            let record = StoredRecord(Array("\(name) \(round)".utf8))
            try await store.commit(pair.map { .keep(record, $0) } + [.keep(record, ["own", name, String(round)])])
            let found = try await store.records(under: ["pair"]).map(\.record)
            guard found.count == 2, found.first == found.last else {
                throw RecordStoreError(.unavailable, explanation: "Two records that are changed together are apart.")
            }
        }
    }

    @Test func aLogThatIsCutShortGivesWhatWasKeptBefore() async throws {
        let url = try await leftBehind()
        let log = Array(try Data(contentsOf: url.appending(path: Self.log)))
        var seen: Set<[RecordKey: [UInt8]]> = []
        let frame = 512 + 24
        let lengths = stride(from: 32, through: log.count, by: frame).flatMap { [$0 - 1, $0, $0 + 1, $0 + 24, $0 + 300] }
        #expect(log.count > 20 * frame)
        for length in [0] + lengths where length <= log.count {
            let copy = try place(Array(log.prefix(length)), of: url)
            let reports = RecordDamageReports()
            let store = SQLiteRecordStore.opened(copy, limits: limits, reports: reports)
            let contents = try await store.contents()
            #expect(history.states.contains(contents), "behind \(length) bytes")
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

    @Test func noByteOfALogThatIsChangedMakesAnythingWrong() async throws {
        let url = try await leftBehind()
        let log = Array(try Data(contentsOf: url.appending(path: Self.log)))
        let frame = 512 + 24
        // All of what says what a frame is, and some of what is in it.
        for index in log.indices where index < 32 || (index - 32) % frame < 24 || index % 40 == 0 {
            var bytes = log
            bytes[index] ^= 0x01
            let copy = try place(bytes, of: url)
            let reports = RecordDamageReports()
            let contents = try await SQLiteRecordStore.contents(of: copy, limits: limits, reports: reports)
            #expect(history.states.contains(contents), "behind a change of the byte \(index)")
            #expect(contents == history.last || !reports.all.isEmpty, "behind a change of the byte \(index)")
            let again = RecordDamageReports()
            #expect(try await SQLiteRecordStore.contents(of: copy, limits: limits, reports: again) == contents)
            #expect(again.all == [])
        }
    }
}
#endif
