import InwardCore
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension Outbox {
    /// Stores writes and changes in one commit, as ``accept(_:with:)`` does, and then delivers the writes.
    ///
    /// - Parameters:
    ///   - writes: The writes to deliver. Writes of one subject are delivered in this order.
    ///   - changes: The changes to make in the store in the same commit.
    ///   - tell: Called once with the entries, when they are durable and the handlers know of them, and before one of them is
    ///     settled. Must return quickly.
    /// - Returns: the entries of the writes, in the same order.
    /// - Throws: a ``RecordStoreError``, as ``accept(_:with:)`` does.
    @discardableResult
    public func accept(
        _ writes: [OutboxWrite],
        with changes: [RecordChange],
        whenAccepted tell: ([OutboxEntry]) -> Void
    ) async throws(RecordStoreError) -> [OutboxEntry] {
        try await openIfNeeded()
        return try await accept(writes, with: changes, adding: [], acceptedAt: nil, tell)
    }

    /// Stores a write that depends on the pending writes of its subject, and then delivers it.
    ///
    /// - Parameters:
    ///   - subject: The subject.
    ///   - key: The key of a dead letter to remove in the same commit, or `nil` for none.
    ///   - make: Returns the write, or `nil` to accept none. While it runs, no other write of the subject is accepted or
    ///     settled.
    /// - Returns: the entry, or `nil` if `make` returned none.
    /// - Throws: a ``RecordStoreError`` if nothing was accepted.
    func accept(
        in subject: RecordKey,
        removing key: RecordKey?,
        _ make: () -> OutboxWrite?
    ) async throws(RecordStoreError) -> OutboxEntry? {
        try await openIfNeeded()
        let ticket = try await locks.take([subject])
        defer { locks.release(ticket) }
        guard let write = make() else { return nil }
        var underWay = (writes: 1, bytes: write.byteCount)
        try beginAccepting([write], write.byteCount, needsDeadLetterRoom: key == nil)
        defer { endAccepting(underWay.writes, underWay.bytes) }
        let removal = key.map { [RecordChange.remove($0)] } ?? []
        return try await accept([write], with: [], adding: removal, acceptedAt: nil, &underWay) { _ in }.first
    }

    /// Makes refused writes pending again, and removes the dead letters.
    ///
    /// - Returns: the new entries, in the same order.
    /// - Throws: a ``RecordStoreError`` if nothing was changed.
    func acceptAgain(_ letters: [DeadLetter]) async throws(RecordStoreError) -> [OutboxEntry] {
        try await accept(
            letters.map(\.write),
            with: [],
            adding: letters.map { RecordChange.remove($0.key) },
            acceptedAt: letters.map(\.acceptedAt)
        ) { _ in }
    }

    private func accept(
        _ writes: [OutboxWrite],
        with changes: [RecordChange],
        adding own: [RecordChange],
        acceptedAt dates: [Date]?,
        _ tell: ([OutboxEntry]) -> Void
    ) async throws(RecordStoreError) -> [OutboxEntry] {
        let byteCount = writes.reduce(0) { $0 + $1.byteCount }
        // The commit of retried writes removes their dead letters, so it makes room by itself.
        try beginAccepting(writes, byteCount, needsDeadLetterRoom: dates == nil)
        var underWay = (writes: writes.count, bytes: byteCount)
        defer { endAccepting(underWay.writes, underWay.bytes) }
        let ticket = try await locks.take(Set(writes.map(\.subject)))
        defer { locks.release(ticket) }
        return try await accept(writes, with: changes, adding: own, acceptedAt: dates, &underWay, tell)
    }

    /// Accepts writes whose subjects are locked. They count toward the limits, first as in progress and then as pending.
    private func accept(
        _ writes: [OutboxWrite],
        with changes: [RecordChange],
        adding own: [RecordChange],
        acceptedAt dates: [Date]?,
        _ underWay: inout (writes: Int, bytes: Int),
        _ tell: ([OutboxEntry]) -> Void
    ) async throws(RecordStoreError) -> [OutboxEntry] {
        let entries = number(following(writes), acceptedAt: dates)
        var own = own
        for entry in entries { own.append(try records.keeping(entry)) }
        try await commit(changes, adding: own)
        // Handlers that join from now on find the entries among the pending ones, and are told of them when the subject locks
        // are released. The entries are not settled before that.
        let handlers = state.withLock { state in
            state.counts.accepted += entries.count
            state.delivers = true
            if state.phase != .made {
                for entry in entries { state.partitions.append(OutboxDelivery(entry: entry)) }
            }
            // The writes count as pending now. Do not count them twice.
            state.writesUnderWay -= underWay.writes
            state.bytesUnderWay -= underWay.bytes
            // If another process has just taken over, that process delivers the entries.
            return state.phase == .made ? OutboxHandlers() : state.handlers
        }
        underWay = (0, 0)
        handlers.tell(of: entries)
        tell(entries)
        observer?.writesAccepted(entries)
        pump()
        return entries
    }

    private func beginAccepting(
        _ writes: [OutboxWrite],
        _ byteCount: Int,
        needsDeadLetterRoom: Bool
    ) throws(RecordStoreError) {
        for write in writes { try write.throwIfTooLarge(policy) }
        try state.withLock { state throws(RecordStoreError) in
            guard state.phase == .open else { throw Self.notOpen }
            for write in writes {
                guard let objection = state.handlers.objection(to: write) else { continue }
                throw write.denied(because: objection, state.handlers.operations(of: write.endpoint))
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

    /// Ends an accept call, and resumes the tasks that wait until no commit is in progress.
    ///
    /// - Parameters:
    ///   - count: The number of writes still counted as in progress.
    ///   - byteCount: The size of these writes in bytes.
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

    /// Returns the writes with adjusted versions. A write that follows a pending write of its subject is made for the version
    /// that the previous write produces.
    private func following(_ writes: [OutboxWrite]) -> [OutboxWrite] {
        var seen: Set<RecordKey> = []
        return writes.map { write in
            let isFirst = seen.insert(write.subject).inserted
            guard case .entityTag = write.version else { return write }
            let isAlone = isFirst && state.withLock { !$0.partitions.hasEntries(of: write.subject) }
            return isAlone ? write : write.made(for: .previousWrite)
        }
    }

    /// Returns entries for writes, numbered in the order in which the subject locks were granted.
    private func number(_ writes: [OutboxWrite], acceptedAt dates: [Date]?) -> [OutboxEntry] {
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
                acceptedAt: dates?[offset] ?? date,
                attempts: 0
            )
        }
    }

    /// The error for an outbox that is not open.
    static var notOpen: RecordStoreError {
        RecordStoreError(.closed, explanation: "The outbox is not open: nothing was accepted.")
    }
}

extension OutboxWrite {
    /// Throws an error if the write is larger than a policy allows.
    func throwIfTooLarge(_ policy: OutboxPolicy) throws(RecordStoreError) {
        guard byteCount > policy.maximumWriteBytes else { return }
        throw RecordStoreError(
            .denied,
            explanation: """
                The write \(self) has \(byteCount) bytes, and \(policy.maximumWriteBytes) are allowed: nothing was accepted. \
                Make it smaller or split it.
                """
        )
    }

    /// The error for a write that cannot be sent.
    func denied(
        because objection: UndeliverableEntryError.Reason,
        _ operations: [OutboxOperation]
    ) -> RecordStoreError {
        guard case .undeclared = objection else {
            return RecordStoreError(
                .denied,
                explanation: """
                    The write \(self) is for the endpoint “\(endpoint)”, which has no handler: nothing was accepted. Open the \
                    outbox with a handler for it.
                    """
            )
        }
        let declared = operations.map(\.description).joined(separator: ", ")
        return RecordStoreError(
            .denied,
            explanation: """
                The write \(self) is not among the operations that the handler of “\(endpoint)” declares \
                (\(declared.isEmpty ? "none" : declared)): nothing was accepted.
                """
        )
    }
}
