import Synchronization
import UseCases

extension Outbox {
    /// Makes writes and changes durable, all of them or none, and delivers the writes from then on.
    ///
    /// - Parameters:
    ///   - writes: What is to be done at the upstream.
    ///   - changes: What is changed in the store at once.
    ///   - tell: Is given the entries as soon as they are durable, behind the settlers, before anything else is done to their
    ///     subjects.
    /// - Returns: the entries that the writes became, in their order.
    /// - Throws: a ``RecordStoreError`` if nothing was accepted or changed.
    func accept(
        _ writes: [OutboxWrite],
        with changes: [RecordChange],
        _ tell: ([OutboxEntry]) -> Void
    ) async throws(RecordStoreError) -> [OutboxEntry] {
        try await openIfThatFailed()
        try beginAccepting(writes)
        var underWay = writes.count
        defer { endAccepting(underWay) }
        let ticket = try await turn(for: Set(writes.map(\.subject)))
        defer { leave(ticket) }
        let entries = number(writes)
        var all = changes
        for entry in entries {
            let bytes = try OutboxEntryDTO.bytes(of: entry)
            all.append(.keep(StoredRecord(bytes), OutboxEntryName(entry).key(under: records.entries)))
        }
        try await commit(changes, adding: Array(all.dropFirst(changes.count)))
        // Who joins behind this finds them pending. Nothing is settled, nor told to who joins, before the turn is left.
        let settlers = state.withLock { state in
            state.counts.accepted += entries.count
            for entry in entries { state.lanes.append(entry, DeliveryHistory()) }
            // They are pending now, and not to be counted twice.
            state.writesUnderWay -= underWay
            return state.settlers
        }
        underWay = 0
        settlers.tell(of: entries)
        tell(entries)
        pump()
        return entries
    }

    private func beginAccepting(_ writes: [OutboxWrite]) throws(RecordStoreError) {
        try state.withLock { state throws(RecordStoreError) in
            guard state.phase == .open else { throw Self.notOpen }
            if let unsettled = writes.first(where: { !state.settlers.settle($0.endpoint) }) {
                throw RecordStoreError(
                    .denied,
                    explanation: """
                        The write \(unsettled) is for the endpoint “\(unsettled.endpoint)”, which nobody settles: open the \
                        outbox with a settler of it.
                        """
                )
            }
            guard state.lanes.count + state.writesUnderWay + writes.count <= policy.mostPending || writes.isEmpty else {
                throw RecordStoreError(
                    .full,
                    explanation: """
                        \(state.lanes.count) writes wait for the upstream to take them, and \(policy.mostPending) may at the most: \
                        nothing was accepted. Do it again when the upstream has taken some.
                        """
                )
            }
            state.acceptsUnderWay += 1
            state.writesUnderWay += writes.count
        }
    }

    /// Has those go on who wait until nothing is made durable, if nothing is.
    ///
    /// - Parameter count: How many writes were to be made durable.
    func endAccepting(_ count: Int = 0) {
        let waiters = state.withLock { state -> [Promise<Void>] in
            state.acceptsUnderWay -= 1
            state.writesUnderWay -= count
            guard state.acceptsUnderWay == 0 else { return [] }
            defer { state.idleWaiters = [] }
            return state.idleWaiters
        }
        for waiter in waiters { waiter.keep(()) }
    }

    /// The entries that writes become. Their numbers are in the order of the turns.
    private func number(_ writes: [OutboxWrite]) -> [OutboxEntry] {
        let date = now().roundedToMilliseconds
        let first = state.withLock { state in
            defer { state.nextSequence += writes.count }
            return state.nextSequence
        }
        return writes.enumerated().map { offset, write in
            OutboxEntry(
                sequence: first + offset,
                write: write,
                idempotencyKey: randomKey(),
                acceptedAt: date,
                attempts: 0
            )
        }
    }

    /// That nothing can be accepted, because the outbox is not open.
    static var notOpen: RecordStoreError {
        RecordStoreError(.closed, explanation: "The outbox is not open: nothing was accepted.")
    }

    /// Waits until nobody else changes what is kept of any of these subjects.
    ///
    /// - Returns: the ticket to leave with.
    /// - Throws: a ``RecordStoreError`` as soon as the task is cancelled, or its deadline has passed.
    func turn(for subjects: Set<RecordKey>) async throws(RecordStoreError) -> OutboxTurns.Ticket {
        let (ticket, promise) = state.withLock { state -> (OutboxTurns.Ticket, Promise<Void>?) in
            let (ticket, isGranted) = state.turns.request(subjects)
            if isGranted { return (ticket, nil) }
            let promise = Promise<Void>()
            state.turnWaiters[ticket] = promise
            return (ticket, promise)
        }
        let outcome = await promise?.value() ?? .kept(())
        if case .kept = outcome { return ticket }
        leave(ticket)
        let reason = if case .cancelled = outcome { "the task was cancelled" } else { "the deadline passed" }
        throw RecordStoreError(.cancelled, explanation: "Nothing was changed: \(reason) before it was begun.")
    }

    /// Lets the next go on who wait for the subjects of a ticket.
    func leave(_ ticket: OutboxTurns.Ticket) {
        let promises = state.withLock { state in
            state.turnWaiters[ticket] = nil
            return state.turns.leave(ticket).compactMap { state.turnWaiters.removeValue(forKey: $0) }
        }
        for promise in promises { promise.keep(()) }
    }
}
