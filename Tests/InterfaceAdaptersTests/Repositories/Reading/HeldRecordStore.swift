import InterfaceAdapters
import InwardTesting

/// A store whose answers are held up, each as a test says.
struct HeldRecordStore: RecordStore {
    let base: any RecordStore
    let beforeRecord: @Sendable () async -> Void

    func record(for key: RecordKey) async throws(RecordStoreError) -> StoredRecord? {
        await beforeRecord()
        return try await base.record(for: key)
    }

    func records(
        under key: RecordKey
    ) async throws(RecordStoreError) -> [(key: RecordKey, record: StoredRecord)] {
        try await base.records(under: key)
    }

    func commit(_ changes: [RecordChange]) async throws(RecordStoreError) { try await base.commit(changes) }
}
