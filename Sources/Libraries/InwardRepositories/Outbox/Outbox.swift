public import InwardCore
import InwardFetching
import Synchronization

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Accepts writes durably and delivers them to an upstream in the background.
///
///     let outbox = Outbox(upstream: upstream, store: store, errorHandler: errorHandler)
///     try await outbox.open(handlers: [handler])
///     let write = OutboxWrite(endpoint: "posts", subject: ["posts", "7"], method: .put, path: "posts/7", body: body)
///     let entries = try await outbox.accept([write])
///
/// An accepted write is as durable as the store. The outbox sends it, with the same `Idempotency-Key` each time, until the upstream
/// gives a final response, even if that takes a later process. Writes of one subject are delivered one at a time in the order they
/// were accepted; writes of different subjects are delivered concurrently. An ``OutboxHandler`` settles the outcome in the same
/// commit that removes the write. A final refusal is also reported to the error handler, as a ``RefusedWriteError``.
///
/// At any time, only one outbox among all processes owns the records under a prefix of a store: from ``open()`` to ``close()``, or
/// until its process ends in any way. Only the owner accepts and delivers writes. Others can read ``OutboxContents``, wait for
/// ownership, or find out who the owner is. Once handlers have joined it, an outbox opens itself with its next write.
///
/// If another process takes over regardless, for example because claims do not work on the store's file system, this outbox notices
/// before it sends or changes anything. It reports an ``OutboxFencedError`` to the error handler and opens itself again with its
/// next write. Requests for the same write that both processes send in the meantime have the same idempotency key.
public final class Outbox: Sendable {
    let upstream: Upstream
    let store: any RecordStore
    let policy: OutboxPolicy
    let timer: TimerService
    let errorHandler: any ErrorHandler
    let observer: (any RepositoryObserver)?
    private let changes = ChangeReport()
    let records: OutboxRecords
    let now: @Sendable () -> Date
    let state: Mutex<OutboxState>
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
    ///   - generator: The source of idempotency keys. It must be unpredictable: the upstream treats a write with a guessed key as a
    ///     repeat.
    ///   - observer: The observer of deliveries, of the outbox's content, and of the store; `nil` for none, which has no overhead.
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
        self.observer = observer
        self.policy = policy
        self.timer = timer
        self.now = now
        self.errorHandler = errorHandler
        records = OutboxRecords(prefix: prefix)
        state = Mutex(OutboxState(policy))
        self.generator = Mutex(generator)
    }

    /// The durable, unsettled entries that can be read, in the order they were accepted.
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

    /// Makes writes and changes durable, all of them or none, and then delivers the writes in the background.
    ///
    /// When this method returns, the handlers have been told of the entries. It waits while another write of one of the subjects is
    /// being accepted or settled.
    ///
    /// - Parameters:
    ///   - writes: The writes to deliver. Writes of one subject are delivered in this order.
    ///   - changes: The changes to make in the store in the same commit, such as what readers see until delivery.
    /// - Returns: the entries of the writes, in the same order.
    /// - Throws: a ``RecordStoreError`` if nothing was accepted or changed: with the store's reason if the store fails; `closed` if
    ///   the outbox is not open; `full` if the policy's limit on pending or refused writes is reached; `denied` if a write has no
    ///   handler, is not among the operations its handler declares, or is too large, or if a change affects the outbox's own
    ///   records; `cancelled` if the task was cancelled, or its deadline passed, before the commit began. Cancelling the task later
    ///   does not undo the commit.
    @discardableResult
    public func accept(
        _ writes: [OutboxWrite],
        with changes: [RecordChange] = []
    ) async throws(RecordStoreError) -> [OutboxEntry] {
        try await accept(writes, with: changes) { _ in }
    }

    /// Waits until a write that was accepted by this outbox is done at the upstream and settled.
    ///
    /// - Parameter entry: An entry that ``accept(_:with:)`` returned. A refusal is known for as long as the refused write is kept.
    /// - Throws: a `RepositoryError`: the refusal if the write was refused for good; `closed` if the outbox was closed first;
    ///   `cancelled` if the task was cancelled; `unavailable` if its deadline passed. In the last three cases the write is still
    ///   pending and will be delivered.
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

    /// Returns why an entry that is not pending here is not done: it was refused by this outbox or another owner of the records, or
    /// it is pending elsewhere. Returns `nil` if it was done.
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
                explanation: "was refused: \(letter.cause ?? "why is not known")"
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
    /// Attempts that the upstream has not answered are cancelled; writes that it has answered are settled. The method returns when
    /// this work, and every ``accept(_:with:)`` call, has ended. A second call waits too.
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

    /// Tells the observer what the outbox contains by now.
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
    func randomKey() -> String {
        generator.withLock { generator in
            (0..<2).map { _ in
                let digits = String(generator.next() as UInt64, radix: 16)
                return String(repeating: "0", count: 16 - digits.count) + digits
            }
            .joined()
        }
    }

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
            explanation: "was accepted and is not known to be done (\(event)); it stays pending"
        )
    }
}

extension Outbox {
    /// Waits until all writes that are pending now are settled, the task's deadline passes, or the task is cancelled. Held writes
    /// are not waited for, because they are not sent.
    ///
    /// Call it before the program ends to give accepted writes some time. Remaining writes stay pending for the next outbox.
    ///
    /// - Returns: the number of writes that are still pending.
    /// - Complexity: O(n) in the number of writes that are pending now.
    @discardableResult
    public func drain() async -> Int {
        for entry in state.withLock(\.partitions.deliverable) {
            // Whatever the outcome of one write, wait for the others.
            do { try await settlement(of: entry) } catch {}
        }
        return state.withLock(\.partitions.count)
    }

    /// Waits until no write is being delivered, and none is due before a deadline, which ends the wait as well.
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
}

/// Counts of what an ``Outbox`` has done since it was opened.
public struct OutboxCounts: Hashable, Sendable {
    /// The number of accepted writes.
    public internal(set) var accepted = 0
    /// The number of attempts that the upstream answered or may have received. An attempt counts twice if its credentials had to be
    /// renewed, and not at all if a limit or an open circuit stopped it.
    public internal(set) var attempts = 0
    /// The number of times a delivery was postponed.
    public internal(set) var postponed = 0
    /// The number of writes that were delivered, or dropped in favour of the upstream's version.
    public internal(set) var delivered = 0
    /// The number of writes that were refused for good.
    public internal(set) var refused = 0
}
