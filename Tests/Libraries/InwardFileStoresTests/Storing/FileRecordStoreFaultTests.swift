import Foundation
import InwardRecordDirectories
import InwardRepositories
import Synchronization
import TestSupport
import Testing
import Thoroughness

@testable import InwardFileStores

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Tests of failing system calls.
@Suite(.timeLimit(.minutes(10)))
struct FileRecordStoreFaultTests {
    private let directory: TemporaryDirectory
    private let url: URL

    init() throws {
        directory = try TemporaryDirectory()
        url = directory.url.appending(path: "store")
    }

    private var log: URL { url.appending(path: "records") }

    /// Opens a store in which the system call with the given number fails, once.
    private func store(
        _ url: URL,
        failing step: Int,
        with code: Int32,
        counting steps: Counter,
        _ reports: RecordDamageReports
    ) -> FileRecordStore {
        FileRecordStore.opened(url, slack: 0, reports: reports) { _ in
            steps.next() == step ? RecordFileFault(code: code, writtenCount: 50) : nil
        }
    }

    private final class Counter: Sendable {
        private let count = Mutex(0)

        var value: Int { count.withLock(\.self) }

        func next() -> Int {
            count.withLock { count in
                defer { count += 1 }
                return count
            }
        }
    }

    /// Runs a sequence (open, read, commit, rewrite the log, open again) once for each of its system calls, and makes that call
    /// fail with the given error.
    // The sample has an error, and an interruption, after which the call is repeated.
    @Test(arguments: Thoroughness.sample([EIO, ENOMEM, ESTALE, EINTR, ENOSPC], every: 3))
    func singleFailedSystemCallLosesNothing(code: Int32) async throws {
        var (step, hasFailed) = (0, true)
        while hasFailed {
            let url = directory.url.appending(path: "step-\(step)")
            var expected: [RecordKey: [UInt8]] = [:]
            if step % 2 == 0 {
                // Half of the runs start with a log that another store has written.
                try await FileRecordStore.opened(url).commit([.keep(StoredRecord([7]), ["earlier"])])
                expected[["earlier"]] = [7]
            }
            let (steps, reports) = (Counter(), RecordDamageReports())
            for round in 0..<2 {
                let store = store(url, failing: step / 2, with: code, counting: steps, reports)
                for index in 0..<2 {
                    let key: RecordKey = [String(index)]
                    do {
                        try await store.commit([.keep(StoredRecord([UInt8(round), UInt8(index)]), key)])
                        expected[key] = [UInt8(round), UInt8(index)]
                    } catch {
                        #expect(code != EINTR, "at step \(step)")
                    }
                    // The failing call may belong to a read.
                    if let contents = try? await store.contents() {
                        #expect(contents == expected, "at step \(step)")
                    }
                }
            }
            #expect(
                try await FileRecordStore.opened(url, reports: reports).contents() == expected,
                "at step \(step)"
            )
            #expect(reports.all == [], "at step \(step)")
            hasFailed = steps.value > step / 2
            step += Thoroughness.stride(sampling: 9)
        }
        #expect(step > 150)
    }

    @Test(arguments: [EIO, ENOMEM, ESTALE, EACCES, ENOTDIR])
    func logWithUnknownStatusIsNotReplaced(code: Int32) async throws {
        try await FileRecordStore.opened(url).commit([.keep(StoredRecord([1]), ["a"])])
        let bytes = try Data(contentsOf: log)
        let store = FileRecordStore.opened(url) { step in
            step == .status(RecordDirectory.log) ? RecordFileFault(code: code) : nil
        }
        await #expect(throws: RecordStoreError.self) { try await store.record(for: ["a"]) }
        await #expect(throws: RecordStoreError.self) { try await store.commit([.keep(StoredRecord([2]), ["b"])]) }
        #expect(try Data(contentsOf: log) == bytes)
    }

    /// Even if a store believes that there is no log, creating one does not replace the existing one.
    @Test func creatingALogNeverReplacesAnother() async throws {
        try await FileRecordStore.opened(url).commit([.keep(StoredRecord([1]), ["a"])])
        let bytes = try Data(contentsOf: log)
        let store = FileRecordStore.opened(url) { step in
            step == .status(RecordDirectory.log) ? RecordFileFault(code: ENOENT) : nil
        }
        await #expect(throws: RecordStoreError.self) { try await store.commit([.keep(StoredRecord([2]), ["b"])]) }
        #expect(try Data(contentsOf: log) == bytes)
    }

    /// The disk can never read the sector of a record.
    @Test(arguments: [true, false]) func unreadableSectorDoesNotStopTheStore(expires: Bool) async throws {
        let large = [UInt8](repeating: 5, count: 9_000)
        let expiry = expires ? FileRecordStore.testTime.addingTimeInterval(60) : nil
        let first = FileRecordStore.opened(url)
        try await first.commit([.keep(StoredRecord([1]), ["outbox", "1"])])
        try await first.commit([.keep(StoredRecord(large, expiry: expiry), ["large"])])
        try await first.commit([.keep(StoredRecord([2]), ["outbox", "2"])])
        let place = try #require(try Data(contentsOf: log).firstRange(of: Data(large))).lowerBound + 4_000
        let reports = RecordDamageReports()
        let isReplaced = Mutex(false)
        @Sendable func fault(_ step: RecordFileStep) -> RecordFileFault? {
            if step == .rename(RecordDirectory.newLog) { isReplaced.withLock { $0 = true } }
            guard case .read(RecordDirectory.log, let offset, let count) = step, !isReplaced.withLock(\.self),
                (offset..<offset + count).contains(place)
            else { return nil }
            return RecordFileFault(code: EIO)
        }
        let store = FileRecordStore.opened(url, slack: 0, reports: reports, faults: fault)
        #expect(try await store.contents() == [["outbox", "1"]: [1], ["outbox", "2"]: [2]])
        for _ in 0..<8 { try await store.commit([.keep(StoredRecord([3]), ["outbox", "2"])]) }
        #expect(reports.all.map(\.key) == [["large"]])
        let again = FileRecordStore.opened(url)
        #expect(try await again.contents() == [["outbox", "1"]: [1], ["outbox", "2"]: [3]])
        #expect(try await again.losses(under: []) == RecordLosses(keys: expires ? [] : [["large"]]))
        // A tool may be able to read the old log later.
        #expect(try Data(contentsOf: url.appending(path: "damaged/logs/1")).firstRange(of: Data(large)) != nil)
    }

    /// The unreadable commit stored a record that can be fetched again. No other record is affected, and no older version of
    /// the record comes back.
    @Test(arguments: [0, 1 << 20]) func damagedRecordWithAnExpiryIsNotALoss(slack: Int) async throws {
        let expiry = FileRecordStore.testTime.addingTimeInterval(60)
        let first = FileRecordStore.opened(url)
        try await first.commit([.keep(StoredRecord([1]), ["outbox", "1"])])
        try await first.commit([.keep(StoredRecord([1], expiry: expiry), ["list"])])
        let start = try Data(contentsOf: log).count
        try await first.commit([.keep(StoredRecord([2], expiry: expiry), ["list"])])
        let end = try Data(contentsOf: log).count
        try await first.commit([.keep(StoredRecord([2]), ["outbox", "2"])])
        try await first.commit([.keep(StoredRecord([3], expiry: expiry), ["other"])])
        var bytes = try Data(contentsOf: log)
        bytes.replaceSubrange(start..<end, with: [UInt8](repeating: 0xFF, count: end - start))
        try bytes.write(to: log)
        let expected: [RecordKey: [UInt8]] = [["outbox", "1"]: [1], ["outbox", "2"]: [2], ["other"]: [3]]
        for _ in 0..<2 {
            let store = FileRecordStore.opened(url, slack: slack)
            #expect(try await store.contents() == expected)
            #expect(try await store.losses(under: []) == RecordLosses())
        }
    }

    /// The heads of a commit in the middle are unreadable, so its keys are unknown.
    @Test func damageToUnknownKeysIsCounted() async throws {
        let first = FileRecordStore.opened(url)
        try await first.commit([.keep(StoredRecord([1]), ["a"])])
        let start = try Data(contentsOf: log).count
        try await first.commit([.keep(StoredRecord([2]), ["b"])])
        let end = try Data(contentsOf: log).count
        try await first.commit([.keep(StoredRecord([3]), ["c"])])
        #expect(try await first.losses(under: []) == RecordLosses())
        var bytes = try Data(contentsOf: log)
        bytes.replaceSubrange(start..<end, with: [UInt8](repeating: 0xFF, count: end - start))
        try bytes.write(to: log)
        for _ in 0..<2 {
            let store = FileRecordStore.opened(url)
            #expect(try await store.contents() == [["a"]: [1], ["c"]: [3]])
            #expect(try await store.losses(under: ["a"]) == RecordLosses(unknownCount: 1))
        }
    }
}
