import Synchronization
import UseCases

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension Outbox {
    /// Takes over what an earlier outbox left, tells the settlers of it, and begins to deliver.
    ///
    /// Entries that a newer version of the program wrote, that are damaged, or that nobody settles are kept as they are and told to
    /// the error handler, each as a ``HeldEntryError``; so is kept, and not sent, what stands behind them in the order of their
    /// subject.
    ///
    /// - Parameter settlers: Who settles what is accepted until the outbox is closed, each for an endpoint of its own. Others
    ///   ``join(settling:)`` them.
    /// - Throws: a ``RecordStoreError`` if it cannot be opened; it may be tried again, and is with the next write that is to be
    ///   accepted, unless it is `closed`, or `denied` because it is open already or two settlers are for one endpoint.
    public func open(settling settlers: [any OutboxSettler]) async throws(RecordStoreError) {
        let byEndpoint = try Self.byEndpoint(settlers)
        try Self.checkCanOpen(state.withLock(\.phase))
        // Who joins meanwhile waits, and is told of what is left behind that.
        let ticket = try await turn(for: [records.owner])
        defer { leave(ticket) }
        // Let go outside of the lock, because what their end does is not known.
        _ = try state.withLock { state throws(RecordStoreError) in
            try Self.checkCanOpen(state.phase)
            // Those of an earlier try are not theirs any more who try again.
            let earlier = state.opener
            state.opener = state.settlers.add(byEndpoint)
            return earlier.flatMap { state.settlers.remove($0) }
        }
        try await openInTurn()
    }

    private static func checkCanOpen(_ phase: OutboxState.Phase) throws(RecordStoreError) {
        switch phase {
        case .made: break
        case .opening, .open: throw RecordStoreError(.denied, explanation: "The outbox is open already.")
        case .closed: throw Self.notOpen
        }
    }

    /// Takes over what an earlier outbox left, tells those of it who are to settle it, and begins to deliver.
    private func openInTurn() async throws(RecordStoreError) {
        let token = randomKey()
        try state.withLock { state throws(RecordStoreError) in
            try Self.checkCanOpen(state.phase)
            state.phase = .opening
            state.token = token
            // A close waits until nothing is made durable any more, so that the next one is not taken over by this.
            state.acceptsUnderWay += 1
        }
        defer { endAccepting() }
        var left: LeftEntries
        let letters: [(key: RecordKey, record: StoredRecord)]
        do {
            // Before anything is read: what another outbox accepts behind this it finds out to be no longer its business.
            try await store.commit([.keep(StoredRecord(Array(token.utf8)), records.owner)])
            letters = try await store.records(under: records.dead)
            left = try await LeftEntries(of: store, records)
            if !left.orphans.isEmpty { try await store.commit(left.orphans.map { .remove($0) }) }
        } catch {
            state.withLock { state in
                guard state.phase == .opening else { return }
                (state.phase, state.hasFailedToOpen) = (.made, true)
            }
            throw error
        }
        let settlers = state.withLock(\.settlers)
        left.hold(settlers.objection)
        settlers.tell(of: left.readable)
        let isOpen = goOn(from: left, letters)
        for problem in left.problems(records) { errorHandler.handle(problem) }
        guard isOpen else { throw Self.notOpen }
        pump()
    }

    /// Goes on from what an earlier outbox left.
    ///
    /// - Returns: `false` if the outbox was closed meanwhile.
    private func goOn(from left: LeftEntries, _ letters: [(key: RecordKey, record: StoredRecord)]) -> Bool {
        let (time, date) = (timer.now, now())
        return state.withLock { state in
            guard state.phase == .opening else { return false }
            (state.phase, state.hasFailedToOpen) = (.open, false)
            state.nextSequence = left.nextSequence
            for item in left.items {
                switch item {
                case .held(let held): state.lanes.hold(held)
                case .entry(let entry, let note):
                    var delivery = OutboxDelivery(entry: entry)
                    delivery.history = DeliveryHistory(mayHaveArrived: note.mayHaveArrived || note.isSending)
                    delivery.isNoted = note.mayHaveArrived || note.isSending
                    delivery.cause = note.cause
                    delivery.nextAttempt = note.nextAttemptDate.map {
                        time + policy.rest(of: $0.timeIntervalSince(date))
                    }
                    state.lanes.append(delivery)
                }
            }
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

    /// Opens it with those who have joined, unless it is open.
    ///
    /// - Throws: a ``RecordStoreError`` if it cannot be opened; it may be tried again, and is with the next write that is to be
    ///   accepted, unless it is `closed`.
    public func open() async throws(RecordStoreError) {
        // One after the other: who comes second finds it open.
        let ticket = try await turn(for: [records.owner])
        defer { leave(ticket) }
        switch state.withLock(\.phase) {
        case .open: return
        case .made, .opening: try await openInTurn()
        case .closed: throw Self.notOpen
        }
    }

    /// Opens it if that was tried and failed: what was in its way, such as a full disk, may be so no more.
    ///
    /// - Throws: a ``RecordStoreError`` if it still cannot be opened.
    func openIfThatFailed() async throws(RecordStoreError) {
        if state.withLock(\.hasFailedToOpen) { try await open() }
    }
}
