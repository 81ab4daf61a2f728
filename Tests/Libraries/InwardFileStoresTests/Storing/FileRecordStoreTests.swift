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

    @Test func twoAtOneDirectoryLoseNothingAndSeeAllOrNothing() async throws {
        let pair: [RecordKey] = [["pair", "1"], ["pair", "2"]]
        let reports = RecordDamageReports()
        try await withThrowingTaskGroup { group in
            for writer in 0..<4 {
                // Little room for what is of no use, so that the logs are replaced under one another's hands.
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

    @Test func aFullDiskIsToldAndNothingIsLost() async throws {
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
        #expect(error?.explanation.contains("Make room") == true)
        #expect(try await store.contents() == [["before"]: [0]])
        let reports = RecordDamageReports()
        #expect(try await FileRecordStore.opened(url, reports: reports).contents() == [["before"]: [0]])
        // Nothing of it was left behind.
        #expect(reports.all == [])
        isFull.withLock { $0 = false }
        try await store.commit([.keep(StoredRecord([2]), ["behind"])])
        #expect(try await FileRecordStore.opened(url).contents() == [["before"]: [0], ["behind"]: [2]])
    }

    @Test func whereThereIsNoRoomForOneAnotherIsKept() async throws {
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

    @Test(arguments: [EACCES, EPERM, EROFS]) func whatMayNotBeDoneIsDenied(code: Int32) async throws {
        let store = FileRecordStore.opened(url) { step in
            if case .open = step { RecordFileFault(code: code) } else { nil }
        }
        let error = await failure(of: store)
        #expect(error?.reason == .denied)
        #expect(error?.explanation.contains("Let the user") == true)
    }

    @Test(.enabled(if: geteuid() != 0)) func aDirectoryThatMayNotBeWrittenIsDenied() async throws {
        try directory.write("", to: "store/other")
        let path = url.path(percentEncoded: false)
        try FileManager.default.setAttributes([.posixPermissions: 0o500], ofItemAtPath: path)
        let error = await failure(of: FileRecordStore.opened(url))
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: path)
        #expect(error?.reason == .denied)
    }

    @Test(arguments: ["file/store", "file", "link"]) func whatIsNoDirectoryIsSaidNotToBe(path: String) async throws {
        try directory.write("a file", to: "file")
        try directory.link("link", to: "nowhere")
        let error = await failure(of: FileRecordStore.opened(directory.url.appending(path: path)))
        #expect(error?.reason == .unavailable)
        #expect(try directory.contents(of: "file") == "a file")
    }

    @Test func aLinkInTheDirectoryIsNotFollowed() async throws {
        try directory.write("somebody's", to: "other")
        try directory.write("", to: "store/lock")
        try directory.link("store/records", to: "../other")
        let error = await failure(of: FileRecordStore.opened(url))
        #expect(error?.reason == .unavailable)
        #expect(try directory.contents(of: "other") == "somebody's")
    }

    @Test func whatExpiresGoesWhereThereIsNoRoomTheFirstFirst() async throws {
        let store = FileRecordStore.opened(url, byteLimit: 20_000, slack: 4_096)
        let bytes = [UInt8](repeating: 1, count: 1_000)
        try await store.commit([.keep(StoredRecord(bytes), ["stays"])])
        // In an order that is not that of the keys, and of which the last is not the one that was kept last.
        for index in (0..<100).map({ $0 * 37 % 100 }) {
            let expiry = FileRecordStore.testTime.addingTimeInterval(Double(1 + index))
            try await store.commit([.keep(StoredRecord(bytes, expiry: expiry), [String(99 - index)])])
        }
        // What goes, goes behind a commit, before the next.
        try await store.commit([.keep(StoredRecord([]), ["stays", "too"])])
        try await store.commit([.remove(["none"])])
        let kept = try await store.contents()
        #expect(kept[["stays"]] == bytes)
        #expect(kept[["stays", "too"]] == [])
        let expiring = Set(kept.keys.map(\.description).compactMap { Int($0) })
        #expect((10...19).contains(expiring.count))
        // Those that expire last are there, apart from what was let go when they were not yet.
        #expect(Set(0..<8).isSubset(of: expiring))
        let size = try Data(contentsOf: url.appending(path: "records")).count
        #expect(size < 2 * 20_000 + 2 * 4_096)
        #expect(try await FileRecordStore.opened(url).contents() == kept)
    }

    @Test func whatStaysIsNotRefusedForTheLimit() async throws {
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

    @Test func whatHasExpiredLeavesTheFile() async throws {
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

    @Test func aDirectoryThatIsTakenAwayIsMadeAgainAndThatIsTold() async throws {
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

    @Test func itsFilesAreForTheirOwnerAlone() async throws {
        let store = FileRecordStore.opened(url)
        try await store.commit([.keep(StoredRecord([1]), ["a"])])
        for (path, mode) in [("", 0o700), ("records", 0o600), ("lock", 0o600)] {
            let file = url.appending(path: path).path(percentEncoded: false)
            let attributes = try FileManager.default.attributesOfItem(atPath: file)
            #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == mode)
        }
    }

    @Test func whatAnotherHasRemovedIsGoneAlsoWhereItsLogIsNew() async throws {
        let store = FileRecordStore.opened(url, slack: 0)
        let reports = RecordDamageReports()
        let other = FileRecordStore.opened(url, reports: reports)
        try await store.commit([.keep(StoredRecord([1]), ["a"]), .keep(StoredRecord([2]), ["b"])])
        #expect(try await other.contents() == [["a"]: [1], ["b"]: [2]])
        try await store.commit([.remove(["a"])])
        // Until a log takes the place of the old one in which nothing is said of it.
        for _ in 0..<8 { try await store.commit([.keep(StoredRecord([2]), ["b"])]) }
        #expect(try await other.contents() == [["b"]: [2]])
        // It is gone, and not merely no more where it was.
        #expect(reports.all == [])
    }

    @Test func whoReadsDoesNotWaitForWhatIsBeingFlushed() async throws {
        let hasBegun = Mutex(false)
        let read = DispatchSemaphore(value: 0)
        let flushing = AsyncStream.makeStream(of: Void.self)
        let store = FileRecordStore.opened(url) { step in
            guard case .flush = step, hasBegun.withLock(\.self) else { return nil }
            flushing.continuation.finish()
            // So long only where the store is broken.
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

    @Test func manyAtOnceAreFlushedTogether() async throws {
        let flushes = Mutex(0)
        let isWaiting = DispatchSemaphore(value: 0)
        let store = FileRecordStore.opened(url) { step in
            guard case .flush = step else { return nil }
            let count = flushes.withLock { count in
                count += 1
                return count
            }
            // While the first of many is flushed, the others come.
            if count == 1 { isWaiting.wait() }
            return nil
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<1_000 {
                let changes: [RecordChange] = [.keep(StoredRecord([1]), [String(index)])]
                // It asks the store before the next begins.
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
