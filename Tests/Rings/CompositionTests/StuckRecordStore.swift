import InwardCore
import InwardRepositories

/// A store that never answers, as if a suspended process held its lock. It honors cancellation.
struct StuckRecordStore: RecordStore {
    func record(for key: RecordKey) async throws(RecordStoreError) -> StoredRecord? { throw await cancellation() }

    func records(
        under key: RecordKey
    ) async throws(RecordStoreError) -> [(key: RecordKey, record: StoredRecord)] { throw await cancellation() }

    func losses(under key: RecordKey) async throws(RecordStoreError) -> RecordLosses { throw await cancellation() }

    func commit(_ changes: [RecordChange]) async throws(RecordStoreError) { throw await cancellation() }

    func claim(_ key: RecordKey) async throws(RecordStoreError) -> RecordClaimResult { throw await cancellation() }

    private func cancellation() async -> RecordStoreError {
        _ = await Promise<Void>().value()
        return RecordStoreError(.cancelled, explanation: "The task was cancelled, or its deadline passed.")
    }
}
