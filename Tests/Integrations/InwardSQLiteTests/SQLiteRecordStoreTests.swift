#if SQLite
import Dispatch
import Foundation
import InwardFileStores
import InwardRecordDirectories
import InwardRepositories
import Synchronization
import TestSupport
import Testing

@testable import InwardSQLite

@Suite(.timeLimit(.minutes(5)))
struct SQLiteRecordStoreTests {
    private let directory: TemporaryDirectory
    private let url: URL

    init() throws {
        directory = try TemporaryDirectory()
        url = directory.url.appending(path: "store")
    }

    @Test func twoStoresShareADirectoryWithoutLosingOrSplittingCommits() async throws {
        let pair: [RecordKey] = [["pair", "1"], ["pair", "2"]]
        let reports = RecordDamageReports()
        try await withThrowingTaskGroup { group in
            for writer in 0..<4 {
                // A short log makes the stores checkpoint it constantly.
                let limits = DatabaseLimits(logLength: 8_192)
                let store = SQLiteRecordStore.opened(url, limits: limits, reports: reports)
                group.addTask {
                    for round in 0..<50 {
                        let record = StoredRecord([UInt8(writer), UInt8(round)])
                        try await store.commit(pair.map { .keep(record, $0) })
                        try await store.commit([.keep(record, ["own", String(writer), String(round)])])
                        let found = try await store.records(under: ["pair"]).map(\.record)
                        #expect(found.count == 2 && found.first == found.last)
                        let own = try await store.records(under: ["own", String(writer)])
                        #expect(own.count == round + 1)
                    }
                }
            }
            try await group.waitForAll()
        }
        let store = SQLiteRecordStore.opened(url, reports: reports)
        #expect(try await store.records(under: ["own"]).count == 200)
        #expect(reports.all == [])
    }

    @Test func removedDirectoryIsCreatedAgain() async throws {
        let store = SQLiteRecordStore.opened(url)
        try await store.commit([.keep(StoredRecord([1]), ["a"])])
        try FileManager.default.removeItem(at: url)
        #expect(try await store.contents() == [:])
        try await store.commit([.keep(StoredRecord([2]), ["b"])])
        #expect(try await SQLiteRecordStore.contents(of: url) == [["b"]: [2]])
    }

    @Test func filesArePrivateToTheOwner() async throws {
        let store = SQLiteRecordStore.opened(url)
        try await store.commit([.keep(StoredRecord([1]), ["a"])])
        let database = "records/database.sqlite"
        for (path, mode) in [
            ("", 0o700), ("lock", 0o600), ("records", 0o700), (database, 0o600), (database + "-wal", 0o600),
            (database + "-shm", 0o600),
        ] {
            let file = url.appending(path: path).path(percentEncoded: false)
            let attributes = try FileManager.default.attributesOfItem(atPath: file)
            #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == mode, "\(path)")
        }
    }

    @Test func closedStoreFinishesEarlierCommitsAndRejectsNewCalls() async throws {
        let isHeld = DispatchSemaphore(value: 0)
        let flushing = AsyncStream.makeStream(of: Void.self)
        let store = SQLiteRecordStore.opened(url) { step in
            guard case .flush = step else { return nil }
            flushing.continuation.finish()
            isHeld.wait()
            return nil
        }
        async let commit: Void = store.commit([.keep(StoredRecord([1]), ["a"])])
        for await _ in flushing.stream {}
        async let closing: Void = store.close()
        isHeld.signal()
        try await commit
        await closing
        let reading = await #expect(throws: RecordStoreError.self) { try await store.record(for: ["a"]) }
        let listing = await #expect(throws: RecordStoreError.self) { try await store.records(under: []) }
        let writing = await #expect(throws: RecordStoreError.self) {
            try await store.commit([.remove(["a"])])
        }
        for error in [reading, listing, writing] { #expect(error?.reason == .closed) }
        await store.close()
        #expect(try await SQLiteRecordStore.contents(of: url) == [["a"]: [1]])
    }

    @Test func startedCommitFinishesDespiteCancellation() async throws {
        let isHeld = DispatchSemaphore(value: 0)
        let flushing = AsyncStream.makeStream(of: Void.self)
        let store = SQLiteRecordStore.opened(url) { step in
            guard case .flush = step else { return nil }
            flushing.continuation.finish()
            isHeld.wait()
            return nil
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await store.commit([.keep(StoredRecord([1]), ["a"])]) }
            for await _ in flushing.stream {}
            group.cancelAll()
            isHeld.signal()
            try await group.waitForAll()
        }
        #expect(try await store.contents() == [["a"]: [1]])
    }

    @Test func readDoesNotWaitForAFlush() async throws {
        let hasBegun = Mutex(false)
        let read = DispatchSemaphore(value: 0)
        let flushing = AsyncStream.makeStream(of: Void.self)
        let store = SQLiteRecordStore.opened(url) { step in
            guard case .flush = step, hasBegun.withLock(\.self) else { return nil }
            flushing.continuation.finish()
            // The test waits for the whole time limit only if the store is broken.
            return read.wait(timeout: .now() + 120) == .success ? nil : RecordFileFault(code: EIO)
        }
        try await store.commit([.keep(StoredRecord([1]), ["a"])])
        hasBegun.withLock { $0 = true }
        async let commit: Void = store.commit([.keep(StoredRecord([2]), ["a"])])
        for await _ in flushing.stream {}
        #expect(try await store.record(for: ["a"])?.bytes == [1])
        read.signal()
        try await commit
        #expect(try await store.record(for: ["a"])?.bytes == [2])
    }

    @Test func emptyKeyAndEmptyRecordAreStored() async throws {
        let store = SQLiteRecordStore.opened(url)
        try await store.commit([.keep(StoredRecord([]), []), .keep(StoredRecord([1]), [""])])
        #expect(try await store.contents() == [[]: [], [""]: [1]])
        try await store.commit([.remove([])])
        #expect(try await store.contents() == [[""]: [1]])
    }

    @Test(arguments: [0.0, -0.0, 800_000_000.125, .infinity, 1e300]) func expiryIsRestoredBitForBit(
        seconds: Double
    ) async throws {
        let store = SQLiteRecordStore.opened(url, now: { .distantPast })
        let expiry = Date(timeIntervalSinceReferenceDate: seconds)
        try await store.commit([.keep(StoredRecord([1], expiry: expiry), ["a"])])
        let found = try await store.record(for: ["a"])?.expiry?.timeIntervalSinceReferenceDate
        #expect(found?.bitPattern == seconds.bitPattern)
    }

    @Test func recordWithANaNExpiryIsNotReturned() async throws {
        let store = SQLiteRecordStore.opened(url, now: { .distantPast })
        let expiry = Date(timeIntervalSinceReferenceDate: .nan)
        try await store.commit([.keep(StoredRecord([1], expiry: expiry), ["a"])])
        #expect(try await store.contents() == [:])
    }

    @Test func fileStoreAndSQLiteStoreRefuseEachOthersDirectory() async throws {
        let (files, database) = (FileRecordStore(directory: url), SQLiteRecordStore.opened(url))
        try await files.commit([.keep(StoredRecord([1]), ["a"])])
        let error = await #expect(throws: RecordStoreError.self) { try await database.record(for: ["a"]) }
        #expect(error?.reason == .unavailable)
        #expect(error?.explanation.contains("Use another directory") == true)
        #expect(try await files.record(for: ["a"])?.bytes == [1])
        let other = directory.url.appending(path: "other")
        try await SQLiteRecordStore.opened(other).commit([.keep(StoredRecord([1]), ["a"])])
        await #expect(throws: RecordStoreError.self) { try await FileRecordStore(directory: other).record(for: ["a"]) }
        #expect(try await SQLiteRecordStore.opened(other).contents() == [["a"]: [1]])
    }
}
#endif
