import InwardCore
import Synchronization

/// Makes the changes of a repository in its store, in their order, behind the backs of those who read.
///
/// What nobody waits for must not pile up: where a store is too slow for what is to be kept, all that it has of the repository is
/// removed instead, and fetched anew when it is asked for. So it is where something could not be removed: what the store has of the
/// repository is then not to be trusted until it is empty.
final class StoreWriter: Sendable {
    private struct State {
        var changes: [RecordChange] = []
        var byteCount = 0
        var isWriting = false
        /// Whether the store has something that should not be there any more.
        var isOutdated = false
        var waiters: [Promise<Void>] = []
    }

    private static let maximumChanges = 50_000
    private static let maximumBytes = 32 * 1_024 * 1_024

    private let store: any RecordStore
    /// What every key of the repository begins with.
    private let prefix: RecordKey
    private let report: @Sendable (RecordStoreError) -> Void
    private let executor: (any TaskExecutor)?
    private let state = Mutex(State())

    init(
        _ store: any RecordStore,
        under prefix: RecordKey,
        executor: (any TaskExecutor)? = nil,
        report: @escaping @Sendable (RecordStoreError) -> Void
    ) {
        self.store = store
        self.prefix = prefix
        self.executor = executor
        self.report = report
    }

    /// Whether the store has something that should not be there any more, and so is not to be asked.
    var isOutdated: Bool { state.withLock(\.isOutdated) }

    /// Has changes made soon.
    func write(_ changes: [RecordChange]) {
        guard !changes.isEmpty else { return }
        let isFirst = state.withLock { state in
            state.changes += changes
            state.byteCount += changes.reduce(0) { $0 + $1.byteCount }
            if state.changes.count > Self.maximumChanges || state.byteCount > Self.maximumBytes {
                state.changes = [.removeAll(prefix)]
                state.byteCount = 0
            }
            defer { state.isWriting = true }
            return !state.isWriting
        }
        // Unstructured, because nobody who reads waits for a disk. It ends when there is nothing to write, which whoever closes
        // the repository waits for. It has nothing to do with the deadline of whoever has something written.
        if isFirst { Deadline.lifted { _ = Task(executorPreference: executor) { await self.writeAll() } } }
    }

    /// Waits until the changes of before are made, or have failed.
    ///
    /// - Returns: whether they are; not if the task was cancelled, or its deadline has passed.
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
                    if changes.contains(where: \.removesSomething) { state.withLock { $0.isOutdated = true } }
                    report(error)
                }
            }
            for waiter in waiters { waiter.fulfill(()) }
            if changes.isEmpty { return }
        }
    }

    /// The changes that are to be made now, and who waits for them. It is over if there are no changes.
    private func next() -> (changes: [RecordChange], waiters: [Promise<Void>]) {
        state.withLock { state in
            state.isWriting = !state.changes.isEmpty
            defer { (state.changes, state.byteCount, state.waiters) = ([], 0, []) }
            guard state.isOutdated, state.isWriting else { return (state.changes, state.waiters) }
            return ([.removeAll(prefix)] + state.changes, state.waiters)
        }
    }
}

extension RecordChange {
    /// Whether something is not to be there any more.
    fileprivate var removesSomething: Bool { if case .keep = self { false } else { true } }

    /// How many bytes it has to keep.
    fileprivate var byteCount: Int { if case .keep(let record, _) = self { record.bytes.count } else { 0 } }
}
