import InwardRepositories
import Synchronization
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

struct InMemoryRecordStoreTests {
    @Test func recordsExpireByTheStoresClock() async throws {
        let time = Mutex(Date(timeIntervalSinceReferenceDate: 0))
        let store = InMemoryRecordStore(now: { time.withLock(\.self) })
        let record = StoredRecord([1], expiry: Date(timeIntervalSinceReferenceDate: 10))
        try await store.commit([.keep(record, ["a"])])
        #expect(try await store.record(for: ["a"]) == record)
        time.withLock { $0 = Date(timeIntervalSinceReferenceDate: 10) }
        #expect(try await store.record(for: ["a"]) == nil)
        #expect(try await store.records(under: []).isEmpty)
    }

    /// Returns why work fails if its task is cancelled before it begins, or `nil` if it succeeds.
    private func reason(
        ofCancelled work: @escaping @Sendable () async throws -> Void
    ) async -> RecordStoreError.Reason? {
        await withTaskGroup(of: RecordStoreError.Reason?.self) { group in
            group.cancelAll()
            group.addTask {
                do { try await work() } catch { return (error as? RecordStoreError)?.reason }
                return nil
            }
            return await group.next() ?? nil
        }
    }

    @Test func cancelledTaskGetsAnErrorFromEveryOperation() async throws {
        let store = InMemoryRecordStore()
        #expect(await reason { _ = try await store.record(for: ["a"]) } == .cancelled)
        #expect(await reason { _ = try await store.records(under: []) } == .cancelled)
        #expect(await reason { _ = try await store.losses(under: []) } == .cancelled)
        #expect(await reason { try await store.commit([.keep(StoredRecord([1]), ["a"])]) } == .cancelled)
        #expect(await reason { _ = try await store.claim(["a"]) } == .cancelled)
        #expect(try await store.records(under: []).isEmpty)
    }

    @Test func limitedStoreRefusesMoreThanItHasRoomFor() async throws {
        let store = InMemoryRecordStore(byteLimit: 10_000)
        let record = StoredRecord(Array(repeating: 7, count: 4_000))
        try await store.commit([.keep(record, ["a"]), .keep(record, ["b"])])
        await #expect { try await store.commit([.keep(record, ["c"]), .keep(record, ["d"])]) } throws: {
            ($0 as? RecordStoreError)?.reason == .full
        }
        #expect(try await store.records(under: []).map(\.key) == [["a"], ["b"]])
        // A removal makes room, and so does a replacement by a shorter record.
        try await store.commit([.remove(["a"])])
        try await store.commit([.keep(StoredRecord([1]), ["b"])])
        try await store.commit([.keep(record, ["c"])])
        try await store.commit([.keep(record, ["d"])])
        try await store.commit([.removeAll([])])
        try await store.commit([.keep(record, ["a"]), .keep(record, ["b"])])
    }

    @Test func limitIsForWhatACommitLeaves() async throws {
        let store = InMemoryRecordStore(byteLimit: 10_000)
        let record = StoredRecord(Array(repeating: 7, count: 8_000))
        try await store.commit([.keep(record, ["a", "b"])])
        try await store.commit([.keep(record, ["a", "b"])])
        try await store.commit([.removeAll(["a"]), .keep(record, ["c"])])
        try await store.commit([.keep(record, ["d"]), .keep(record, ["e"]), .removeAll([]), .keep(record, ["f"])])
        try await store.commit([.remove(["f"]), .keep(record, ["g"])])
        await #expect(throws: RecordStoreError.self) { try await store.commit([.keep(record, ["h"])]) }
        #expect(try await store.records(under: []).map(\.key) == [["g"]])
    }

    @Test func limitedStoreRemovesWhatHasExpired() async throws {
        let time = Mutex(Date(timeIntervalSinceReferenceDate: 0))
        let store = InMemoryRecordStore(byteLimit: 10_000, now: { time.withLock(\.self) })
        let record = StoredRecord(
            Array(repeating: 7, count: 8_000),
            expiry: Date(timeIntervalSinceReferenceDate: 10)
        )
        try await store.commit([.keep(record, ["a"])])
        await #expect(throws: RecordStoreError.self) { try await store.commit([.keep(record, ["b"])]) }
        time.withLock { $0 = Date(timeIntervalSinceReferenceDate: 10) }
        try await store.commit([.keep(StoredRecord(record.bytes), ["b"])])
        #expect(try await store.records(under: []).map(\.key) == [["b"]])
    }

    @Test func expiryOfNaNHasPassed() {
        let record = StoredRecord([], expiry: Date(timeIntervalSinceReferenceDate: .nan))
        #expect(record.isExpired(at: .distantPast))
    }
}
