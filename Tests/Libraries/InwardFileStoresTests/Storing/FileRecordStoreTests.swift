import Dispatch
import Foundation
import InwardRecordDirectories
import InwardRepositories
import Synchronization
import TestSupport
import Testing

@testable import InwardFileStores

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

@Suite(.timeLimit(.minutes(5)))
struct FileRecordStoreTests {
    private let directory: TemporaryDirectory
    private let url: URL

    init() throws {
        directory = try TemporaryDirectory()
        url = directory.url.appending(path: "store")
    }

    private func failure(of store: FileRecordStore) async -> RecordStoreError? {
        await #expect(throws: RecordStoreError.self) { try await store.commit([.keep(StoredRecord([1]), ["a"])]) }
    }

    @Test func twoStoresShareADirectoryWithoutLosingOrSplittingCommits() async throws {
        let pair: [RecordKey] = [["pair", "1"], ["pair", "2"]]
        let reports = RecordDamageReports()
        try await withThrowingTaskGroup { group in
            for writer in 0..<4 {
                // With a small limit for garbage, each store keeps replacing the log that the other one uses.
                let store = FileRecordStore.opened(url, slack: 4_096, reports: reports)
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
        #expect(try await FileRecordStore.opened(url, reports: reports).records(under: ["own"]).count == 200)
        #expect(reports.all == [])
    }

    @Test func fullDiskIsReportedAndLosesNothing() async throws {
        let isFull = Mutex(false)
        let store = FileRecordStore.opened(url) { step in
            guard case .write(_, let count) = step, isFull.withLock(\.self) else { return nil }
            return RecordFileFault(code: ENOSPC, writtenCount: count / 2)
        }
        try await store.commit([.keep(StoredRecord([0]), ["before"])])
        isFull.withLock { $0 = true }
        let error = await failure(of: store)
        #expect(error?.reason == .full)
        #expect(error?.explanation.contains("store/records") == true)
        #expect(error?.explanation.contains("Free some space") == true)
        #expect(try await store.contents() == [["before"]: [0]])
        let reports = RecordDamageReports()
        #expect(try await FileRecordStore.opened(url, reports: reports).contents() == [["before"]: [0]])
        // The failed commit left no trace in the file.
        #expect(reports.all == [])
        isFull.withLock { $0 = false }
        try await store.commit([.keep(StoredRecord([2]), ["after"])])
        #expect(try await FileRecordStore.opened(url).contents() == [["before"]: [0], ["after"]: [2]])
    }

    @Test func commitThatDoesNotFitDoesNotAffectOthers() async throws {
        let store = FileRecordStore.opened(url) { step in
            guard case .write(_, let count) = step, count > 10_000 else { return nil }
            return RecordFileFault(code: ENOSPC)
        }
        let failed = await withTaskGroup(of: Bool.self) { group in
            for index in 0..<64 {
                let record = StoredRecord([UInt8](repeating: 1, count: index == 32 ? 20_000 : 100))
                group.addTask {
                    do { try await store.commit([.keep(record, [String(index)])]) } catch { return true }
                    return false
                }
            }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(failed == 1)
        #expect(try await FileRecordStore.opened(url).contents().count == 63)
    }

    @Test(arguments: [EACCES, EPERM, EROFS]) func missingPermissionIsDenied(code: Int32) async throws {
        let store = FileRecordStore.opened(url) { step in
            if case .open = step { RecordFileFault(code: code) } else { nil }
        }
        let error = await failure(of: store)
        #expect(error?.reason == .denied)
        #expect(error?.explanation.contains("Give the user") == true)
    }

    @Test(.enabled(if: geteuid() != 0)) func readOnlyDirectoryIsDenied() async throws {
        try directory.write("", to: "store/other")
        let path = url.path(percentEncoded: false)
        try FileManager.default.setAttributes([.posixPermissions: 0o500], ofItemAtPath: path)
        let error = await failure(of: FileRecordStore.opened(url))
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: path)
        #expect(error?.reason == .denied)
    }

    @Test(arguments: ["file/store", "file", "link"]) func pathThatIsNotADirectoryIsAnError(path: String) async throws {
        try directory.write("a file", to: "file")
        try directory.link("link", to: "nowhere")
        let error = await failure(of: FileRecordStore.opened(directory.url.appending(path: path)))
        #expect(error?.reason == .unavailable)
        #expect(try directory.contents(of: "file") == "a file")
    }

    @Test func symbolicLinkInTheDirectoryIsNotFollowed() async throws {
        try directory.write("foreign", to: "other")
        try directory.write("", to: "store/lock")
        try directory.link("store/records", to: "../other")
        let error = await failure(of: FileRecordStore.opened(url))
        #expect(error?.reason == .unavailable)
        #expect(try directory.contents(of: "other") == "foreign")
    }

    @Test func fullStoreEvictsTheEarliestExpiryFirst() async throws {
        let store = FileRecordStore.opened(url, byteLimit: 20_000, slack: 4_096)
        let bytes = [UInt8](repeating: 1, count: 1_000)
        try await store.commit([.keep(StoredRecord(bytes), ["stays"])])
        // The order of expiry differs from the order of keys, and the record that expires last is not stored last.
        for index in (0..<100).map({ $0 * 37 % 100 }) {
            let expiry = FileRecordStore.testTime.addingTimeInterval(Double(1 + index))
            try await store.commit([.keep(StoredRecord(bytes, expiry: expiry), [String(99 - index)])])
        }
        // Eviction follows a commit and is done before the next one.
        try await store.commit([.keep(StoredRecord([]), ["stays", "too"])])
        try await store.commit([.remove(["none"])])
        let kept = try await store.contents()
        #expect(kept[["stays"]] == bytes)
        #expect(kept[["stays", "too"]] == [])
        let expiring = Set(kept.keys.map(\.description).compactMap { Int($0) })
        #expect((10...19).contains(expiring.count))
        // The records that expire last remain, except those that were evicted before later ones were stored.
        #expect(Set(0..<8).isSubset(of: expiring))
        let size = try Data(contentsOf: url.appending(path: "records")).count
        #expect(size < 2 * 20_000 + 2 * 4_096)
        #expect(try await FileRecordStore.opened(url).contents() == kept)
    }

    @Test func recordWithoutAnExpiryIsStoredBeyondTheLimit() async throws {
        let store = FileRecordStore.opened(url, byteLimit: 100)
        let expiry = FileRecordStore.testTime.addingTimeInterval(10)
        for index in 0..<10 {
            try await store.commit([.keep(StoredRecord([UInt8](repeating: 1, count: 100)), ["stays", String(index)])])
            try await store.commit([.keep(StoredRecord([1], expiry: expiry), ["goes", String(index)])])
        }
        try await store.commit([.remove(["none"])])
        #expect(try await store.records(under: ["stays"]).count == 10)
        #expect(try await store.records(under: ["goes"]).count == 0)
    }

    @Test func rewriteLeavesOutExpiredRecords() async throws {
        let time = Mutex(FileRecordStore.testTime)
        let store = FileRecordStore(
            directory: url,
            byteLimit: 1 << 20,
            slack: 0,
            now: { time.withLock(\.self) },
            reportDamage: { _ in },
            faults: { _ in nil }
        )
        let expiry = FileRecordStore.testTime.addingTimeInterval(10)
        try await store.commit([.keep(StoredRecord(Array("secret".utf8), expiry: expiry), ["a"])])
        #expect(try await store.record(for: ["a"])?.bytes == Array("secret".utf8))
        time.withLock { $0 = expiry }
        #expect(try await store.record(for: ["a"]) == nil)
        for _ in 0..<8 { try await store.commit([.keep(StoredRecord([]), ["b"])]) }
        #expect(try Data(contentsOf: url.appending(path: "records")).firstRange(of: Data("secret".utf8)) == nil)
    }

    @Test func removedDirectoryIsCreatedAgainAndReported() async throws {
        let reports = RecordDamageReports()
        let store = FileRecordStore.opened(url, reports: reports)
        try await store.commit([.keep(StoredRecord([1]), ["a"])])
        #expect(reports.all == [])
        try FileManager.default.removeItem(at: url)
        #expect(try await store.contents() == [:])
        #expect(reports.all.count == 1)
        #expect(reports.all.first?.description.contains("with 1 records") == true)
        try await store.commit([.keep(StoredRecord([2]), ["b"])])
        #expect(try await FileRecordStore.opened(url).contents() == [["b"]: [2]])
    }

    @Test func filesArePrivateToTheOwner() async throws {
        let store = FileRecordStore.opened(url)
        try await store.commit([.keep(StoredRecord([1]), ["a"])])
        for (path, mode) in [("", 0o700), ("records", 0o600), ("lock", 0o600)] {
            let file = url.appending(path: path).path(percentEncoded: false)
            let attributes = try FileManager.default.attributesOfItem(atPath: file)
            #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == mode)
        }
    }

    @Test func removalByAnotherStoreIsSeenAfterARewrite() async throws {
        let store = FileRecordStore.opened(url, slack: 0)
        let reports = RecordDamageReports()
        let other = FileRecordStore.opened(url, reports: reports)
        try await store.commit([.keep(StoredRecord([1]), ["a"]), .keep(StoredRecord([2]), ["b"])])
        #expect(try await other.contents() == [["a"]: [1], ["b"]: [2]])
        try await store.commit([.remove(["a"])])
        // The commits lead to a rewrite. The new log does not mention the removed record.
        for _ in 0..<8 { try await store.commit([.keep(StoredRecord([2]), ["b"])]) }
        #expect(try await other.contents() == [["b"]: [2]])
        // The missing record does not count as damage.
        #expect(reports.all == [])
    }

    @Test func readDoesNotWaitForAFlush() async throws {
        let hasBegun = Mutex(false)
        let read = DispatchSemaphore(value: 0)
        let flushing = AsyncStream.makeStream(of: Void.self)
        let store = FileRecordStore.opened(url) { step in
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

    @Test func concurrentCommitsShareAFlush() async throws {
        let flushes = Mutex(0)
        let isWaiting = DispatchSemaphore(value: 0)
        let store = FileRecordStore.opened(url) { step in
            guard case .flush = step else { return nil }
            let count = flushes.withLock { count in
                count += 1
                return count
            }
            // While the first commit is being flushed, the other tasks start.
            if count == 1 { isWaiting.wait() }
            return nil
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<1_000 {
                let changes: [RecordChange] = [.keep(StoredRecord([1]), [String(index)])]
                // The task calls the store before the next task starts.
                if #available(macOS 26, iOS 26, watchOS 26, tvOS 26, *) {
                    group.addImmediateTask { try await store.commit(changes) }
                } else {
                    group.addTask { try await store.commit(changes) }
                }
            }
            isWaiting.signal()
            try await group.waitForAll()
        }
        #expect(flushes.withLock(\.self) < 500)
        #expect(try await FileRecordStore.opened(url).contents().count == 1_000)
    }
}
