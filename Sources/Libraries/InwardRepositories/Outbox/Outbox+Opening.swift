import InwardCore
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension Outbox {
    /// Opens the outbox: waits for ownership of the records, tells the handlers which entries are pending, and begins to
    /// deliver.
    ///
    /// ```swift
    /// func open(_ outbox: Outbox, for comments: Repository<Comment>) async throws {
    ///     try await outbox.open(handlers: [comments.handler])
    /// }
    /// ```
    ///
    /// Some entries cannot be sent: a newer version of the program wrote them, they are damaged, or no handler settles them.
    /// The outbox keeps them unchanged, holds the later entries of their subjects, and reports each of them to the error
    /// handler as an ``UndeliverableEntryError``. To send an entry that has no handler, open an outbox with a handler for it.
    ///
    /// - Parameter handlers: The handlers that settle writes until the outbox is closed, at most one for each endpoint. `nil`,
    ///   the handler of a repository whose endpoint accepts no writes, is ignored. To add more later, use ``join(handlers:)``.
    /// - Throws: a ``RecordStoreError`` if the outbox cannot be opened: `busy`, naming the owner, if another owner keeps the
    ///   records until the task's deadline; `closed` if the outbox was closed; `denied` if it is already open or two handlers
    ///   have the same endpoint. After other errors, you can try again, and the next write does so, too.
    public func open(handlers: [(any OutboxHandler)?]) async throws(RecordStoreError) {
        let byEndpoint = try Self.byEndpoint(handlers.compactMap(\.self))
        try add(byEndpoint)
        try await open()
    }

    /// Adds the handlers with which the outbox is opened.
    private func add(_ byEndpoint: [String: any OutboxHandler]) throws(RecordStoreError) {
        // The handlers are released outside of the lock, because their deinitializers can run any code.
        _ = try state.withLock { state throws(RecordStoreError) in
            switch state.phase {
            case .made: break
            case .opening, .open:
                throw RecordStoreError(.denied, explanation: "The outbox is already open: add handlers by joining it.")
            case .closed: throw Self.notOpen
            }
            // Replaces the handlers of an earlier attempt to open the outbox.
            let earlier = state.opener
            state.opener = state.handlers.add(byEndpoint)
            return earlier.flatMap { state.handlers.remove($0) }
        }
    }

    /// Opens the outbox with the handlers that have joined, unless it is open. Waits for ownership of the records.
    ///
    /// - Throws: a ``RecordStoreError`` if the outbox cannot be opened: `busy`, naming the owner, if another owner keeps the
    ///   records until the task's deadline; `closed` if the outbox was closed. After other errors, you can try again, and the
    ///   next write does so, too.
    public func open() async throws(RecordStoreError) {
        var wait = ClaimWait(timer)
        while let owner = try await openUnlessOwned() { try await wait.pause(for: "The outbox", ownedBy: owner) }
    }

    /// Opens the outbox with the handlers that have joined, unless it is open or the records have another owner.
    ///
    /// ```swift
    /// func open(_ outbox: Outbox) async throws {
    ///     if let owner = try await outbox.openUnlessOwned() { print("\(owner) delivers the writes.") }
    /// }
    /// ```
    ///
    /// - Parameter delivering: Whether to send pending writes. With `false`, you can discard writes before they are sent. The
    ///   outbox begins to deliver when it accepts or retries a write.
    /// - Returns: the owner of the records, or `nil` if the outbox is open.
    /// - Throws: a ``RecordStoreError`` if the outbox cannot be opened: `closed` if it was closed. After other errors, you can
    ///   try again.
    @discardableResult
    public func openUnlessOwned(delivering: Bool = true) async throws(RecordStoreError) -> String? {
        // Serializes opening: a second caller finds the outbox open. Members that join in the meantime wait, and are then told
        // which entries are pending.
        let ticket = try await locks.take([records.owner])
        defer { locks.release(ticket) }
        switch state.withLock(\.phase) {
        case .open:
            if delivering {
                state.withLock { $0.delivers = true }
                pump()
            }
            return nil
        case .closed: throw Self.notOpen
        case .made, .opening: break
        }
        switch try await store.claim(records.owner) {
        case .owned(let owner): return owner
        case .claimed(let claim):
            // If the outbox was open before and another process took over, earlier work may still be in progress.
            await finishWork()
            try await openInTurn(claim, delivering: delivering)
            return nil
        }
    }

    /// Opens the outbox for a write, if it is not open and handlers have joined.
    ///
    /// - Throws: a ``RecordStoreError`` if the outbox cannot be opened.
    func openIfNeeded() async throws(RecordStoreError) {
        let isNeeded = state.withLock { [.made, .opening].contains($0.phase) && !$0.handlers.isEmpty }
        if isNeeded { try await open() }
    }

    /// Takes over the entries of an earlier outbox, tells the handlers of them, and begins to deliver.
    private func openInTurn(_ claim: RecordClaim, delivering: Bool) async throws(RecordStoreError) {
        let token = randomKey()
        let isOpening = state.withLock { state in
            guard state.phase == .made else { return false }
            state.phase = .opening
            state.token = token
            state.delivers = delivering
            // Keeps `close()` waiting until the commits below are done. Otherwise this outbox could take the records from the
            // one that is opened after it.
            state.acceptsUnderWay += 1
            return true
        }
        guard isOpening else {
            await claim.release()
            throw Self.notOpen
        }
        defer { endAccepting() }
        do throws(RecordStoreError) {
            try await takeOver(claim, writing: token)
        } catch {
            state.withLock { state in
                if state.phase == .opening { state.phase = .made }
            }
            // Release the claim now, while `close()` still waits for this call.
            await claim.release()
            throw error
        }
        pump()
    }

    private func takeOver(_ claim: RecordClaim, writing token: String) async throws(RecordStoreError) {
        // Writes the token before reading anything, so that an outbox that tries to accept a write after this notices that it
        // no longer owns the records.
        try await store.commit([.keep(StoredRecord(Array(token.utf8)), records.owner)])
        let letters = try await store.records(under: records.dead)
        var left = try await LeftEntries(of: store, records)
        if let losses = left.unknownLosses, left.items.isEmpty {
            // No entry has to be held because of the losses. They are still reported.
            try await store.commit([records.acknowledgment(of: losses)])
            left.acknowledgeLosses()
        }
        if !left.orphans.isEmpty { try await store.commit(left.orphans.map { .remove($0) }) }
        let handlers = state.withLock(\.handlers)
        left.hold(handlers.objection)
        handlers.reset(to: left.readable)
        let isOpen = goOn(from: left, letters, claim)
        for problem in left.problems(records) { errorHandler.handle(problem) }
        if let pause = status.pause { errorHandler.handle(OutboxPausedError(prefix: records.prefix, pause: pause)) }
        guard isOpen else { throw Self.notOpen }
    }

    /// Continues from the state that an earlier outbox left.
    ///
    /// - Returns: `false` if the outbox was closed in the meantime.
    private func goOn(
        from left: LeftEntries,
        _ letters: [(key: RecordKey, record: StoredRecord)],
        _ claim: RecordClaim
    ) -> Bool {
        let (time, date) = (timer.now, now())
        return state.withLock { state in
            guard state.phase == .opening else { return false }
            (state.phase, state.claim) = (.open, claim)
            state.forgetRecords(policy)
            state.nextSequence = left.nextSequence
            for item in left.items {
                switch item {
                case .held(let held): state.partitions.hold(held)
                case .entry(let entry, let note):
                    state.partitions.append(OutboxDelivery(entry, note, at: time, date, policy))
                }
            }
            state.unknownLosses = left.unknownLosses
            for _ in left.lostLetters { state.addDeadLetter(0) }
            for (key, _) in left.misnamed { state.misnamed[key.description] = key }
            for (key, record) in letters {
                let name = OutboxEntryName(key, under: records.dead)
                state.addDeadLetter(
                    name.map { DeadLetterDTO.item(from: record.bytes, named: $0).byteCount } ?? record.bytes.count
                )
            }
            if let streak = left.streak {
                state.streak.restore(streak, at: time, date)
                state.isStreakKept = true
            }
            return true
        }
    }
}

extension Outbox {
    /// Commits the changes of a handler or caller together with the outbox's own, if this outbox still owns the records.
    ///
    /// - Throws: a ``RecordStoreError`` if nothing was changed.
    func commit(_ changes: [RecordChange], adding own: [RecordChange]) async throws(RecordStoreError) {
        for change in changes { try change.throwIfAffecting(records.prefix) }
        // Repeated if the owner's record was stored again or lost, and does not name another owner.
        for _ in 0..<Self.conditionalTries {
            guard let sharedStore else { break }
            let condition = try await ownership(in: sharedStore)
            do throws(RecordStoreError) {
                return try await sharedStore.commit(changes + own, if: [condition])
            } catch {
                guard error.reason == .conflict else { throw error }
                state.withLock { if $0.ownership == condition { $0.ownership = nil } }
            }
        }
        try await checkOwner()
        try await store.commit(changes + own)
    }

    /// The maximum number of commits on the condition that the owner's record has not changed, so that a store whose versions
    /// always differ stops no outbox.
    private static let conditionalTries = 3

    /// Returns the condition that the owner's record is as it was when it was last checked. Checks it if it may have changed.
    ///
    /// - Throws: a ``RecordStoreError``: `closed` if another outbox has taken over.
    private func ownership(in store: any SharedRecordStore) async throws(RecordStoreError) -> RecordCondition {
        if let known = state.withLock(\.ownership) { return known }
        let snapshot = try await store.snapshot(for: records.owner)
        try await check(snapshot?.record)
        let condition = RecordCondition.isUnchanged(records.owner, since: snapshot)
        state.withLock { $0.ownership = condition }
        return condition
    }

    /// Checks that no other outbox has taken over. Compares the token that the owner writes into the records, which also works
    /// where the store's claims do not.
    ///
    /// - Throws: a ``RecordStoreError``: `closed` if another outbox has taken over.
    func checkOwner() async throws(RecordStoreError) { try await check(try await store.record(for: records.owner)) }

    private func check(_ owner: StoredRecord?) async throws(RecordStoreError) {
        let token = state.withLock(\.token)
        // A missing token does not prove that there is another owner.
        guard let owner, owner.bytes != Array(token.utf8) else { return }
        let error = OutboxFencedError(prefix: records.prefix)
        if await loseRecords() { errorHandler.handle(error) }
        throw RecordStoreError(.closed, explanation: "\(error).")
    }

    /// Gives up the records to the outbox that has taken over, until the next write opens this outbox again.
    ///
    /// - Returns: `false` if the outbox did not own them.
    private func loseRecords() async -> Bool {
        let lost = state.withLock { state in
            guard state.phase == .open else { return nil as (OutboxState.End, RecordClaim?, OutboxHandlers)? }
            let ending = state.end(.made)
            state.forgetRecords(policy)
            defer { state.claim = nil }
            return (ending, state.claim, state.handlers)
        }
        guard let (ending, claim, handlers) = lost else { return false }
        tell(of: ending)
        // Only the new owner knows the outcome of the entries.
        handlers.reset(to: [])
        tellOfChange()
        await claim?.release()
        return true
    }

    /// Returns the owner of the records if it is not this outbox, or `nil` if this outbox owns them or they have no owner.
    ///
    /// - Throws: a ``RecordStoreError`` if the store cannot tell.
    public func otherOwner() async throws(RecordStoreError) -> String? {
        let ticket = try await locks.take([records.owner])
        defer { locks.release(ticket) }
        guard state.withLock(\.claim) == nil else { return nil }
        switch try await store.claim(records.owner) {
        case .owned(let owner): return owner
        case .claimed(let claim):
            await claim.release()
            return nil
        }
    }

    /// Returns whether the store has pending writes, even if another outbox owns them.
    ///
    /// - Throws: a ``RecordStoreError`` if the store cannot be read.
    public func hasPendingRecords() async throws(RecordStoreError) -> Bool {
        try await !store.records(under: records.entries).isEmpty
    }

    /// Tells the handlers which entries are pending, without taking ownership. Does nothing if the outbox is open.
    ///
    /// Use it in a process that only reads. The handlers learn of later changes when you call this method again or open the
    /// outbox.
    ///
    /// - Throws: a ``RecordStoreError`` if the store cannot be read.
    public func showPending() async throws(RecordStoreError) {
        let ticket = try await locks.take([records.owner])
        defer { locks.release(ticket) }
        guard state.withLock({ $0.phase == .made }) else { return }
        let left = try await LeftEntries(of: store, records)
        state.withLock(\.handlers).reset(to: left.readable)
    }
}

/// A report that another process has taken over the records of an outbox and delivers the pending writes. The outbox opens
/// itself again with its next write.
///
/// ```swift
/// let errorHandler = IgnoringErrorHandler().notifying { error in
///     guard let fenced = error as? OutboxFencedError else { return }
///     print("\(fenced.prefix) has two owners. Check that its store is on a local disk.")
/// }
/// ```
public struct OutboxFencedError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The key prefix of the outbox's records.
    public let prefix: RecordKey

    /// Creates an error for the outbox with a key prefix.
    public init(prefix: RecordKey) {
        self.prefix = prefix
    }

    /// What happened and what to do, as a sentence without its full stop.
    public var description: String {
        """
        Another process has taken over the outbox \(prefix) and delivers the pending writes; the next write takes the outbox back \
        when that process has released it
        """
    }
}

extension Outbox {
    /// Adds handlers, for example those of a second repository of the same entities.
    ///
    /// ```swift
    /// func share(_ outbox: Outbox, with second: Repository<Comment>) async throws {
    ///     let member = try await outbox.join(handlers: [second.handler])
    ///     print(try await second.entities().value.count)
    ///     outbox.leave(member)
    /// }
    /// ```
    ///
    /// When this method returns, the handlers have been told of the pending entries. If the outbox is not open yet, they are
    /// told when it opens. If an entry was already being settled, a handler may be asked to settle it without having been told
    /// of it. All handlers of an endpoint settle each of its writes, in one commit, so they must agree about the contents of
    /// the store.
    ///
    /// - Parameter handlers: The handlers to add, at most one for each endpoint. `nil` is ignored.
    /// - Returns: the member with which to leave.
    /// - Throws: a ``RecordStoreError``: `closed` if the outbox is closed; `denied` if two handlers have the same endpoint;
    ///   `cancelled` if the task was cancelled or its deadline passed.
    public func join(handlers: [(any OutboxHandler)?]) async throws(RecordStoreError) -> OutboxMember {
        let byEndpoint = try Self.byEndpoint(handlers.compactMap(\.self))
        // Prevents the outbox from being opened in the meantime, because opening tells all current members what is pending.
        let opening = try await locks.take([records.owner])
        defer { locks.release(opening) }
        let (member, before) = try state.withLock { state throws(RecordStoreError) in
            if state.phase == .closed { throw Self.notOpen }
            // From now on, the handlers are told of accepted entries and asked to settle them.
            return (state.handlers.add(byEndpoint), state.partitions.entries)
        }
        do throws(RecordStoreError) {
            // Locks all subjects, so that no pending entry is settled in the meantime.
            let ticket = try await locks.take(Set(before.map(\.write.subject)))
            defer { locks.release(ticket) }
            // Read the entries again, because some may have been revised.
            let keys = Set(before.map(\.idempotencyKey))
            let rest = state.withLock { $0.partitions.entries }.filter { keys.contains($0.idempotencyKey) }
            tellHandlers(of: rest.sorted { $0.sequence < $1.sequence }, byEndpoint)
            return member
        } catch {
            leave(member)
            throw error
        }
    }

    /// Removes the handlers of a member. They still take part in settlements in progress, but do not learn how other pending
    /// entries end. Writes without a handler stay pending until a handler for their endpoint joins.
    public func leave(_ member: OutboxMember) {
        // The handlers are released outside of the lock, because their deinitializers can run any code.
        _ = state.withLock { $0.handlers.remove(member) }
    }

    /// Returns handlers by endpoint.
    ///
    /// - Throws: a ``RecordStoreError`` if two handlers have the same endpoint.
    static func byEndpoint(
        _ handlers: [any OutboxHandler]
    ) throws(RecordStoreError) -> [String: any OutboxHandler] {
        let byEndpoint = Dictionary(handlers.map { ($0.endpoint, $0) }) { first, _ in first }
        if byEndpoint.count == handlers.count { return byEndpoint }
        throw RecordStoreError(
            .denied,
            explanation: "Two handlers have the same endpoint: pass one handler for each endpoint."
        )
    }

    private func tellHandlers(of entries: [OutboxEntry], _ handlers: [String: any OutboxHandler]) {
        OutboxHandlers(handlers).tell(of: entries)
    }
}
