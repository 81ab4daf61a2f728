import InwardCore
import InwardRepositories

/// A store that calls a closure before it returns each answer, so that a test can delay it.
struct HeldRecordStore: RecordStoreDecorator {
    let base: any RecordStore
    /// Called before each answer is returned.
    let departure: @Sendable () async -> Void

    func record(for key: RecordKey) async throws(RecordStoreError) -> StoredRecord? {
        let answer = await Result(awaiting: { () async throws(RecordStoreError) in try await base.record(for: key) })
        await departure()
        return try answer.get()
    }
}
