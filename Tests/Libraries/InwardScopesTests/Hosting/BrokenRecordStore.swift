import InwardRepositories

/// A store that fails every call.
struct BrokenRecordStore: RecordStore {
    private static let failure = RecordStoreError(.unavailable, explanation: "The disk is gone.")

    func record(for key: RecordKey) async throws(RecordStoreError) -> StoredRecord? { throw Self.failure }

    func records(under key: RecordKey) async throws(RecordStoreError) -> [(key: RecordKey, record: StoredRecord)] {
        throw Self.failure
    }

    func losses(under key: RecordKey) async throws(RecordStoreError) -> RecordLosses { throw Self.failure }

    func commit(_ changes: [RecordChange]) async throws(RecordStoreError) { throw Self.failure }

    func claim(_ key: RecordKey) async throws(RecordStoreError) -> RecordClaimResult { throw Self.failure }
}
