import InwardCore
import Synchronization

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
        if isOutdated { try await showPending() }
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
                try await showPending()
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
                try await showPending()
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
