import InterfaceAdapters
import InwardTesting
import Synchronization
import UseCases

/// A store whose commits take as long as a test says, and which remembers what it had after each: what a process finds that is
/// started then.
final class TimedRecordStore: RecordStore {
    /// What the store had at a moment.
    typealias Snapshot = [(key: RecordKey, record: StoredRecord)]

    private let base: any RecordStore
    private let timer: TimerService
    private let delay: @Sendable ([RecordChange]) -> Duration
    private let afterCommit: @Sendable (Snapshot) -> Void

    init(
        _ base: any RecordStore,
        timer: TimerService,
        delay: @escaping @Sendable ([RecordChange]) -> Duration,
        afterCommit: @escaping @Sendable (Snapshot) -> Void
    ) {
        self.base = base
        self.timer = timer
        self.delay = delay
        self.afterCommit = afterCommit
    }

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
        // A commit that has begun is made, also in a cancelled task.
        try? await timer.sleep(for: delay(changes))
        try await base.commit(changes)
        afterCommit((try? await base.records(under: [])) ?? [])
    }

    func claim(_ key: RecordKey) async throws(RecordStoreError) -> RecordClaimResult { try await base.claim(key) }
}
