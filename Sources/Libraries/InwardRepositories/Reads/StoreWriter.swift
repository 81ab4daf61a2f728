import InwardCore
import Synchronization

/// Writes the changes of a repository to its store in the background, in order.
///
/// The queue is bounded. If the store is too slow, a single change replaces the queued ones: it removes all of the repository's
/// records, which are then fetched again on demand. If a removal fails, the stored records are outdated, and the repository
/// does not read them until all of them have been removed.
///
/// If instances share the store, fetched records are stored only if no instance has changed anything since the fetch began.
/// Otherwise, an instance that has not heard of a write yet could store what the write has just replaced, for all of them.
final class StoreWriter: Sendable {
    private struct State {
        var changes: [QueuedChange] = []
        var byteCount = 0
        /// The generation of the store's records, or `nil` if it is not known. All fetched records in the queue are of this one.
        var generation: CacheGeneration?
        var isWriting = false
        /// Whether the store still contains records that should have been removed.
        var isOutdated = false
        /// Whether changes may have been stored or lost without being announced.
        var isUnannounced = false
        var waiters: [Promise<Void>] = []

        mutating func forgetGeneration() {
            generation = nil
            changes.removeAll(where: \.isFetched)
            byteCount = changes.byteCount
        }
    }

    private struct Batch {
        let changes: [QueuedChange]
        let generation: CacheGeneration?
        let waiters: [Promise<Void>]
    }

    private static let maximumChanges = 50_000
    private static let maximumBytes = 32 * 1_024 * 1_024

    private let store: any RecordStore
    /// Whether several instances of a service use the store.
    private let isShared: Bool
    /// The store, if several instances of a service use it.
    private let sharedStore: (any SharedRecordStore)?
    private let readings: SingleFlight<RecordKey, CacheGeneration?, Never>
    /// The key prefix of the repository's records.
    private let prefix: RecordKey
    /// Returns the changes that announce that everything under the prefix may have changed, if there are other instances.
    private let announcement: @Sendable () -> [RecordChange]
    private let report: @Sendable (RecordStoreError) -> Void
    private let executor: (any TaskExecutor)?
    private let state = Mutex(State())

    init(
        _ store: any RecordStore,
        under prefix: RecordKey,
        isShared: Bool = false,
        _ sharedStore: (any SharedRecordStore)? = nil,
        announcing announcement: @escaping @Sendable () -> [RecordChange] = { [] },
        executor: (any TaskExecutor)? = nil,
        report: @escaping @Sendable (RecordStoreError) -> Void
    ) {
        self.store = store
        self.isShared = isShared
        self.sharedStore = sharedStore
        readings = SingleFlight(whenAbandoned: .finish, executor: executor)
        self.prefix = prefix
        self.announcement = announcement
        self.executor = executor
        self.report = report
    }

    /// Whether the stored records are outdated and must not be read, because a removal has failed.
    var isOutdated: Bool { state.withLock(\.isOutdated) }

    // MARK: Generations

    /// Returns the generation of the store's records, and whether it had to be read, because it was not known. Returns `nil` if
    /// instances do not share the store, or if it cannot be read.
    func currentGeneration() async -> (generation: CacheGeneration, isRead: Bool)? {
        guard let sharedStore else { return nil }
        if let known = state.withLock(\.generation) { return (known, false) }
        let outcome = await readings.outcome(for: prefix) { [weak self] prefix in
            do throws(RecordStoreError) {
                let read = try await CacheGeneration(of: prefix, in: sharedStore)
                return self?.learn(read)
            } catch {
                self?.report(error)
                return nil
            }
        }
        guard case .fulfilled(.success(let generation?)) = outcome else { return nil }
        return (generation, true)
    }

    /// Sets the generation, unless it is known by now, and returns it.
    private func learn(_ read: CacheGeneration) -> CacheGeneration {
        state.withLock { state in
            let current = state.generation ?? read
            state.generation = current
            return current
        }
    }

    /// Reads the generation again before the next fetch. Call this when anything has changed.
    func forgetGeneration() {
        guard isShared else { return }
        state.withLock { $0.forgetGeneration() }
        readings.detachAll()
    }

    // MARK: Writing

    /// Enqueues changes.
    func write(_ changes: [RecordChange]) {
        enqueue(changes.map { QueuedChange(change: $0, isFetched: false) })
    }

    /// Enqueues changes that store the result of a fetch.
    ///
    /// - Parameters:
    ///   - changes: The changes.
    ///   - generation: The generation before the fetch. If instances share the store, nothing is stored unless it is still the
    ///     current one.
    func keep(_ changes: [RecordChange], fetchedIn generation: CacheGeneration?) {
        enqueue(changes.map { QueuedChange(change: $0, isFetched: isShared) }, ifIn: generation)
    }

    private func enqueue(_ changes: [QueuedChange], ifIn generation: CacheGeneration? = nil) {
        guard let first = changes.first else { return }
        let isFirst = state.withLock { state in
            var changes = changes
            if first.isFetched, generation == nil || generation != state.generation {
                // What is not stored is nevertheless an occasion to repeat what has failed.
                guard state.isOutdated || state.isUnannounced else { return false }
                changes = announcement().map { QueuedChange(change: $0, isFetched: false) }
            }
            state.changes += changes
            state.byteCount += changes.byteCount
            if state.changes.count > Self.maximumChanges || state.byteCount > Self.maximumBytes {
                state.changes = ([.removeAll(prefix)] + announcement())
                    .map { QueuedChange(change: $0, isFetched: false) }
                state.byteCount = 0
            }
            defer { state.isWriting = true }
            return !state.isWriting
        }
        // Unstructured, because readers do not wait for the disk. The task ends when the queue is empty, and closing the
        // repository waits for it. It does not inherit the caller's deadline.
        guard isFirst else { return }
        InteractionID.lifted {
            Deadline.lifted { _ = Task.starting(on: executor) { await self.writeAll() } }
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
            let batch = next()
            let changes = batch.changes.map(\.change)
            // The waiters came after the last changes.
            defer { for waiter in batch.waiters { waiter.fulfill(()) } }
            if changes.isEmpty { return }
            do {
                try await commit(batch)
                if changes.first == .removeAll(prefix) { state.withLock { $0.isOutdated = false } }
            } catch {
                state.withLock { state in
                    if changes.contains(where: \.removesSomething) { state.isOutdated = true }
                    if changes.contains(where: \.announcesSomething) { state.isUnannounced = true }
                }
                report(error)
            }
            if changes.contains(where: \.announcesSomething) { forgetGeneration() }
        }
    }

    /// Commits changes, without those that store fetched records if another instance has changed anything meanwhile.
    private func commit(_ batch: Batch) async throws(RecordStoreError) {
        var changes = batch.changes
        if let sharedStore, let generation = batch.generation, changes.contains(where: \.isFetched) {
            do throws(RecordStoreError) {
                return try await sharedStore.commit(changes.map(\.change), if: [generation.condition(under: prefix)])
            } catch {
                guard error.reason == .conflict else { throw error }
                forgetGeneration()
                changes.removeAll(where: \.isFetched)
            }
        }
        if !changes.isEmpty { try await store.commit(changes.map(\.change)) }
    }

    /// Returns the queued changes and their waiters. If there are no changes, the writer stops.
    private func next() -> Batch {
        state.withLock { state in
            state.isWriting = !state.changes.isEmpty
            defer { (state.changes, state.byteCount, state.waiters) = ([], 0, []) }
            var changes = state.changes
            if state.isWriting {
                if state.isOutdated {
                    changes.insert(QueuedChange(change: .removeAll(prefix), isFetched: false), at: 0)
                }
                if state.isUnannounced {
                    changes += announcement().map { QueuedChange(change: $0, isFetched: false) }
                }
                state.isUnannounced = false
            }
            return Batch(changes: changes, generation: state.generation, waiters: state.waiters)
        }
    }
}

private struct QueuedChange {
    let change: RecordChange
    /// Whether the change stores what was fetched, if instances share the store.
    let isFetched: Bool
}

extension [QueuedChange] {
    /// The number of bytes to store.
    fileprivate var byteCount: Int {
        reduce(0) { sum, queued in
            if case .keep(let record, _) = queued.change { sum + record.bytes.count } else { sum }
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
}
