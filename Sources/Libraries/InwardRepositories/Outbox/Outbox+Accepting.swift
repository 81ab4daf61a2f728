import InwardCore
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension Outbox {
    /// Makes writes and changes durable, all of them or none, and delivers the writes from then on.
    ///
    /// - Parameters:
    ///   - writes: What is to be done at the upstream.
    ///   - changes: What is changed in the store at once.
    ///   - tell: Is given the entries as soon as they are durable, behind the handlers, before anything else is done to their
    ///     subjects.
    /// - Returns: the entries that the writes became, in their order.
    /// - Throws: a ``RecordStoreError`` if nothing was accepted or changed.
    func accept(
        _ writes: [OutboxWrite],
        with changes: [RecordChange],
        _ tell: ([OutboxEntry]) -> Void
    ) async throws(RecordStoreError) -> [OutboxEntry] {
        try await openIfNeeded()
        return try await accept(writes, with: changes, adding: [], acceptedAt: nil, tell)
    }

    /// Makes a refused write pending again.
    ///
    /// - Parameters:
    ///   - write: The write.
    ///   - key: What it is kept under as a refused one, and then not any more.
    ///   - date: When it was accepted first.
    /// - Returns: the entry that it became.
    /// - Throws: a ``RecordStoreError`` if nothing was changed.
    func acceptAgain(
        _ write: OutboxWrite,
        removing key: RecordKey,
        acceptedAt date: Date
    ) async throws(RecordStoreError) -> OutboxEntry? {
        try await accept([write], with: [], adding: [.remove(key)], acceptedAt: date) { _ in }.first
    }

    private func accept(
        _ writes: [OutboxWrite],
        with changes: [RecordChange],
        adding own: [RecordChange],
        acceptedAt date: Date?,
        _ tell: ([OutboxEntry]) -> Void
    ) async throws(RecordStoreError) -> [OutboxEntry] {
        let byteCount = writes.reduce(0) { $0 + $1.byteCount }
        // A refused write that is retried leaves the dead letters with this commit.
        try beginAccepting(writes, byteCount, needsDeadLetterRoom: date == nil)
        var underWay = (writes: writes.count, bytes: byteCount)
        defer { endAccepting(underWay.writes, underWay.bytes) }
        let ticket = try await turn(for: Set(writes.map(\.subject)))
        defer { leave(ticket) }
        let entries = number(writes, acceptedAt: date ?? now().roundedToMilliseconds)
        var own = own
        for entry in entries {
            let bytes = try OutboxEntryDTO.bytes(of: entry)
            own.append(.keep(StoredRecord(bytes), OutboxEntryName(entry).key(under: records.entries)))
        }
        try await commit(changes, adding: own)
        // Who joins behind this finds them pending. Nothing is settled, nor told to who joins, before the turn is left.
        let handlers = state.withLock { state in
            state.counts.accepted += entries.count
            state.delivers = true
            if state.phase != .made {
                for entry in entries { state.partitions.append(OutboxDelivery(entry: entry)) }
            }
            // They are pending now, and not to be counted twice.
            state.writesUnderWay -= underWay.writes
            state.bytesUnderWay -= underWay.bytes
            // If another process took over at this moment, that one delivers them.
            return state.phase == .made ? OutboxHandlers() : state.handlers
        }
        underWay = (0, 0)
        handlers.tell(of: entries)
        tell(entries)
        pump()
        return entries
    }

    private func beginAccepting(
        _ writes: [OutboxWrite],
        _ byteCount: Int,
        needsDeadLetterRoom: Bool
    ) throws(RecordStoreError) {
        if let large = writes.first(where: { $0.byteCount > policy.maximumWriteBytes }) {
            throw RecordStoreError(
                .denied,
                explanation: """
                    The write \(large) has \(large.byteCount) bytes, and \(policy.maximumWriteBytes) are allowed: nothing was \
                    accepted. Make it smaller, or split it.
                    """
            )
        }
        try state.withLock { state throws(RecordStoreError) in
            guard state.phase == .open else { throw Self.notOpen }
            for write in writes {
                guard let objection = state.handlers.objection(to: write) else { continue }
                throw Self.denied(write, objection, state.handlers.operations(of: write.endpoint))
            }
            if let shortage = state.shortage(
                for: writes.count,
                byteCount,
                policy,
                needsDeadLetterRoom: needsDeadLetterRoom
            ) {
                throw RecordStoreError(.full, explanation: "\(shortage) Nothing was accepted.")
            }
            state.acceptsUnderWay += 1
            state.writesUnderWay += writes.count
            state.bytesUnderWay += byteCount
        }
    }

    private static func denied(
        _ write: OutboxWrite,
        _ objection: UndeliverableEntryError.Reason,
        _ operations: [OutboxOperation]
    ) -> RecordStoreError {
        guard case .undeclared = objection else {
            return RecordStoreError(
                .denied,
                explanation: """
                    The write \(write) is for the endpoint “\(write.endpoint)”, which nobody settles: open the outbox with a handler \
                    of it.
                    """
            )
        }
        let declared = operations.map(\.description).joined(separator: ", ")
        return RecordStoreError(
            .denied,
            explanation: """
                The write \(write) is not among the operations that the handler of “\(write.endpoint)” declares \
                (\(declared.isEmpty ? "none" : declared)): nothing was accepted.
                """
        )
    }

    /// Has those go on who wait until nothing is made durable, if nothing is.
    ///
    /// - Parameters:
    ///   - count: How many writes were to be made durable.
    ///   - byteCount: How many bytes they have.
    func endAccepting(_ count: Int = 0, _ byteCount: Int = 0) {
        let waiters = state.withLock { state -> [Promise<Void>] in
            state.acceptsUnderWay -= 1
            state.writesUnderWay -= count
            state.bytesUnderWay -= byteCount
            guard state.acceptsUnderWay == 0 else { return [] }
            defer { state.idleWaiters = [] }
            return state.idleWaiters
        }
        for waiter in waiters { waiter.fulfill(()) }
    }

    /// The entries that writes become. Their numbers are in the order of the turns.
    private func number(_ writes: [OutboxWrite], acceptedAt date: Date) -> [OutboxEntry] {
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
    func turn(for subjects: Set<RecordKey>) async throws(RecordStoreError) -> KeyedLock.Ticket {
        let (ticket, promise) = state.withLock { state -> (KeyedLock.Ticket, Promise<Void>?) in
            let (ticket, isGranted) = state.turns.request(subjects)
            if isGranted { return (ticket, nil) }
            let promise = Promise<Void>()
            state.turnWaiters[ticket] = promise
            return (ticket, promise)
        }
        let outcome = await promise?.value() ?? .fulfilled(())
        if case .fulfilled = outcome { return ticket }
        leave(ticket)
        let reason = if case .cancelled = outcome { "the task was cancelled" } else { "the deadline passed" }
        throw RecordStoreError(.cancelled, explanation: "Nothing was changed: \(reason) before it was begun.")
    }

    /// Lets the next go on who wait for the subjects of a ticket.
    func leave(_ ticket: KeyedLock.Ticket) {
        let promises = state.withLock { state in
            state.turnWaiters[ticket] = nil
            return state.turns.leave(ticket).compactMap { state.turnWaiters.removeValue(forKey: $0) }
        }
        for promise in promises { promise.fulfill(()) }
    }
}

/// Who may change what is kept of which subjects: one at a time for each subject, in the order they asked. A value without a task,
/// for an ``Outbox``.
///
/// Who asks for several subjects gets them all at once, and stands in all their queues from the moment it asks; so nobody waits
/// for somebody who waits for him.
struct KeyedLock {
    /// Names who asked.
    typealias Ticket = Int

    private var queues: [RecordKey: [Ticket]] = [:]
    private var subjects: [Ticket: Set<RecordKey>] = [:]
    private var lastTicket = 0

    /// How many have asked and not left.
    var count: Int { subjects.count }

    /// Asks for a turn.
    ///
    /// - Parameter subjects: What it is for; of none, it comes at once.
    /// - Returns: the ticket, and whether it is its turn already.
    mutating func request(_ subjects: Set<RecordKey>) -> (ticket: Ticket, isGranted: Bool) {
        lastTicket += 1
        self.subjects[lastTicket] = subjects
        for subject in subjects { queues[subject, default: []].append(lastTicket) }
        return (lastTicket, isGranted(lastTicket))
    }

    /// Ends a turn, or the wait for one.
    ///
    /// - Returns: those whose turn it is by that.
    mutating func leave(_ ticket: Ticket) -> [Ticket] {
        var next: Set<Ticket> = []
        for subject in subjects.removeValue(forKey: ticket) ?? [] {
            guard var queue = queues[subject], let place = queue.firstIndex(of: ticket) else { continue }
            queue.remove(at: place)
            queues[subject] = queue.isEmpty ? nil : queue
            // Who was behind somebody that waited gets no turn by that.
            if place == 0, let first = queue.first { next.insert(first) }
        }
        return next.filter(isGranted).sorted()
    }

    private func isGranted(_ ticket: Ticket) -> Bool {
        (subjects[ticket] ?? []).allSatisfy { queues[$0]?.first == ticket }
    }
}
