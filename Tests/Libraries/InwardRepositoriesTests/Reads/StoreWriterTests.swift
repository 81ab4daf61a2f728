import InwardTesting
import Testing

@testable import InwardRepositories

@Suite(.timeLimit(.minutes(5)))
struct StoreWriterTests {
    private let records = RecordingRecordStore()

    private func change(_ number: Int) -> RecordChange { .keep(StoredRecord([1, 2, 3]), ["posts", String(number)]) }

    @Test func changesAreWrittenInOrderAndFlushed() async throws {
        let writer = StoreWriter(records, under: ["posts"]) { _ in }
        for number in 0..<100 { writer.write([change(number)]) }
        writer.write([.remove(["posts", "0"])])
        await writer.flush()
        #expect(records.commits.flatMap(\.self) == (0..<100).map(change) + [.remove(["posts", "0"])])
        #expect(try await records.record(for: ["posts", "0"]) == nil)
    }

    @Test func overflowingQueueBecomesARemoval() async throws {
        let scheduler = DeterministicScheduler(seed: 7)
        let writer = StoreWriter(records, under: ["posts"], executor: scheduler.executor) { _ in }
        try await records.commit([change(7), .keep(StoredRecord([1]), ["users", "1"])])
        try await scheduler.run { [records] () async throws -> Void in
            writer.write((0...50_000).map { .keep(StoredRecord([]), ["posts", String($0)]) })
            await writer.flush()
            #expect(try await records.records(under: []).map(\.key) == [["users", "1"]])
        }
    }

    /// The queue has room for 32 MiB each time.
    @Test func queueAtItsLimitIsWritten() async throws {
        let writer = StoreWriter(records, under: ["posts"]) { _ in }
        let record = StoredRecord([UInt8](repeating: 0, count: 32 * 1_024 * 1_024))
        for _ in 0..<2 {
            writer.write([.keep(record, ["posts", "1"]), .remove(["posts", "2"])])
            await writer.flush()
        }
        #expect(records.commits.map(\.count) == [2, 2])
        writer.write([.keep(record, ["posts", "1"]), .keep(StoredRecord([1]), ["posts", "2"])])
        await writer.flush()
        #expect(records.commits.last == [.removeAll(["posts"])])
    }

    @Test func changesAfterAnOverflowAreWritten() async throws {
        let scheduler = DeterministicScheduler(seed: 7)
        let writer = StoreWriter(records, under: ["posts"], executor: scheduler.executor) { _ in }
        let record = StoredRecord([UInt8](repeating: 0, count: 32 * 1_024 * 1_024 + 1))
        writer.write([.keep(record, ["posts", "1"])])
        writer.write([change(2)])
        try await scheduler.run { await #expect(writer.flush()) }
        #expect(records.commits == [[.removeAll(["posts"]), change(2)]])
    }

    @Test func cancelledFlushDoesNotWaitAndReturnsFalse() async throws {
        // The store writes nothing while the scheduler does not run.
        let scheduler = DeterministicScheduler(seed: 7)
        let writer = StoreWriter(records, under: ["posts"], executor: scheduler.executor) { _ in }
        writer.write([change(1)])
        let isFlushed = await withTaskGroup { group in
            group.addTask { await writer.flush() }
            group.cancelAll()
            return await group.next()
        }
        #expect(isFlushed == false)
        try await scheduler.run { await #expect(writer.flush()) }
        #expect(records.commits == [[change(1)]])
    }

    @Test func storeIsOutdatedUntilAFailedRemovalSucceeds() async throws {
        let writer = StoreWriter(records, under: ["posts"]) { _ in }
        records.fail(with: RecordStoreError(.full, explanation: "failed"))
        writer.write([change(1)])
        await writer.flush()
        #expect(!writer.isOutdated)
        writer.write([.remove(["posts", "1"])])
        await writer.flush()
        #expect(writer.isOutdated)
        writer.write([change(2)])
        await writer.flush()
        #expect(writer.isOutdated)
        records.fail(with: nil)
        writer.write([change(3)])
        await writer.flush()
        #expect(!writer.isOutdated)
        #expect(records.commits == [[.removeAll(["posts"]), change(3)]])
    }
}
