import InwardCore
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension Outbox {
    /// Waits until nobody else owns the records, tells the handlers of what an earlier outbox left, and begins to deliver.
    ///
    /// Entries that a newer version of the program wrote, that are damaged, or that nobody settles are kept as they are and told to
    /// the error handler, each as a ``UndeliverableEntryError``; so is kept, and not sent, what stands behind them in the order of their
    /// subject.
    ///
    /// - Parameter handlers: Who settles what is accepted until the outbox is closed, each for an endpoint of its own. Others
    ///   ``join(settling:)`` them.
    /// - Throws: a ``RecordStoreError`` if it cannot be opened: `busy`, naming the owner, if somebody else owns the records until the
    ///   task's deadline. It may be tried again, and is with the next write that is to be accepted, unless it is `closed`, or `denied`
    ///   because it is open already or two handlers are for one endpoint.
    public func open(settling handlers: [any OutboxHandler]) async throws(RecordStoreError) {
        let byEndpoint = try Self.byEndpoint(handlers)
        try add(byEndpoint)
        try await open()
    }

    /// Adds those who open the outbox.
    private func add(_ byEndpoint: [String: any OutboxHandler]) throws(RecordStoreError) {
        // Let go outside of the lock, because what their end does is not known.
        _ = try state.withLock { state throws(RecordStoreError) in
            switch state.phase {
            case .made: break
            case .opening, .open: throw RecordStoreError(.denied, explanation: "The outbox is open already.")
            case .closed: throw Self.notOpen
            }
            // Those of an earlier try are not theirs any more who try again.
            let earlier = state.opener
            state.opener = state.handlers.add(byEndpoint)
            return earlier.flatMap { state.handlers.remove($0) }
        }
    }

    /// Opens it with those who have joined, unless it is open. Waits until nobody else owns the records.
    ///
    /// - Throws: a ``RecordStoreError`` if it cannot be opened: `busy`, naming the owner, if somebody else owns the records until the
    ///   task's deadline. It may be tried again, and is with the next write that is to be accepted, unless it is `closed`.
    public func open() async throws(RecordStoreError) {
        var wait = ClaimWait(timer)
        while let owner = try await openUnlessOwned() { try await wait.pause(for: "The outbox", ownedBy: owner) }
    }

    /// Opens it with those who have joined, unless it is open, or somebody else owns the records.
    ///
    /// - Parameter delivering: Whether it sends what is pending. An outbox that does not can discard writes, and delivers as soon as it
    ///   accepts or retries one.
    /// - Returns: who owns the records; `nil` if the outbox is open.
    /// - Throws: a ``RecordStoreError`` if it cannot be opened. It may be tried again, unless it is `closed`.
    @discardableResult
    public func openUnlessOwned(delivering: Bool = true) async throws(RecordStoreError) -> String? {
        // One after the other: who comes second finds it open. Who joins meanwhile waits, and is told of what is left after that.
        let ticket = try await turn(for: [records.owner])
        defer { leave(ticket) }
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
            // If it was open before, and another process took over, that is not over yet.
            await finishWork()
            try await openInTurn(claim, delivering: delivering)
            return nil
        }
    }

    /// Opens it if it is not open and somebody has joined: for whoever writes.
    ///
    /// - Throws: a ``RecordStoreError`` if it cannot be opened.
    func openIfNeeded() async throws(RecordStoreError) {
        let isNeeded = state.withLock { [.made, .opening].contains($0.phase) && !$0.handlers.isEmpty }
        if isNeeded { try await open() }
    }

    /// Takes over what an earlier outbox left, tells those of it who are to settle it, and begins to deliver.
    private func openInTurn(_ claim: RecordClaim, delivering: Bool) async throws(RecordStoreError) {
        let token = randomKey()
        let isOpening = state.withLock { state in
            guard state.phase == .made else { return false }
            state.phase = .opening
            state.token = token
            state.delivers = delivering
            // A close waits until nothing is made durable any more, so that the next one is not taken over by this.
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
            // Before the close that waits for it goes on.
            await claim.release()
            throw error
        }
        pump()
    }

    private func takeOver(_ claim: RecordClaim, writing token: String) async throws(RecordStoreError) {
        // Before anything is read: what another outbox accepts after this it finds out to be no longer its business.
        try await store.commit([.keep(StoredRecord(Array(token.utf8)), records.owner)])
        let letters = try await store.records(under: records.dead)
        var left = try await LeftEntries(of: store, records)
        if let losses = left.unknownLosses, left.items.isEmpty {
            // Nothing is left to hold because of them. They are told all the same.
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

    /// Goes on from what an earlier outbox left.
    ///
    /// - Returns: `false` if the outbox was closed meanwhile.
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
    /// Commits changes of others together with those of the outbox itself, if it is still the one that delivers.
    ///
    /// - Throws: a ``RecordStoreError`` if nothing was changed.
    func commit(_ changes: [RecordChange], adding own: [RecordChange]) async throws(RecordStoreError) {
        if let change = changes.first(where: records.isTouched) {
            throw RecordStoreError(
                .denied,
                explanation: "The change \(change) is of the records of the outbox, which nobody else may change."
            )
        }
        try await checkOwner()
        try await store.commit(changes + own)
    }

    /// Makes sure that nobody else has taken over: the claim of the store says so for as long as claims work there, and a token that
    /// the owner writes into its records says so in any case.
    ///
    /// - Throws: a ``RecordStoreError``: `closed` if somebody has.
    func checkOwner() async throws(RecordStoreError) {
        let owner = try await store.record(for: records.owner)
        let token = state.withLock(\.token)
        // A record that is lost is nobody else's.
        guard let owner, owner.bytes != Array(token.utf8) else { return }
        let error = OutboxFencedError(prefix: records.prefix)
        if await loseRecords() { errorHandler.handle(error) }
        throw RecordStoreError(.closed, explanation: "\(error).")
    }

    /// Leaves the records to whoever has taken over, until the next write opens the outbox again.
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
        // What becomes of the entries is the other's to know.
        handlers.reset(to: [])
        await claim?.release()
        return true
    }

    /// Who owns the records, if that is not this outbox; `nil` if this outbox owns them, or nobody does.
    ///
    /// - Throws: a ``RecordStoreError`` if the store cannot tell.
    public func otherOwner() async throws(RecordStoreError) -> String? {
        let ticket = try await turn(for: [records.owner])
        defer { leave(ticket) }
        guard state.withLock(\.claim) == nil else { return nil }
        switch try await store.claim(records.owner) {
        case .owned(let owner): return owner
        case .claimed(let claim):
            await claim.release()
            return nil
        }
    }

    /// Whether the store has pending writes, whoever owns them.
    ///
    /// - Throws: a ``RecordStoreError`` if the store cannot be read.
    public func hasPendingRecords() async throws(RecordStoreError) -> Bool {
        try await !store.records(under: records.entries).isEmpty
    }

    /// Tells the handlers what is pending, without owning it, unless the outbox is open. What becomes of it meanwhile they learn when
    /// this is called again, or when the outbox is opened.
    ///
    /// - Throws: a ``RecordStoreError`` if the store cannot be read.
    public func showPending() async throws(RecordStoreError) {
        let ticket = try await turn(for: [records.owner])
        defer { leave(ticket) }
        guard state.withLock({ $0.phase == .made }) else { return }
        let left = try await LeftEntries(of: store, records)
        state.withLock(\.handlers).reset(to: left.readable)
    }
}

/// Another process has taken over the records of an outbox, and delivers what is pending. The outbox opens itself again with its next
/// write.
public struct OutboxFencedError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What the records of the outbox are kept under.
    public let prefix: RecordKey

    /// Names an outbox by what its records are kept under.
    public init(prefix: RecordKey) {
        self.prefix = prefix
    }

    /// What happened and what to do, as a sentence without its full stop.
    public var description: String {
        """
        The outbox \(prefix) was taken over by another process, which delivers what is pending; the next write takes it back when that \
        process has released it
        """
    }
}

extension Outbox {
    /// Has others settle what is accepted too, beside those that it was opened with: another repository of the same entities, say,
    /// that somebody else reads.
    ///
    /// They have been told of what is pending when it returns, or are when it is opened; of what is being settled at that moment they
    /// may be asked without having been told. Each write is settled by all who are for its endpoint, in one commit; they are of one
    /// mind about what is kept in the store.
    ///
    /// - Parameter handlers: Who settles, each for an endpoint of its own.
    /// - Returns: what to leave with.
    /// - Throws: a ``RecordStoreError``: `closed` if the outbox is closed; `denied` if two handlers are for one endpoint;
    ///   `cancelled` if the task was cancelled or its deadline passed.
    public func join(settling handlers: [any OutboxHandler]) async throws(RecordStoreError) -> OutboxMember {
        let byEndpoint = try Self.byEndpoint(handlers)
        // Nobody opens it meanwhile: whoever is there by then is told of what is left.
        let opening = try await turn(for: [records.owner])
        defer { leave(opening) }
        let (member, before) = try state.withLock { state throws(RecordStoreError) in
            if state.phase == .closed { throw Self.notOpen }
            // From here on they are told of what is accepted, and asked what is to be kept.
            return (state.handlers.add(byEndpoint), state.partitions.entries)
        }
        do throws(RecordStoreError) {
            // What is still pending of what was then: nobody settles any of it meanwhile.
            let ticket = try await turn(for: Set(before.map(\.write.subject)))
            defer { leave(ticket) }
            let rest = state.withLock { state in before.filter(state.partitions.contains) }
            tellSettlers(of: rest.sorted { $0.sequence < $1.sequence }, byEndpoint)
            return member
        } catch {
            leave(member)
            throw error
        }
    }

    /// Has them settle no more who joined. What they were asked before that is still done; of the end of what they were told is
    /// pending they hear no more. What nobody settles any more stays pending, until somebody joins who does.
    public func leave(_ member: OutboxMember) {
        // Let go outside of the lock, because what their end does is not known.
        _ = state.withLock { $0.handlers.remove(member) }
    }

    /// Handlers by what they settle.
    ///
    /// - Throws: a ``RecordStoreError`` if two are for the same.
    static func byEndpoint(
        _ handlers: [any OutboxHandler]
    ) throws(RecordStoreError) -> [String: any OutboxHandler] {
        let byEndpoint = Dictionary(handlers.map { ($0.endpoint, $0) }) { first, _ in first }
        if byEndpoint.count == handlers.count { return byEndpoint }
        throw RecordStoreError(
            .denied,
            explanation: "Two handlers are for one endpoint: each needs one of its own."
        )
    }

    private func tellSettlers(of entries: [OutboxEntry], _ handlers: [String: any OutboxHandler]) {
        var group = OutboxHandlers()
        _ = group.add(handlers)
        group.tell(of: entries)
    }
}
