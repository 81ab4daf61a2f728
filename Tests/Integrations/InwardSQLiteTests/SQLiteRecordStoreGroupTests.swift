#if SQLite
import Dispatch
import Foundation
import InwardRecordDirectories
import InwardRepositories
import Synchronization
import TestSupport
import Testing

@testable import InwardSQLite

/// Tests of commits that arrive while another one is being flushed.
@Suite(.timeLimit(.minutes(5)))
struct SQLiteRecordStoreGroupTests {
    private let directory: TemporaryDirectory
    private let url: URL

    init() throws {
        directory = try TemporaryDirectory()
        url = directory.url.appending(path: "store")
    }

    /// Stores records while the flush of another commit is held until all tasks have called the store. Returns the number of
    /// flushes after that, and the indices of the records that could not be stored.
    private func keep(
        _ records: [StoredRecord],
        limits: DatabaseLimits = DatabaseLimits(),
        fault: @escaping @Sendable (Int) -> RecordFileFault? = { _ in nil }
    ) async throws -> (flushCount: Int, failed: [Int]) {
        let flushes = Mutex(-1)
        let isHeld = DispatchSemaphore(value: 0)
        let flushing = AsyncStream.makeStream(of: Void.self)
        let store = SQLiteRecordStore.opened(url, limits: limits) { step in
            guard case .flush = step else { return nil }
            let count = flushes.withLock { count in
                count += 1
                return count
            }
            guard count == 0 else { return fault(count) }
            flushing.continuation.finish()
            isHeld.wait()
            return nil
        }
        async let first: Void = store.commit([.keep(StoredRecord([]), ["first"])])
        for await _ in flushing.stream {}
        let failed = await withTaskGroup(of: Int?.self) { group in
            for (index, record) in records.enumerated() {
                let isKept = { @Sendable () async -> Int? in
                    do { try await store.commit([.keep(record, ["all"]), .keep(record, [String(index)])]) } catch {
                        return index
                    }
                    return nil
                }
                // The task calls the store before the next task starts.
                if #available(macOS 26, iOS 26, watchOS 26, tvOS 26, *) {
                    group.addImmediateTask { await isKept() }
                } else {
                    group.addTask { await isKept() }
                }
            }
            isHeld.signal()
            return await group.reduce(into: []) { failed, index in index.map { failed.append($0) } }
        }
        try await first
        await store.close()
        return (flushes.withLock(\.self), failed.sorted())
    }

    @Test func concurrentCommitsShareAFlush() async throws {
        let outcome = try await keep((0..<1_000).map { _ in StoredRecord([1]) })
        #expect(outcome.failed == [])
        #expect(outcome.flushCount < 500)
        #expect(try await SQLiteRecordStore.contents(of: url).count == 1_002)
    }

    @Test func commitThatDoesNotFitDoesNotAffectItsGroup() async throws {
        var records = (0..<64).map { StoredRecord([UInt8($0)]) }
        records[32] = StoredRecord([UInt8](repeating: 1, count: 1_000_000))
        let outcome = try await keep(records, limits: DatabaseLimits(pageCount: 64))
        #expect(outcome.failed == [32])
        // Only this commit was undone, and the others were not made one by one.
        #expect(outcome.flushCount < 16)
        let contents = try await SQLiteRecordStore.contents(of: url)
        #expect(contents.count == 65)
        #expect(contents[["all"]] == [63])
        #expect(contents[["32"]] == nil)
    }

    @Test func groupThatCannotBeFlushedIsRetriedOneByOne() async throws {
        let outcome = try await keep((0..<8).map { StoredRecord([UInt8($0)]) }) { count in
            count == 1 || count == 5 ? RecordFileFault(code: ENOSPC) : nil
        }
        #expect(outcome.failed == [3])
        #expect(outcome.flushCount == 9)
        let contents = try await SQLiteRecordStore.contents(of: url)
        #expect(contents.count == 9)
        #expect(contents[["all"]] == [7])
    }
}
#endif
