import InwardCore
import InwardRepositories

/// A store whose answers are held up, each as a test says.
struct HeldRecordStore: RecordStoreDecorator {
    let base: any RecordStore
    /// What happens before an answer, which is ready, is given.
    let departure: @Sendable () async -> Void

    func record(for key: RecordKey) async throws(RecordStoreError) -> StoredRecord? {
        let answer = await Result(awaiting: { () async throws(RecordStoreError) in try await base.record(for: key) })
        await departure()
        return try answer.get()
    }
}
