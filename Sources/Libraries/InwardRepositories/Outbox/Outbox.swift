public import InwardCore
import InwardFetching
import Synchronization

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Takes writes so that they are not lost, and delivers them to an upstream behind the caller's back.
///
/// A write that is accepted is durable, as far as the store is. It is sent until the upstream answers for good, with the same
/// `Idempotency-Key` each time, also by a later process; writes of one subject one after the other in the order they were accepted,
/// those of different subjects at the same time. What came of it is settled by an ``OutboxHandler``, in one commit with its end;
/// a refusal for good reaches the error handler too, as a ``RefusedWriteError``.
///
/// One outbox at a time, among all processes, owns what is kept under a prefix of a store: from ``open()`` to ``close()``, or until the
/// process ends, however it ends. Only the owner accepts and delivers. Others can read ``OutboxContents``, wait for their turn, or
/// learn who the owner is. An outbox that somebody has joined opens itself with its next write.
///
/// If another process takes over all the same, because the store's claims do not work on its file system, say, this outbox finds out
/// before it sends or changes anything, tells the error handler by an ``OutboxFencedError``, and opens itself again with its next
/// write. What both send at that moment has the same key.
public final class Outbox: Sendable {
    let upstream: Upstream
    let store: any RecordStore
    let policy: OutboxPolicy
    let timer: TimerService
    let errorHandler: any ErrorHandler
    let records: OutboxRecords
    let now: @Sendable () -> Date
    let state: Mutex<OutboxState>
    private let generator: Mutex<any RandomNumberGenerator & Sendable>

    /// Makes an outbox that is not open yet.
    ///
    /// - Parameters:
    ///   - upstream: Where writes are sent to, by its data fetcher, which adds the credentials.
    ///   - store: Where they are kept until they are done.
    ///   - prefix: What the records of the outbox are kept under. Nobody else keeps anything there.
    ///   - policy: How many are sent at once, and how long it waits before it sends one again.
    ///   - timer: What tells the time and wakes it.
    ///   - now: What tells the date.
    ///   - generator: Where the idempotency keys come from. Whoever can guess them can have writes taken for repeats.
    ///   - errorHandler: Is told what nobody can be given any more. It is not closed.
    public init(
        upstream: Upstream,
        store: any RecordStore,
        prefix: RecordKey = ["outbox"],
        policy: OutboxPolicy = .standard,
        timer: TimerService = .continuous,
        now: @escaping @Sendable () -> Date = { Date() },
        generator: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator(),
        errorHandler: any ErrorHandler
    ) {
        self.upstream = upstream.asked(
            through: upstream.dataFetcher.timingOut(after: policy.attemptLimit, timer: timer)
        )
        self.store = store
        self.policy = policy
        self.timer = timer
        self.now = now
        self.errorHandler = errorHandler
        records = OutboxRecords(prefix: prefix)
        state = Mutex(OutboxState(policy))
        self.generator = Mutex(generator)
    }

    /// The entries that are durable and not settled, as far as they can be read, in the order they were accepted.
    ///
    /// - Complexity: O(n log n) in their number.
    public var pending: [OutboxEntry] {
        // In order outside of the lock.
        state.withLock(\.partitions.entries).sorted {
            ($0.sequence, $0.idempotencyKey) < ($1.sequence, $1.idempotencyKey)
        }
    }

    /// What it has done since it was opened.
    public var counts: OutboxCounts { state.withLock(\.counts) }

    /// Makes writes and changes durable, all of them or none, and delivers the writes from then on.
    ///
    /// The handlers have been told of the entries when it returns. It waits while another write of one of the subjects is being
    /// accepted or settled.
    ///
    /// - Parameters:
    ///   - writes: What is to be done at the upstream, in this order as far as it is to one subject.
    ///   - changes: What is changed in the store at once, such as what readers are to find meanwhile.
    /// - Returns: the entries that the writes became, in their order.
    /// - Throws: a ``RecordStoreError`` if nothing was accepted or changed: with the store's reason; with `closed` if the outbox is
    ///   not open; with `full` if as many are pending, or refused and kept, as its policy allows; with `denied` if nobody settles one
    ///   of the writes, its handler does not declare what it does, it is too large, or a change is of the outbox's own records; with
    ///   `cancelled` if the task was cancelled, or its deadline passed, before anything was done. A task that is cancelled later still
    ///   gets them made.
    @discardableResult
    public func accept(
        _ writes: [OutboxWrite],
        with changes: [RecordChange] = []
    ) async throws(RecordStoreError) -> [OutboxEntry] {
        try await accept(writes, with: changes) { _ in }
    }

    /// Waits until a write that was accepted here was done at the upstream, and is settled.
    ///
    /// - Parameter entry: What ``accept(_:with:)`` gave. A refusal is known as long as the refused write is kept.
    /// - Throws: a `RepositoryError`: that of the refusal if it was refused for good; `closed` if the outbox was closed before;
    ///   `cancelled` if the task was cancelled; `unavailable` if its deadline passed. In the last three cases it is still
    ///   pending, and will be delivered.
    public func settlement(of entry: OutboxEntry) async throws(RepositoryError) {
        let promise = Promise<OutboxState.Ending>()
        var isSettled = false
        let known = state.withLock { state -> OutboxState.Ending? in
            if let refusal = state.refusal(of: entry) { return .failure(refusal) }
            guard state.partitions.contains(entry) else {
                // Another process has taken over, and knows.
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

    /// Why an entry that is not pending here is not done: this outbox or another that owned the records refused it, or it is
    /// pending elsewhere; `nil` if it was done.
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

    /// Ends what is under way and sends nothing more. What is pending stays in the store, for the next outbox.
    ///
    /// An attempt that the upstream has not answered yet is cancelled; what it has answered for is settled. It returns when all
    /// that has ended, and so has every ``accept(_:with:)``; a second close waits too.
    public func close() async {
        end()
        await finishWork()
        let claim = state.withLock { state in
            defer { state.claim = nil }
            return state.claim
        }
        await claim?.release()
        // Handlers are likely to hold this outbox.
        let handlers = state.withLock { state in
            defer { state.handlers = OutboxHandlers() }
            return state.handlers
        }
        withExtendedLifetime(handlers) {}
    }

    /// Sends nothing more, and cancels what is not answered yet.
    private func end() {
        tell(of: state.withLock { $0.end(.closed) })
    }

    /// Tells those that the outbox has ended whom that concerns.
    func tell(of ending: OutboxState.End) {
        for task in ending.tasks { task.cancel() }
        if let alarm = ending.alarm { timer.cancel(alarm.timer) }
        for waiter in ending.waiters { waiter.fulfill(.failure(closedError(for: nil))) }
    }

    /// Waits until nothing is being delivered or accepted.
    func finishWork() async {
        let (tasks, promise) = state.withLock { state -> ([Task<Void, Never>], Promise<Void>?) in
            let promise = state.acceptsUnderWay > 0 ? Promise<Void>() : nil
            if let promise { state.idleWaiters.append(promise) }
            return (Array(state.deliveries.values), promise)
        }
        for task in tasks { await task.value }
        _ = await promise?.value(until: nil)
    }

    /// As many random digits as make 128 bits.
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
    /// Waits until all writes that are pending now are settled, or the task's deadline has passed, or it was cancelled. What is
    /// held, and so is not sent, is not waited for.
    ///
    /// A program that is about to end can give what it has accepted some time by this. What is left stays pending, for the next
    /// outbox.
    ///
    /// - Returns: how many writes are pending then.
    /// - Complexity: O(n) in the number of those that are pending now.
    @discardableResult
    public func drain() async -> Int {
        for entry in state.withLock(\.partitions.deliverable) {
            // Whatever came of one, the others are waited for.
            do { try await settlement(of: entry) } catch {}
        }
        return state.withLock(\.partitions.count)
    }
}

/// What an ``Outbox`` has done since it was opened.
public struct OutboxCounts: Hashable, Sendable {
    /// How many writes it has accepted.
    public internal(set) var accepted = 0
    /// How often it has sent one, and the upstream has answered or may have seen it. It counts twice where credentials had to be
    /// renewed for it, and not at all where a limit or an open circuit stopped it on its way.
    public internal(set) var attempts = 0
    /// How often it had to put one off, to send it again.
    public internal(set) var postponed = 0
    /// How many were done.
    public internal(set) var delivered = 0
    /// How many were refused for good.
    public internal(set) var refused = 0
}
