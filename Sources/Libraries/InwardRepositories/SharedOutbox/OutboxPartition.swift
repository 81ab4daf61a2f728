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
///     return comments
/// }
/// ```
///
/// All instances that have opened the partition show the same pending writes. An instance shows its own writes when they are
/// accepted, and those of other instances when the store announces them, usually within milliseconds. For that,
/// ``SharedOutbox/run()`` must run.
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
        /// The tasks that wait for the end of an entry, by its idempotency key.
        var waiters: [String: [Promise<Void>]] = [:]

        /// Removes an entry, and returns the tasks that wait for its end.
        mutating func settle(_ key: String) -> [Promise<Void>] {
            pending.removeAll { $0.idempotencyKey == key }
            events?.append(.settled(key))
            return waiters.removeValue(forKey: key) ?? []
        }
    }

    /// The name of the partition, usually that of a user.
    public let name: String
    private let outbox: SharedOutbox
    private let state = Mutex(State())
    /// Serializes what the handlers are told, so that they are told it in the order of the changes of the state.
    private let order = Mutex(())

    init(_ name: String, of outbox: SharedOutbox) {
        self.name = name
        self.outbox = outbox
    }

    deinit { outbox.forget(name) }

    // MARK: Handlers

    /// Adds handlers, and tells them which entries are pending.
    ///
    /// - Parameter handlers: The handlers, at most one for each endpoint. `nil` is ignored.
    /// - Returns: the member with which the handlers leave.
    /// - Throws: a ``RecordStoreError`` if the store cannot be read, or `denied` if two handlers have the same endpoint.
    public func join(handlers: [(any OutboxHandler)?]) async throws(RecordStoreError) -> OutboxMember {
        let member = try add(handlers.compactMap(\.self))
        do throws(RecordStoreError) {
            try await refresh()
            return member
        } catch {
            leave(member)
            throw error
        }
    }

    /// Adds handlers, and tells them which entries this instance knows of. The next change that depends on them reads which
    /// entries are pending, unless ``refresh()`` does it before.
    func add(_ handlers: [any OutboxHandler]) throws(RecordStoreError) -> OutboxMember {
        let byEndpoint = try Outbox.byEndpoint(handlers)
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
    public func refresh() async throws(RecordStoreError) {
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
                state.pending = entries
                return (ended.flatMap { state.waiters.removeValue(forKey: $0) ?? [] }, state.handlers)
            }
            handlers?.reset(to: pending)
            for waiter in waiters { waiter.fulfill(()) }
        }
    }

    /// Whether something may have changed since the last reading. ``SharedOutbox/run()`` then reads again.
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

    /// Remembers that somebody has discarded an entry on this instance, and no longer shows it.
    func showDiscarded(_ key: String) async {
        state.withLock { state in
            state.discarded.append(key)
            if state.discarded.count > 1_000 { state.discarded.removeFirst() }
            state.isOutdated = true
        }
        // If this fails, it is done later.
        try? await refresh()
    }

    /// Shows that this instance has settled an entry.
    ///
    /// - Parameters:
    ///   - key: The idempotency key of the entry.
    ///   - count: The number of members that had joined when the settlement was made.
    ///   - tell: Tells the handlers of these members.
    func showSettled(_ key: String, toMembers count: Int, _ tell: () -> Void) {
        let waiters = order.withLock { _ in
            tell()
            let (waiters, handlers, pending) = state.withLock { ($0.settle(key), $0.handlers, $0.pending) }
            handlers.reset(to: pending, after: count)
            return waiters
        }
        for waiter in waiters { waiter.fulfill(()) }
    }
}

// MARK: - Writing

extension OutboxPartition {
    /// Stores writes and changes in one commit. Some instance then delivers the writes in the background.
    ///
    /// - Parameters:
    ///   - writes: The writes to deliver. Writes of one subject are delivered in this order.
    ///   - changes: The changes to make in the store in the same commit.
    ///   - tell: Called once with the entries, when they are durable and the handlers know of them. Must return quickly.
    /// - Returns: the entries of the writes, in the same order.
    /// - Throws: the same errors as ``SharedOutbox/accept(_:in:with:)``.
    @discardableResult
    public func accept(
        _ writes: [OutboxWrite],
        with changes: [RecordChange],
        whenAccepted tell: ([OutboxEntry]) -> Void
    ) async throws(RecordStoreError) -> [OutboxEntry] {
        let entries = try await outbox.accept(writes, in: name, with: changes)
        tell(entries)
        return entries
    }

    /// Stores a write that depends on the pending writes of its subject. Some instance then delivers it in the background.
    ///
    /// - Parameters:
    ///   - subject: The subject of the write.
    ///   - letter: The ``OutboxItem/id`` of the dead letter that the write replaces, in the same commit, or `nil` for none.
    ///   - make: Returns the write, or `nil` to accept none. It is called again whenever another instance has accepted or settled
    ///     a write of the subject, after this one shows that. Only the last call counts.
    /// - Returns: the entry, or `nil` if nothing was accepted.
    /// - Throws: the same errors as ``SharedOutbox/accept(_:in:with:)``.
    @discardableResult
    public func accept(
        in subject: RecordKey,
        replacing letter: String?,
        making make: () -> OutboxWrite?
    ) async throws(RecordStoreError) -> OutboxEntry? {
        // Otherwise, each accepted write would make those of all other tasks of this instance start again.
        let ticket = try await outbox.locks.take([RecordKey(["making", name] + subject.components)])
        defer { outbox.locks.release(ticket) }
        var replaced: RecordSnapshot?
        if let letter {
            guard let (snapshot, _) = try await outbox.deadLetter(letter, in: name) else { return nil }
            replaced = snapshot
        }
        let destination = try await outbox.destination(name)
        if isOutdated { try await refresh() }
        var mismatches = 0
        while true {
            // What is shown cannot change while the write is made.
            let (known, made) = order.withLock { _ in (pending.filter { $0.write.subject == subject }, make()) }
            guard let write = made else { return nil }
            let lane = OutboxLane(of: write, in: name, destination.terms(of: write.endpoint))
            let head = try await outbox.store.snapshot(for: outbox.records.head(of: lane))
            let found =
                head == nil ? [] : try await outbox.pendingEntries(of: lane).filter { $0.write.subject == subject }
            guard found.map(\.write) == known.map(\.write) else {
                mismatches += 1
                guard mismatches < Self.maximumMismatches else { throw Self.mixed(subject) }
                try await refresh()
                continue
            }
            mismatches = 0
            var acceptance = SharedOutbox.Acceptance(writes: [write], partition: name)
            acceptance.conditions = [.isUnchanged(outbox.records.head(of: lane), since: head)]
            if let replaced {
                acceptance.ownChanges = [.remove(replaced.key)]
                acceptance.conditions.append(.isUnchanged(replaced.key, since: replaced))
            }
            do throws(RecordStoreError) {
                return try await outbox.accept(acceptance, to: destination).first
            } catch {
                guard error.reason == .conflict else { throw error }
                // Somebody else has resolved the dead letter.
                if let replaced, try await outbox.store.snapshot(for: replaced.key)?.version != replaced.version {
                    return nil
                }
                try await refresh()
            }
        }
    }

    /// How often in a row the pending writes of a subject may differ from those that are shown after they were read again.
    private static let maximumMismatches = 100

    private static func mixed(_ subject: RecordKey) -> RecordStoreError {
        RecordStoreError(
            .unavailable,
            explanation: """
                Nothing was accepted: the pending writes of \(subject) change too often, or their endpoints ask for different orders. \
                Try again when they are delivered.
                """
        )
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

    /// Sends a held write or a dead letter again, as ``SharedOutbox/resend(_:in:)`` does.
    ///
    /// - Returns: the pending entry, or `nil` if there is no such write.
    @discardableResult
    public func retry(_ id: String) async throws(RecordStoreError) -> OutboxEntry? {
        try await outbox.resendWrite(id, in: name).entry
    }

    /// Removes a held write or a dead letter permanently, as ``SharedOutbox/discard(_:in:)`` does.
    @discardableResult
    public func discard(_ id: String) async throws(RecordStoreError) -> Bool {
        try await outbox.discard(id, in: name)
    }

    /// Waits until a write is done at the upstream and settled, on any instance.
    ///
    /// - Parameter entry: An entry of this partition. As long as the dead letter of a refused write exists, the refusal is found.
    ///   A write that another instance has discarded counts as done.
    /// - Throws: a `RepositoryError`: the refusal if the write was refused. If the outcome is not known yet, the reason is
    ///   `cancelled` if the task was cancelled, and `unavailable` if its deadline passed or the store cannot be read.
    public func settlement(of entry: OutboxEntry) async throws(RepositoryError) {
        let letter: OutboxItem?
        do throws(RecordStoreError) {
            if !isPending(entry) { try await refresh() }
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
        try? await refresh()
        for entry in pending where !ids.contains(entry.idempotencyKey) && !subjects.contains(entry.write.subject) {
            // Wait for the other writes even if this one was refused.
            do { try await settlement(of: entry) } catch {}
            if Task.isCancelled || deadline.map({ $0.remaining <= .zero }) == true { break }
        }
        return pending.count
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
