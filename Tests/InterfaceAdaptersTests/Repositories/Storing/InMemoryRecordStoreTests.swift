import InterfaceAdapters
import Synchronization
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

struct InMemoryRecordStoreTests {
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
