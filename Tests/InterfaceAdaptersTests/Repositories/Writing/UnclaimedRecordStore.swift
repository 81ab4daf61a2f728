import InterfaceAdapters

/// A store whose claims exclude nobody, as on a file system that does not know locks.
struct UnclaimedRecordStore: RecordStore {
    let base: any RecordStore

    func record(for key: RecordKey) async throws(RecordStoreError) -> StoredRecord? { try await base.record(for: key) }

    func records(
        under key: RecordKey
    ) async throws(RecordStoreError) -> [(key: RecordKey, record: StoredRecord)] {
        try await base.records(under: key)
    }

    func losses(under key: RecordKey) async throws(RecordStoreError) -> RecordLosses {
        try await base.losses(under: key)
    }

    func commit(_ changes: [RecordChange]) async throws(RecordStoreError) { try await base.commit(changes) }

    func claim(_ key: RecordKey) async throws(RecordStoreError) -> RecordClaimResult { .claimed(RecordClaim {}) }
}
