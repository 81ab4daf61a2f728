import Foundation
import InterfaceAdapters
import InwardTesting
import Synchronization
import Testing

struct InMemoryRecordStoreTests {
    private let failure = RecordStoreError(.full, explanation: "There is no room.")

    @Test func itFailsWhenItIsToldToAndChangesNothingThen() async throws {
        let store = InMemoryRecordStore()
        try await store.commit([.keep(StoredRecord([1]), ["a"])])
        store.fail(with: failure)
        await #expect(throws: failure) { try await store.commit([.remove(["a"])]) }
        await #expect(throws: failure) { try await store.record(for: ["a"]) }
        await #expect(throws: failure) { _ = try await store.records(under: []) }
        store.fail(with: nil)
        #expect(try await store.record(for: ["a"]) == StoredRecord([1]))
        #expect(store.commits == [[.keep(StoredRecord([1]), ["a"])]])
    }

    @Test func recordsExpireByItsClock() async throws {
        let time = Mutex(Date(timeIntervalSinceReferenceDate: 0))
        let store = InMemoryRecordStore(now: { time.withLock(\.self) })
        let record = StoredRecord([1], expiry: Date(timeIntervalSinceReferenceDate: 10))
        try await store.commit([.keep(record, ["a"])])
        #expect(try await store.record(for: ["a"]) == record)
        time.withLock { $0 = Date(timeIntervalSinceReferenceDate: 10) }
        #expect(try await store.record(for: ["a"]) == nil)
        #expect(try await store.records(under: []).isEmpty)
    }

    @Test func aTimeThatIsNoNumberHasPassed() {
        let record = StoredRecord([], expiry: Date(timeIntervalSinceReferenceDate: .nan))
        #expect(record.isExpired(at: .distantPast))
    }
}
