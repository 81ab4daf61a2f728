public import InwardCore
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// One user's part of a ``SharedOutbox``, through which the user's repositories write and show what is pending.
///
/// ```swift
/// func open(_ outbox: SharedOutbox, for user: String) async throws -> Repository<Comment> {
///     let partition = outbox.partition(user)
///     let comments = Repository(endpoint, upstream: upstream, outbox: partition)
///     _ = try await partition.join(handlers: [comments.handler])
///     try await partition.showPending()
///     return comments
/// }
/// ```
///
/// All instances that have opened the partition show the same pending writes. An instance shows its own writes when they are
/// accepted, and those of other instances when the store announces them, usually within milliseconds. For that,
/// ``SharedOutbox/run(_:)`` must run.
public final class OutboxPartition: RepositoryOutbox {
    /// What happened to an entry on this instance while the store was being read.
    private enum Event {
        case accepted(OutboxEntry)
        case settled(String)
    }

    private struct State {
        /// The entries that the handlers know of, in order.
        var pending: [OutboxEntry] = []
        var handlers = OutboxHandlers()
        /// The events since the current reading began, or `nil` if the store is not being read.
        var events: [Event]?
        /// The number of readings that the handlers know of.
        var readingCount = 0
        /// Whether something may have changed since the last reading, or there was none.
        var isOutdated = true
        /// The keys of the last discarded entries.
        var discarded: [String] = []
        /// What this instance has settled, and the keys of the last entries that others have settled.
        var counts = OutboxCounts()
        var settledElsewhere: [String] = []
        /// The tasks that wait for the end of an entry, by its idempotency key.
        var waiters: [String: [Promise<Void>]] = [:]

        /// Removes an entry, and returns the tasks that wait for its end.
        mutating func settle(_ key: String) -> [Promise<Void>] {
            pending.removeAll { $0.idempotencyKey == key }
            events?.append(.settled(key))
            return waiters.removeValue(forKey: key) ?? []
        }

        /// Remembers the entries that are no longer pending and were not settled by this instance.
        mutating func noteSettledElsewhere(_ keys: [String]) {
            settledElsewhere += keys.filter { !discarded.contains($0) }
            if settledElsewhere.count > 10_000 { settledElsewhere.removeFirst(settledElsewhere.count - 10_000) }
        }
    }

    /// The name of the partition, usually that of a user.
    public let name: String
    let outbox: SharedOutbox
    private let state = Mutex(State())
    /// Serializes what the handlers are told, so that they are told it in the order of the changes of the state.
    let order = Mutex(())

    init(_ name: String, of outbox: SharedOutbox) {
        self.name = name
        self.outbox = outbox
    }

    deinit { outbox.forget(name) }

    // MARK: Handlers

    /// Adds handlers, and tells them which entries this instance knows of. Others are shown by ``showPending()``, by the next write
    /// that depends on them, or when ``SharedOutbox/run(_:)`` reads the store.
    ///
    /// - Parameter handlers: The handlers, at most one for each endpoint. `nil` is ignored.
    /// - Returns: the member with which the handlers leave.
    /// - Throws: a ``RecordStoreError``, `denied`, if two handlers have the same endpoint.
    public func join(handlers: [(any OutboxHandler)?]) async throws(RecordStoreError) -> OutboxMember {
        let byEndpoint = try Outbox.byEndpoint(handlers.compactMap(\.self))
        return order.withLock { _ in
            let (member, pending) = state.withLock { ($0.handlers.add(byEndpoint), $0.pending) }
            OutboxHandlers(byEndpoint).reset(to: pending)
            return member
        }
    }

    /// Removes handlers.
    public func leave(_ member: OutboxMember) {
        // Released outside of the lock, because their deinitializers can run any code.
        let handlers = state.withLock { $0.handlers.remove(member) }
        withExtendedLifetime(handlers) {}
    }

    /// Returns the handlers that can settle a write, and the number of members that have joined so far.
    func handlers(of write: OutboxWrite) -> (handlers: [any OutboxHandler], memberCount: Int) {
        let (handlers, count) = state.withLock { ($0.handlers.all(for: write.endpoint), $0.handlers.memberCount) }
        return (handlers.filter { $0.declares(write) }, count)
    }

    // MARK: Showing

    /// The pending entries that this instance knows of.
    public var pending: [OutboxEntry] { state.withLock(\.pending) }

    /// Returns the first pending entry of a subject that this instance knows of, or `nil` if there is none.
    public func firstPending(of subject: RecordKey) -> OutboxEntry? {
        state.withLock { $0.pending.first { $0.write.subject == subject } }
    }

    /// Reads which entries are pending, and shows them.
    ///
    /// - Throws: a ``RecordStoreError`` if the store cannot be read. Then the handlers show what they knew before.
    public func showPending() async throws(RecordStoreError) {
        let ticket = try await outbox.locks.take([["reading", name]])
        defer { outbox.locks.release(ticket) }
        state.withLock { $0.events = [] }
        let found = await Result { () async throws(RecordStoreError) in try await outbox.entries(in: name) }
        show(found)
        _ = try found.get()
    }

    /// Shows what was read, except for what is known to have changed on this instance since the reading began. What other
    /// instances have changed since then is announced.
    private func show(_ found: Result<[OutboxEntry], RecordStoreError>) {
        order.withLock { _ in
            let (waiters, handlers) = state.withLock { state -> ([Promise<Void>], OutboxHandlers?) in
                let events = state.events ?? []
                state.events = nil
                guard case .success(var entries) = found else {
                    state.isOutdated = true
                    return ([], nil)
                }
                state.readingCount += 1
                state.isOutdated = false
                for event in events {
                    switch event {
                    case .settled(let key): entries.removeAll { $0.idempotencyKey == key }
                    case .accepted(let entry):
                        if !entries.contains(where: { $0.idempotencyKey == entry.idempotencyKey }) {
                            entries.append(entry)
                        }
                    }
                }
                guard entries != state.pending else { return ([], nil) }
                let keys = Set(entries.map(\.idempotencyKey))
                let ended = state.waiters.keys.filter { !keys.contains($0) }
                state.noteSettledElsewhere(state.pending.map(\.idempotencyKey).filter { !keys.contains($0) })
                state.pending = entries
                return (ended.flatMap { state.waiters.removeValue(forKey: $0) ?? [] }, state.handlers)
            }
            handlers?.reset(to: pending)
            for waiter in waiters { waiter.fulfill(()) }
        }
    }

    /// Counts writes that this instance has accepted.
    func countAccepted(_ count: Int) { state.withLock { $0.counts.accepted += count } }

    /// Whether something may have changed since the last reading. ``SharedOutbox/run(_:)`` then reads again.
    var isOutdated: Bool { state.withLock(\.isOutdated) }

    /// Notes that something may have changed since the last reading.
    func becomeOutdated() { state.withLock { $0.isOutdated = true } }

    /// The number of readings that the handlers know of. Pass it to ``show(accepted:since:)``.
    var readingCount: Int { state.withLock(\.readingCount) }

    /// Shows entries that this instance has accepted, or whose outcome it does not know.
    ///
    /// - Parameters:
    ///   - entries: The entries.
    ///   - reading: The ``readingCount`` before they were accepted.
    /// - Returns: `false` if the store was read since, so that the entries may already have ended. Then read it again.
    func show(accepted entries: [OutboxEntry], since reading: Int) -> Bool {
        order.withLock { _ in
            let (added, handlers, isCurrent) = state.withLock { state in
                let known = Set(state.pending.map(\.idempotencyKey))
                let added = entries.filter { !known.contains($0.idempotencyKey) }
                state.pending += added
                state.events? += added.map { .accepted($0) }
                return (added, state.handlers, state.readingCount == reading)
            }
            if !added.isEmpty { handlers.tell(of: added) }
            return isCurrent
        }
    }

    /// Notes that somebody discards an entry on this instance. Called before the commit, because a reading may find it gone at any
    /// time after that.
    func beginDiscarding(_ key: String) {
        state.withLock { state in
            state.discarded.append(key)
            if state.discarded.count > 1_000 { state.discarded.removeFirst() }
            state.isOutdated = true
        }
    }

    /// Notes that an entry was not discarded.
    func endDiscarding(_ key: String) { state.withLock { $0.discarded.removeAll { $0 == key } } }

    /// Shows that this instance has settled an entry.
    ///
    /// - Parameters:
    ///   - key: The idempotency key of the entry.
    ///   - counter: What counts such ends.
    ///   - count: The number of members that had joined when the settlement was made.
    ///   - tell: Tells the handlers of these members.
    func showSettled(
        _ key: String,
        _ counter: WritableKeyPath<OutboxCounts, Int>,
        toMembers count: Int,
        _ tell: () -> Void
    ) {
        let waiters = order.withLock { _ in
            tell()
            let (waiters, handlers, pending) = state.withLock { state in
                state.counts[keyPath: counter] += 1
                // A reading may already have noticed that the entry is gone.
                state.settledElsewhere.removeAll { $0 == key }
                return (state.settle(key), state.handlers, state.pending)
            }
            handlers.reset(to: pending, after: count)
            return waiters
        }
        for waiter in waiters { waiter.fulfill(()) }
    }
}

// MARK: - Managing

extension OutboxPartition {
    /// Lists the pending writes and the dead letters.
    ///
    /// - Complexity: O(n) in the number of writes.
    /// - Throws: a ``RecordStoreError`` if the store cannot be read.
    public func contents() async throws(RecordStoreError) -> OutboxContents {
        // Reads the dead letters last, so that an entry that is refused in the meantime is found twice rather than not at all.
        let pending = try await outbox.pending(in: name)
        let letters = try await outbox.deadLetters(in: name)
        let refused = Set(letters.map(\.id))
        return OutboxContents(pending: pending.filter { !refused.contains($0.id) }, deadLetters: letters)
    }

    /// Sends a pending write or a dead letter again, as ``SharedOutbox/resend(_:in:)`` does.
    ///
    /// - Returns: the pending entry, or `nil` if there is no such write.
    @discardableResult
    public func retry(_ id: String) async throws(RecordStoreError) -> OutboxEntry? {
        let (isFound, entry) = try await outbox.resendWrite(id, in: name)
        guard isFound, entry == nil else { return entry }
        throw RecordStoreError(
            .denied,
            explanation:
                "The write \(id) cannot be read by this version of the program: discard it, or let another version send it."
        )
    }

    /// Removes a pending write or a dead letter permanently, as ``SharedOutbox/discard(_:in:)`` does.
    @discardableResult
    public func discard(_ id: String) async throws(RecordStoreError) -> Bool {
        try await outbox.discard(id, in: name)
    }

    /// Counts the writes that this instance has accepted, and those that have ended on any instance, as long as the partition has
    /// been in use. A write that another instance has discarded counts as delivered. If the store cannot be read, those that
    /// others have ended are left out.
    public func outcomes() async -> OutboxCounts {
        // If this fails, the counts are what is known so far.
        try? await showPending()
        var (counts, elsewhere) = state.withLock { ($0.counts, $0.settledElsewhere) }
        guard !elsewhere.isEmpty, let items = try? await outbox.deadLetters(in: name) else { return counts }
        let letters = Set(items.map(\.id))
        let refused = elsewhere.count { letters.contains($0) }
        counts.refused += refused
        counts.delivered += elsewhere.count - refused
        return counts
    }

    // MARK: Opening

    /// Lets this instance deliver pending writes, those of other partitions among them, while ``SharedOutbox/run(_:)`` runs.
    public func open() async throws(RecordStoreError) { outbox.startDelivering() }

    /// Lets this instance deliver pending writes as ``open()`` does, unless `delivering` is `false`. Returns `nil`, because nobody
    /// owns a partition.
    public func openUnlessOwned(delivering: Bool) async throws(RecordStoreError) -> String? {
        if delivering { outbox.startDelivering() }
        return nil
    }

    /// Returns `nil`, because nobody owns a partition.
    public func otherOwner() async throws(RecordStoreError) -> String? { nil }

    /// Reads which entries are pending, shows them, and returns whether there are any.
    public func hasPendingRecords() async throws(RecordStoreError) -> Bool {
        try await showPending()
        return !pending.isEmpty
    }

    /// Does nothing: the credentials of the service do not depend on those of a session.
    public func retryDenied() {}

    // MARK: Ending

    /// Waits until a write is done at the upstream and settled, on any instance.
    ///
    /// - Parameter entry: An entry of this partition. As long as the dead letter of a refused write exists, the refusal is found.
    ///   A write that another instance has discarded counts as done.
    /// - Throws: a `RepositoryError`: the refusal if the write was refused. If the outcome is not known yet, the reason is
    ///   `cancelled` if the task was cancelled, and `unavailable` if its deadline passed or the store cannot be read.
    public func settlement(of entry: OutboxEntry) async throws(RepositoryError) {
        let letter: OutboxItem?
        do throws(RecordStoreError) {
            if !isPending(entry) { try await showPending() }
            try await wait(forEndOf: entry)
            letter = try await outbox.deadLetter(entry.idempotencyKey, in: name)?.item
        } catch {
            throw RepositoryError(
                error,
                request: entry.name,
                "was accepted, but its outcome is not known yet; it stays pending"
            )
        }
        guard let letter else {
            guard state.withLock({ $0.discarded.contains(entry.idempotencyKey) }) else { return }
            throw RepositoryError(.refused, request: entry.name, explanation: "was discarded")
        }
        throw RepositoryError(
            .refused,
            request: entry.name,
            explanation: "was refused: \(letter.cause ?? "the cause is not known")"
        )
    }

    /// Waits until all writes that are pending now are settled, the task's deadline passes, or the task is cancelled.
    ///
    /// It does not wait for held writes, nor for those whose next attempt is due after the deadline.
    ///
    /// - Returns: the number of writes that are still pending.
    @discardableResult
    public func drain() async -> Int {
        let deadline = Deadline.current
        let end = deadline.map { outbox.now().addingTimeInterval($0.remaining / .seconds(1)) }
        let items = (try? await outbox.pending(in: name)) ?? []
        let waiting = items.filter { item in
            if case .undeliverable = item.state { return true }
            if let end, let next = item.nextAttempt { return next > end }
            return false
        }
        let ids = Set(waiting.map(\.id))
        // The entries behind one that waits wait, too.
        let subjects = Set(waiting.compactMap(\.write?.subject))
        try? await showPending()
        for entry in pending where !ids.contains(entry.idempotencyKey) && !subjects.contains(entry.write.subject) {
            // Wait for the other writes even if this one was refused.
            do { try await settlement(of: entry) } catch {}
            if Task.isCancelled || deadline.map({ $0.remaining <= .zero }) == true { break }
        }
        return pending.count
    }

    /// Lets this instance deliver, and waits as ``drain()`` does, up to a deadline.
    ///
    /// - Returns: the number of writes in the store that are still pending.
    /// - Throws: a ``RecordStoreError`` if the store cannot be read.
    public func deliver(by deadline: Deadline) async throws(RecordStoreError) -> Int {
        outbox.startDelivering()
        _ = await deadline.bound { await self.drain() }
        return try await contents().pending.count
    }

    private func isPending(_ entry: OutboxEntry) -> Bool {
        state.withLock { $0.pending.contains { $0.idempotencyKey == entry.idempotencyKey } }
    }

    private func wait(forEndOf entry: OutboxEntry) async throws(RecordStoreError) {
        let key = entry.idempotencyKey
        let promise = Promise<Void>()
        let isPending = state.withLock { state in
            guard state.pending.contains(where: { $0.idempotencyKey == key }) else { return false }
            state.waiters[key, default: []].append(promise)
            return true
        }
        guard isPending else { return }
        let outcome = await promise.value()
        if case .fulfilled = outcome { return }
        state.withLock { state in
            state.waiters[key]?.removeAll { $0 === promise }
            if state.waiters[key]?.isEmpty == true { state.waiters[key] = nil }
        }
        if case .cancelled = outcome { throw RecordStoreError(.cancelled, explanation: "The wait was cancelled.") }
        throw RecordStoreError(.unavailable, explanation: "The deadline passed.")
    }
}
