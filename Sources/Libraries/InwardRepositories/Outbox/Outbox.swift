public import InwardCore
import InwardFetching
import Synchronization

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A durable queue of writes that delivers them to an upstream in the background.
///
/// ```swift
/// let outbox = Outbox(upstream: upstream, store: InMemoryRecordStore(), errorHandler: IgnoringErrorHandler())
/// let comments = Repository(endpoint, upstream: upstream, outbox: outbox)
/// try await outbox.open(handlers: [comments.handler])
/// try await comments.update(7) { $0.body = "Well said." }  // returns when the write is stored
/// ```
///
/// An accepted write is as durable as the store. The outbox sends it, with the same `Idempotency-Key` each time, until the
/// upstream gives a final response, and continues in a later process if necessary. Writes of one subject are delivered one at a
/// time, in the order they were accepted. Writes of different subjects are delivered concurrently. An ``OutboxHandler`` settles
/// the outcome in the commit that removes the write. A final refusal is also reported to the error handler, as a
/// ``RefusedWriteError``.
///
/// **Ownership.** One outbox at a time, among all processes, owns the records under a prefix of a store: from ``open()`` to
/// ``close()``, or until its process ends. Only the owner accepts and delivers writes. Other outboxes can wait for ownership or
/// ask for the ``otherOwner()``, and any process can read ``OutboxContents``. Once handlers have joined it, an outbox opens
/// itself with its next write.
///
/// **Fencing.** Another process can take over if claims do not work on the store's file system. This outbox notices before it
/// sends or changes anything, reports an ``OutboxFencedError``, and opens itself again with its next write. If it was
/// sending a write, the other process may send that write, too, but with the same idempotency key.
public final class Outbox: RepositoryOutbox {
    let upstream: Upstream
    let store: any RecordStore
    /// The store, if it can check the owner as part of a commit.
    let sharedStore: (any SharedRecordStore)?
    let policy: OutboxPolicy
    let timer: TimerService
    let errorHandler: any ErrorHandler
    let observer: (any RepositoryObserver)?
    private let changes = ChangeReport()
    let records: OutboxRecords
    let now: @Sendable () -> Date
    let state: Mutex<OutboxState>
    /// The locks of the subjects whose writes are being accepted or settled.
    let locks = SubjectLocks()
    private let generator: Mutex<any RandomNumberGenerator & Sendable>

    /// Creates an outbox that is not open yet.
    ///
    /// - Parameters:
    ///   - upstream: The upstream to send writes to. Its data fetcher adds the credentials.
    ///   - store: The store that keeps writes until they are done.
    ///   - prefix: The key prefix of the outbox's records. Nothing else may store records under it.
    ///   - policy: The limits on concurrency, waits and storage.
    ///   - timer: The timer service that measures waits and wakes the outbox.
    ///   - now: Returns the current date.
    ///   - generator: The source of randomness for idempotency keys. It must be unpredictable: if somebody else sends a request
    ///     with the same key first, the upstream mistakes the write for a repeat and does not do it.
    ///   - observer: The observer of deliveries, of the outbox's content, and of the store, or `nil` for none.
    ///   - errorHandler: Receives errors that have no caller to throw to. The outbox does not close it.
    public init(
        upstream: Upstream,
        store: any RecordStore,
        prefix: RecordKey = ["outbox"],
        policy: OutboxPolicy = .standard,
        timer: TimerService = .continuous,
        now: @escaping @Sendable () -> Date = { Date() },
        generator: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator(),
        observer: (any RepositoryObserver)? = nil,
        errorHandler: any ErrorHandler
    ) {
        self.upstream = upstream.asked(
            through: upstream.dataFetcher.timingOut(after: policy.attemptLimit, timer: timer)
        )
        self.store = store.observing(with: observer, timer: timer)
        sharedStore = self.store as? any SharedRecordStore
        self.observer = observer
        self.policy = policy
        self.timer = timer
        self.now = now
        self.errorHandler = errorHandler
        records = OutboxRecords(prefix: prefix)
        state = Mutex(OutboxState(policy))
        self.generator = Mutex(generator)
    }

    /// The pending entries that can be read, in the order they were accepted.
    ///
    /// - Complexity: O(n log n) in the number of entries.
    public var pending: [OutboxEntry] {
        // Sorted outside of the lock.
        state.withLock(\.partitions.entries).sorted {
            ($0.sequence, $0.idempotencyKey) < ($1.sequence, $1.idempotencyKey)
        }
    }

    /// Counts of what the outbox has done since it was opened.
    public var counts: OutboxCounts { state.withLock(\.counts) }

    /// Stores writes and changes in one commit, and then delivers the writes in the background.
    ///
    /// ```swift
    /// func rename(_ user: Int, in outbox: Outbox) async throws {
    ///     let body = Array(#"{"name": "Ada"}"#.utf8)
    ///     let path = "users/\(user)"
    ///     try await outbox.accept([
    ///         OutboxWrite(endpoint: "users", subject: ["users", "\(user)"], method: .put, path: path, body: body)
    ///     ])
    /// }
    /// ```
    ///
    /// A ``Repository`` calls this method for you. When it returns, the handlers know of the entries. While another write of
    /// one of the subjects is being accepted or settled, the call waits.
    ///
    /// - Parameters:
    ///   - writes: The writes to deliver. Writes of one subject are delivered in this order.
    ///   - changes: The changes to make in the store in the same commit.
    /// - Returns: the entries of the writes, in the same order.
    /// - Throws: a ``RecordStoreError``. Then nothing was accepted or changed. The reason is `closed` if the outbox is not
    ///   open. It is `full` if a limit on pending writes or dead letters is reached. It is `denied` if a write has no handler,
    ///   is not among the operations that its handler declares, or is too large, or if a change affects the outbox's own
    ///   records. It is `cancelled` if the task was cancelled, or its deadline passed, before the commit began. If the store
    ///   fails, it is the store's reason. Cancelling the task later does not undo the commit.
    @discardableResult
    public func accept(
        _ writes: [OutboxWrite],
        with changes: [RecordChange] = []
    ) async throws(RecordStoreError) -> [OutboxEntry] {
        try await accept(writes, with: changes, whenAccepted: { _ in })
    }

    /// Waits until a write is done at the upstream and settled.
    ///
    /// ```swift
    /// func publish(_ draft: CommentDraft, through outbox: Outbox, _ comments: Repository<Comment>) async throws {
    ///     guard let change = try comments.prepareCreation(of: draft, "the publication of a comment") else { return }
    ///     for entry in try await RecordUnitOfWork(outbox: outbox).entries(committing: [change]) {
    ///         try await outbox.settlement(of: entry)
    ///     }
    /// }
    /// ```
    ///
    /// - Parameter entry: An entry that this outbox has accepted. The outbox remembers its last 1,000 refusals. It finds
    ///   earlier ones as long as their dead letters exist. After that, a refused write is reported as done.
    /// - Throws: a `RepositoryError`: the refusal if the write was refused or discarded. If the outcome is not known yet, the
    ///   reason is `closed` if the outbox was closed or another process has taken over, `cancelled` if the task was cancelled,
    ///   and `unavailable` if its deadline passed or the store cannot be read.
    public func settlement(of entry: OutboxEntry) async throws(RepositoryError) {
        let promise = Promise<OutboxState.Ending>()
        var isSettled = false
        let known = state.withLock { state -> OutboxState.Ending? in
            if let refusal = state.refusal(of: entry) { return .failure(refusal) }
            guard state.partitions.contains(entry) else {
                // Another process has taken over and knows the outcome.
                if [.made, .opening].contains(state.phase) { return .failure(closedError(for: entry)) }
                isSettled = true
                return .success(())
            }
            if state.phase == .closed { return .failure(closedError(for: entry)) }
            state.endWaiters[entry.idempotencyKey, default: []].append(promise)
            return nil
        }
        if isSettled, let refusal = try await refusalInStore(of: entry) { throw refusal }
        if let known { return try known.get() }
        let outcome = await promise.value()
        switch outcome {
        case .fulfilled(let ending): try ending.get()
        case .cancelled:
            forget(promise, of: entry)
            throw error(.cancelled, for: entry, "the wait for it was cancelled")
        case .deadlinePassed:
            forget(promise, of: entry)
            throw error(.unavailable, for: entry, "the deadline passed")
        }
    }

    /// Looks in the store for an entry that is not pending in this outbox. Returns the refusal, `closed` if the entry is
    /// pending in the outbox of another owner, or `nil` if the write was done.
    ///
    /// - Throws: a `RepositoryError` if the store cannot tell.
    private func refusalInStore(of entry: OutboxEntry) async throws(RepositoryError) -> RepositoryError? {
        let name = OutboxEntryName(entry)
        do throws(RecordStoreError) {
            if try await store.record(for: name.key(under: records.entries)) != nil { return closedError(for: entry) }
            guard let record = try await store.record(for: name.key(under: records.dead)) else { return nil }
            let letter = DeadLetterDTO.item(from: record.bytes, named: name)
            return RepositoryError(
                .refused,
                request: request(for: entry).description,
                explanation: "was refused: \(letter.cause ?? "the cause is not known")"
            )
        } catch {
            throw RepositoryError(
                .unavailable,
                request: request(for: entry).description,
                explanation: "is settled, but the store does not say how: \(error.explanation)"
            )
        }
    }

    /// Stops delivery and closes the outbox. Pending writes stay in the store for the next outbox.
    ///
    /// ```swift
    /// func finish(_ outbox: Outbox) async {
    ///     _ = await Deadline(in: .seconds(5)).bound { await outbox.drain() }
    ///     await outbox.close()
    /// }
    /// ```
    ///
    /// Attempts that the upstream has not answered are cancelled, and answered writes are settled. The method returns when this
    /// work has ended and no ``accept(_:with:)`` call is in progress. A second call also waits for this.
    public func close() async {
        end()
        await finishWork()
        tellOfChange()
        let claim = state.withLock { state in
            defer { state.claim = nil }
            return state.claim
        }
        await claim?.release()
        // Handlers are likely to hold a reference to this outbox.
        let handlers = state.withLock { state in
            defer { state.handlers = OutboxHandlers() }
            return state.handlers
        }
        withExtendedLifetime(handlers) {}
    }

    /// Reports the content of the outbox to the observer.
    func tellOfChange() {
        guard let observer else { return }
        changes.tell {
            let isOpen = state.withLock(\.phase) == .open
            observer.outboxChanged(records.prefix, isOpen ? status : nil, at: now())
        }
    }

    /// Stops sending, and cancels the attempts that are not answered yet.
    private func end() {
        tell(of: state.withLock { $0.end(.closed) })
    }

    /// Cancels the tasks, the waiters and the alarm of an outbox that has ended.
    func tell(of ending: OutboxState.End) {
        for task in ending.tasks { task.cancel() }
        if let alarm = ending.alarm { timer.cancel(alarm.timer) }
        for waiter in ending.waiters { waiter.fulfill(.failure(closedError(for: nil))) }
        for waiter in ending.drainWaiters { waiter.fulfill(()) }
    }

    /// Waits until no write is being delivered or accepted.
    func finishWork() async {
        let (tasks, promise) = state.withLock { state -> ([Task<Void, Never>], Promise<Void>?) in
            let promise = state.acceptsUnderWay > 0 ? Promise<Void>() : nil
            if let promise { state.idleWaiters.append(promise) }
            return (Array(state.deliveries.values), promise)
        }
        for task in tasks { await task.value }
        _ = await promise?.value(until: nil)
    }

    /// Returns 128 random bits in hexadecimal digits.
    func randomKey() -> String { generator.withLock { OutboxEntry.randomKey(using: &$0) } }

    private func forget(_ promise: Promise<OutboxState.Ending>, of entry: OutboxEntry) {
        state.withLock { state in
            state.endWaiters[entry.idempotencyKey]?.removeAll { $0 === promise }
            if state.endWaiters[entry.idempotencyKey]?.isEmpty == true { state.endWaiters[entry.idempotencyKey] = nil }
        }
    }

    private func closedError(for entry: OutboxEntry?) -> RepositoryError {
        error(.closed, for: entry, "the outbox was closed")
    }

    private func error(
        _ reason: RepositoryError.Reason,
        for entry: OutboxEntry?,
        _ event: String
    ) -> RepositoryError {
        RepositoryError(
            reason,
            request: entry.map { request(for: $0).description } ?? "The write",
            explanation: "was accepted, but its outcome is not known yet (\(event)); it stays pending"
        )
    }
}

extension Outbox {
    /// Waits until all writes that are pending now are settled, the task's deadline passes, or the task is cancelled.
    ///
    /// ```swift
    /// func drain(_ outbox: Outbox) async {
    ///     let outcome = await Deadline(in: .seconds(5)).bound { await outbox.drain() }
    ///     if outcome == nil { print("\(outbox.status.pendingCount) writes are delivered after the next start.") }
    /// }
    /// ```
    ///
    /// Call it before the program ends. Writes that remain stay pending for the next outbox. The method does not wait for held
    /// writes, because they are not sent.
    ///
    /// - Returns: the number of writes that are still pending, including held ones.
    /// - Complexity: O(n) in the number of writes that are pending now.
    @discardableResult
    public func drain() async -> Int {
        for entry in state.withLock(\.partitions.deliverable) {
            // The store is not asked how settled writes ended.
            guard state.withLock({ $0.partitions.contains(entry) }) else { continue }
            // Wait for the other writes even if this one was refused.
            do { try await settlement(of: entry) } catch {}
        }
        return state.withLock(\.partitions.count)
    }

    /// Waits until no write is being delivered and none is due before a deadline, or until the deadline passes.
    package func drain(by deadline: Deadline) async {
        pump()
        let promise = Promise<Void>()
        let waits = state.withLock { state in
            let now = timer.now
            let end = now + deadline.remaining
            guard !state.isIdle(at: now, until: end) else { return false }
            state.drainWaiters.append((end, promise))
            return true
        }
        guard waits else { return }
        _ = await deadline.bound { await promise.value() }
        state.withLock { $0.drainWaiters.removeAll { $0.promise === promise } }
    }

    /// Opens the outbox if writes are pending, and waits until they are delivered or refused, up to a deadline. Does not wait
    /// for writes that are due later.
    ///
    /// - Parameter deadline: When to stop waiting.
    /// - Returns: the number of writes in the store that are still pending, in this process or another one.
    /// - Throws: a ``RecordStoreError`` if the store cannot be read.
    public func deliver(by deadline: Deadline) async throws(RecordStoreError) -> Int {
        // If the outbox cannot be opened, the writes are counted as pending below.
        _ = await deadline.bound { () async throws(RecordStoreError) in
            if try await self.hasPendingRecords() { try await self.open() }
            await self.drain(by: deadline)
        }
        return try await contents().pending.count
    }
}

/// Counts of what an ``Outbox`` has done since it was opened.
///
/// ```swift
/// func printSummary(of outbox: Outbox) {
///     let counts = outbox.counts
///     print(counts.accepted, "accepted,", counts.delivered, "delivered,", counts.refused, "refused")
/// }
/// ```
public struct OutboxCounts: Hashable, Sendable {
    /// The number of accepted writes.
    public internal(set) var accepted = 0
    /// The number of attempts that the upstream answered or may have received. An attempt counts twice if it was repeated with
    /// renewed credentials. It does not count if a limit or an open circuit prevented it from being sent.
    public internal(set) var attempts = 0
    /// The number of failed attempts after which a write was scheduled again.
    public internal(set) var postponed = 0
    /// The number of writes that were delivered, or dropped in favor of the upstream's version.
    public internal(set) var delivered = 0
    /// The number of writes that were refused for good.
    public internal(set) var refused = 0
}
