import InwardCore
import InwardRepositories
import Synchronization

/// A store whose commits take as long as a test says. After each commit, it records the contents that a process would find if
/// it started then.
final class TimedRecordStore: RecordStoreDecorator {
    /// The contents of the store at a moment.
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
        // A commit that has begun is completed, even in a cancelled task.
        try? await timer.sleep(for: delay(changes))
        try await base.commit(changes)
        afterCommit((try? await base.records(under: [])) ?? [])
    }
}
