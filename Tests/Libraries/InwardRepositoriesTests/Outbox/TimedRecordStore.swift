import InwardCore
import InwardRepositories
import Synchronization

/// A store whose commits take as long as a test says, and which remembers what it had after each: what a process finds that is
/// started then.
final class TimedRecordStore: RecordStoreDecorator {
    /// What the store had at a moment.
    typealias Snapshot = [(key: RecordKey, record: StoredRecord)]

    let base: any RecordStore
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

    func commit(_ changes: [RecordChange]) async throws(RecordStoreError) {
        // A commit that has begun is made, also in a cancelled task.
        try? await timer.sleep(for: delay(changes))
        try await base.commit(changes)
        afterCommit((try? await base.records(under: [])) ?? [])
    }
}
