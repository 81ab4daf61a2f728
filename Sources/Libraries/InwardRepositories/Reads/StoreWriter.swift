import InwardCore
import Synchronization

/// Writes the changes of a repository to its store in the background, in order.
///
/// The queue is bounded. If the store is too slow, a single change replaces the queued ones: it removes all of the repository's
/// records, which are then fetched again on demand. If a removal fails, the stored records are outdated, and the repository
/// does not read them until all of them have been removed.
final class StoreWriter: Sendable {
    private struct State {
        var changes: [RecordChange] = []
        var byteCount = 0
        var isWriting = false
        /// Whether the store still contains records that should have been removed.
        var isOutdated = false
        /// Whether changes may have been stored or lost without being announced.
        var isUnannounced = false
        var waiters: [Promise<Void>] = []
    }

    private static let maximumChanges = 50_000
    private static let maximumBytes = 32 * 1_024 * 1_024

    private let store: any RecordStore
    /// The key prefix of the repository's records.
    private let prefix: RecordKey
    /// The change that announces that everything under the prefix may have changed, if there are other instances.
    private let announcement: [RecordChange]
    private let report: @Sendable (RecordStoreError) -> Void
    private let executor: (any TaskExecutor)?
    private let state = Mutex(State())

    init(
        _ store: any RecordStore,
        under prefix: RecordKey,
        announcing announcement: [RecordChange] = [],
        executor: (any TaskExecutor)? = nil,
        report: @escaping @Sendable (RecordStoreError) -> Void
    ) {
        self.store = store
        self.prefix = prefix
        self.announcement = announcement
        self.executor = executor
        self.report = report
    }

    /// Whether the stored records are outdated and must not be read, because a removal has failed.
    var isOutdated: Bool { state.withLock(\.isOutdated) }

    /// Enqueues changes.
    func write(_ changes: [RecordChange]) {
        guard !changes.isEmpty else { return }
        let isFirst = state.withLock { state in
            state.changes += changes
            state.byteCount += changes.reduce(0) { $0 + $1.byteCount }
            if state.changes.count > Self.maximumChanges || state.byteCount > Self.maximumBytes {
                state.changes = [.removeAll(prefix)] + announcement
                state.byteCount = 0
            }
            defer { state.isWriting = true }
            return !state.isWriting
        }
        // Unstructured, because readers do not wait for the disk. The task ends when the queue is empty, and closing the
        // repository waits for it. It does not inherit the caller's deadline.
        guard isFirst else { return }
        InteractionID.lifted {
            Deadline.lifted { _ = Task(executorPreference: executor) { await self.writeAll() } }
        }
    }

    /// Waits until the queued changes are written or have failed.
    ///
    /// - Returns: whether all writes have ended. `false` if the task was cancelled or its deadline passed.
    @discardableResult
    func flush() async -> Bool {
        let promise = state.withLock { state -> Promise<Void>? in
            guard state.isWriting else { return nil }
            let promise = Promise<Void>()
            state.waiters.append(promise)
            return promise
        }
        if case .fulfilled = await promise?.value() ?? .fulfilled(()) { return true }
        return false
    }

    private func writeAll() async {
        while true {
            let (changes, waiters) = next()
            if !changes.isEmpty {
                do {
                    try await store.commit(changes)
                    if changes.first == .removeAll(prefix) { state.withLock { $0.isOutdated = false } }
                } catch {
                    state.withLock { state in
                        if changes.contains(where: \.removesSomething) { state.isOutdated = true }
                        if changes.contains(where: \.announcesSomething) { state.isUnannounced = true }
                    }
                    report(error)
                }
            }
            for waiter in waiters { waiter.fulfill(()) }
            if changes.isEmpty { return }
        }
    }

    /// Returns the queued changes and their waiters. If there are no changes, the writer stops.
    private func next() -> (changes: [RecordChange], waiters: [Promise<Void>]) {
        state.withLock { state in
            state.isWriting = !state.changes.isEmpty
            defer { (state.changes, state.byteCount, state.waiters) = ([], 0, []) }
            guard state.isWriting else { return ([], state.waiters) }
            let removal: [RecordChange] = state.isOutdated ? [.removeAll(prefix)] : []
            let announcement = state.isUnannounced ? announcement : []
            state.isUnannounced = false
            return (removal + state.changes + announcement, state.waiters)
        }
    }
}

extension RecordChange {
    /// Whether the change removes records.
    fileprivate var removesSomething: Bool {
        switch self {
        case .keep, .announce: false
        case .remove, .removeAll: true
        }
    }

    /// Whether the change is an announcement.
    fileprivate var announcesSomething: Bool { if case .announce = self { true } else { false } }

    /// The number of bytes to store.
    fileprivate var byteCount: Int { if case .keep(let record, _) = self { record.bytes.count } else { 0 } }
}
