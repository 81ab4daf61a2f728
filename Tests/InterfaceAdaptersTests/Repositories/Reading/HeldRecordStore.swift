import InterfaceAdapters
import InwardTesting
import UseCases

/// A store whose answers are held up, each as a test says.
struct HeldRecordStore: RecordStore {
    let base: any RecordStore
    /// What happens before an answer, which is ready, is given.
    let departure: @Sendable () async -> Void

    func record(for key: RecordKey) async throws(RecordStoreError) -> StoredRecord? {
        let answer = await Result(awaiting: { () async throws(RecordStoreError) in try await base.record(for: key) })
        await departure()
        return try answer.get()
    }

    func records(
        under key: RecordKey
    ) async throws(RecordStoreError) -> [(key: RecordKey, record: StoredRecord)] {
        try await base.records(under: key)
    }

    func losses(under key: RecordKey) async throws(RecordStoreError) -> RecordLosses {
        try await base.losses(under: key)
    }

    func commit(_ changes: [RecordChange]) async throws(RecordStoreError) { try await base.commit(changes) }

    func claim(_ key: RecordKey) async throws(RecordStoreError) -> RecordClaimResult { try await base.claim(key) }
}
