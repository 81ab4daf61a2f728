import InwardCore
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension Outbox {
    /// Waits until nobody else owns the records, tells the settlers of what an earlier outbox left, and begins to deliver.
    ///
    /// Entries that a newer version of the program wrote, that are damaged, or that nobody settles are kept as they are and told to
    /// the error handler, each as a ``HeldEntryError``; so is kept, and not sent, what stands behind them in the order of their
    /// subject.
    ///
    /// - Parameter settlers: Who settles what is accepted until the outbox is closed, each for an endpoint of its own. Others
    ///   ``join(settling:)`` them.
    /// - Throws: a ``RecordStoreError`` if it cannot be opened: `busy`, naming the owner, if somebody else owns the records until the
    ///   task's deadline. It may be tried again, and is with the next write that is to be accepted, unless it is `closed`, or `denied`
    ///   because it is open already or two settlers are for one endpoint.
    public func open(settling settlers: [any OutboxSettler]) async throws(RecordStoreError) {
        let byEndpoint = try Self.byEndpoint(settlers)
        try add(byEndpoint)
        try await open()
    }

    /// Adds those who open the outbox.
    private func add(_ byEndpoint: [String: any OutboxSettler]) throws(RecordStoreError) {
        // Let go outside of the lock, because what their end does is not known.
        _ = try state.withLock { state throws(RecordStoreError) in
            switch state.phase {
            case .made: break
            case .opening, .open: throw RecordStoreError(.denied, explanation: "The outbox is open already.")
            case .closed: throw Self.notOpen
            }
            // Those of an earlier try are not theirs any more who try again.
            let earlier = state.opener
            state.opener = state.settlers.add(byEndpoint)
            return earlier.flatMap { state.settlers.remove($0) }
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
        let isNeeded = state.withLock { [.made, .opening].contains($0.phase) && !$0.settlers.isEmpty }
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
        let settlers = state.withLock(\.settlers)
        left.hold(settlers.objection)
        settlers.reset(to: left.readable)
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
                case .held(let held): state.lanes.hold(held)
                case .entry(let entry, let note):
                    state.lanes.append(OutboxDelivery(entry, note, at: time, date, policy))
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
