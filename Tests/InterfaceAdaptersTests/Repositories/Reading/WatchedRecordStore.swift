import InterfaceAdapters
import InwardTesting

/// A store that tells of each commit before it is made.
struct WatchedRecordStore: RecordStore {
    let base: any RecordStore
    let beforeCommit: @Sendable () -> Void

    func record(for key: RecordKey) async throws(RecordStoreError) -> StoredRecord? { try await base.record(for: key) }

    func records(
        under key: RecordKey
    ) async throws(RecordStoreError) -> [(key: RecordKey, record: StoredRecord)] {
        try await base.records(under: key)
    }

    func losses(under key: RecordKey) async throws(RecordStoreError) -> RecordLosses {
        try await base.losses(under: key)
    }

    func commit(_ changes: [RecordChange]) async throws(RecordStoreError) {
        beforeCommit()
        try await base.commit(changes)
    }

    func claim(_ key: RecordKey) async throws(RecordStoreError) -> RecordClaimResult { try await base.claim(key) }
}
