public import InwardCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension SharedOutbox {
    /// Sends a pending write or a dead letter again, without further waiting.
    ///
    /// A pending write keeps its place and its idempotency key; the earlier writes of its subject are sent first. If a write is
    /// held, an attempt got no answer, and the upstream has forgotten the key since, it does the write twice. A dead letter is
    /// accepted again, after the pending writes of its subject and with a new key.
    ///
    /// If the creation of an entity and changes of it were refused, they are accepted together, because the changes cannot be sent
    /// without the creation. To send the creation alone, discard the changes first.
    ///
    /// - Parameters:
    ///   - id: The ``OutboxItem/id`` of the write.
    ///   - partition: The partition of the write.
    /// - Returns: whether there is such a write.
    /// - Throws: a ``RecordStoreError``. The reason is `denied` if the dead letter cannot be read, or the write waits for a held
    ///   one, and `conflict` if another instance has changed it in the meantime. Also throws the errors of
    ///   ``accept(_:in:with:)``.
    @discardableResult
    public func resend(_ id: String, in partition: String) async throws(RecordStoreError) -> Bool {
        try await resendWrite(id, in: partition).isFound
    }

    /// Sends a pending write or a dead letter again, and returns whether there is one, and its entry if it can be read.
    func resendWrite(
        _ id: String,
        in partition: String
    ) async throws(RecordStoreError) -> (isFound: Bool, entry: OutboxEntry?) {
        if let found = try await pendingEntry(id, in: partition) {
            // An attempt that is under way is not repeated.
            if !found.lane.isSending { try await sendFirst(of: found) }
            startDelivering()
            return (true, found.entry)
        }
        let items = try await keyedDeadLetters(in: partition)
        guard let (key, item) = items.first(where: { $0.item.id == id }) else { return (false, nil) }
        guard let letter = DeadLetter(key, item) else {
            throw RecordStoreError(
                .denied,
                explanation: "The refused write \(id) cannot be read, so it cannot be sent again: discard it."
            )
        }
        let letters = letter.sentAgain(among: items.compactMap { DeadLetter($0.key, $0.item) })
        let snapshots = try await store.snapshots(for: letters.map(\.key))
        // Somebody else may have decided about some of them in the meantime.
        let left = zip(letters, snapshots).compactMap { letter, snapshot in snapshot.map { (letter, $0) } }
        guard let place = left.firstIndex(where: { $0.0.id == id }) else { return (false, nil) }
        let acceptance = Acceptance(
            writes: left.map { $0.0.write },
            partition: partition,
            ownChanges: left.map { RecordChange.remove($0.1.key) },
            conditions: left.map { RecordCondition.isUnchanged($0.1.key, since: $0.1) },
            dates: left.map { $0.0.acceptedAt }
        )
        return (true, try await accept(acceptance, to: try await destination(partition))[place])
    }

    /// Ends the wait of the first write of the lane of an entry.
    private func sendFirst(of found: PendingEntry) async throws(RecordStoreError) {
        let lane = found.lane
        guard found.isFirst || !lane.isHeld else {
            throw RecordStoreError(
                .denied,
                explanation: "The write waits for a held write of its subject: resend or discard that one."
            )
        }
        guard let note = lane.note else { return try await replaceHead(of: lane, adding: [], lane.numbers) }
        let next = AttemptNote(
            attempts: lane.isHeld ? 0 : note.attempts,
            mayHaveArrived: lane.mayHaveArrived,
            cause: note.cause,
            firstAttempt: lane.isHeld ? now() : note.firstAttemptDate,
            conflicts: note.conflicts
        )
        try await replaceHead(of: lane, adding: [.keep(StoredRecord(next.bytes), lane.keys[2])], lane.numbers)
    }

    /// Removes a pending write or a dead letter permanently. The other pending writes of its subject are then sent without further
    /// waiting.
    ///
    /// - Parameters:
    ///   - id: The ``OutboxItem/id`` of the write.
    ///   - partition: The partition of the write.
    /// - Returns: whether there was such a write.
    /// - Throws: a ``RecordStoreError``. The reason is `denied` if the write or an earlier one of its subject is being sent, and
    ///   `conflict` if another instance has changed it in the meantime.
    @discardableResult
    public func discard(_ id: String, in partition: String) async throws(RecordStoreError) -> Bool {
        if let found = try await pendingEntry(id, in: partition) {
            // Removing it would end the lease of the instance that sends, which could not settle the write then.
            guard !found.lane.isSending else {
                throw RecordStoreError(
                    .denied,
                    explanation:
                        "The write \(id), or an earlier one of its subject, is being sent: try again in a moment."
                )
            }
            try await discard(found)
            return true
        }
        guard let (snapshot, _) = try await deadLetter(id, in: partition) else { return false }
        try await store.commit([.remove(snapshot.key)], if: [.isUnchanged(snapshot.key, since: snapshot)])
        return true
    }

    // MARK: Decisions about pending entries

    /// The first entry of a lane, as it was read.
    private struct LaneStart {
        let lane: OutboxLane
        let head: RecordSnapshot
        let numbers: LaneHead
        let note: AttemptNote?
        /// The keys of the head, the first entry, and its note.
        let keys: [RecordKey]
        /// The conditions that none of the three has changed since.
        let conditions: [RecordCondition]
        /// Whether the first entry may be under way to the upstream.
        let isSending: Bool

        var isHeld: Bool { note?.isHeld == true }
        var mayHaveArrived: Bool { note.map { $0.mayHaveArrived || $0.isSending } ?? false }
    }

    /// A pending entry, with the start of its lane.
    private struct PendingEntry {
        let lane: LaneStart
        let number: Int
        /// The entry, or `nil` if it cannot be read.
        let entry: OutboxEntry?

        var isFirst: Bool { number == lane.numbers.first }
    }

    /// Finds a pending entry.
    ///
    /// - Returns: the entry and the start of its lane, both read at the same moment, or `nil` if there is no such entry.
    private func pendingEntry(_ id: String, in partition: String) async throws(RecordStoreError) -> PendingEntry? {
        for _ in 0..<Self.maximumReadings {
            var hasChanged = false
            for (key, _) in try await store.records(under: records.heads(of: partition)) {
                guard let lane = OutboxLane(head: key, under: records.heads), lane.partition == partition,
                    let head = try await store.snapshot(for: key), let numbers = try? LaneHead(head),
                    let item = try await items(of: lane, numbers).first(where: { $0.item.id == id })
                else { continue }
                let keys = [key, records.entry(numbers.first, of: lane), records.note(numbers.first, of: lane)]
                let found = try await store.snapshots(for: keys)
                // Each change of an entry changes the head, so the items belong to this head.
                guard found[0]?.version == head.version else {
                    hasChanged = true
                    break
                }
                let note = found[2].map { AttemptNote($0.record.bytes) }
                let start = LaneStart(
                    lane: lane,
                    head: head,
                    numbers: numbers,
                    note: note,
                    keys: keys,
                    conditions: zip(keys, found).map { .isUnchanged($0, since: $1) },
                    isSending: note?.isSending == true ? try await !isAbandoned(key) : false
                )
                return PendingEntry(lane: start, number: item.number, entry: item.entry)
            }
            if !hasChanged { return nil }
        }
        throw RecordStoreError(
            .conflict,
            explanation:
                "Nothing was changed, because the pending writes of the subject kept changing. Try again."
        )
    }

    /// The maximum number of times that lanes are read because they keep changing.
    private static var maximumReadings: Int { 100 }

    /// Returns whether the lease of a lane is over, because the instance that has noted an attempt has died.
    private func isAbandoned(_ head: RecordKey) async throws(RecordStoreError) -> Bool {
        // The head of one lane can be a prefix of those of others. The short lease keeps others from sending until the decision is
        // committed.
        let leased = try await store.lease(under: head, limit: 1_000, for: SharedOutboxPolicy.margin)
        for (lease, snapshot) in leased where snapshot.key != head { _ = try await store.extend(lease, for: .zero) }
        return leased.contains { $0.snapshot.key == head }
    }

    private func discard(_ found: PendingEntry) async throws(RecordStoreError) {
        let (lane, number) = (found.lane, found.number)
        var changes: [RecordChange] = []
        var settlement = OutboxSettlement()
        let later = try await pendingEntries(of: lane.lane, after: number)
        let destination = try await destination(lane.lane.partition)
        if let entry = found.entry, let handler = destination.handler(of: entry.write.endpoint) {
            let mayHaveArrived = found.isFirst && lane.mayHaveArrived
            let error = RepositoryError(
                mayHaveArrived ? .outcomeUnknown : .refused,
                request: entry.name,
                explanation: "was discarded"
            )
            settlement = try await handler.refused(
                entry,
                because: error,
                before: LaterEntries(later.filter { $0.write.subject == entry.write.subject })
            )
            for change in settlement.changes { try change.throwIfAffecting(records.prefix) }
            changes += settlement.changes
        }
        var rest: LaneHead?
        if found.isFirst {
            for entry in settlement.revised {
                changes.append(
                    .keep(try LaneEntryDTO.record(of: entry), records.entry(entry.sequence, of: lane.lane))
                )
            }
            changes += [.remove(lane.keys[1]), .remove(lane.keys[2])]
            rest = lane.numbers.count > 1 ? LaneHead(first: number + 1, next: lane.numbers.next) : nil
        } else {
            changes += try await closeGap(at: number, in: lane, settlement.revised)
            rest = LaneHead(first: lane.numbers.first, next: lane.numbers.next - 1)
        }
        let (partition, key) = (partition(ifUsed: lane.lane.partition), found.entry?.idempotencyKey)
        if let key { partition?.beginDiscarding(key) }
        do throws(RecordStoreError) {
            try await replaceHead(of: lane, adding: changes, rest)
        } catch {
            if let key, error.reason != .outcomeUnknown { partition?.endDiscarding(key) }
            throw error
        }
        // The destination retains the repositories of its handlers.
        withExtendedLifetime(destination) { settlement.whenCommitted() }
        // If this fails, it is done later.
        try? await partition?.showPending()
    }

    /// Returns the changes that remove an entry other than the first one, and give its number to the next one, and so on.
    private func closeGap(
        at number: Int,
        in lane: LaneStart,
        _ revised: [OutboxEntry]
    ) async throws(RecordStoreError) -> [RecordChange] {
        let numbers = Array((number + 1)..<max(number + 1, lane.numbers.next))
        let found = try await store.records(for: numbers.map { records.entry($0, of: lane.lane) })
        var changes: [RecordChange] = [.remove(records.entry(lane.numbers.next - 1, of: lane.lane))]
        for (number, record) in zip(numbers, found) {
            let key = records.entry(number - 1, of: lane.lane)
            if let entry = revised.first(where: { $0.sequence == number }) {
                changes.append(.keep(try LaneEntryDTO.record(of: entry), key))
            } else {
                changes.append(record.map { .keep($0, key) } ?? .remove(key))
            }
        }
        return changes
    }

    /// Makes changes, and creates the head again, which ends the lease of the instance that holds the lane.
    private func replaceHead(
        of lane: LaneStart,
        adding changes: [RecordChange],
        _ rest: LaneHead?
    ) async throws(RecordStoreError) {
        var changes = changes
        changes += [.remove(lane.head.key), .announce(records.heads(of: lane.lane.partition))]
        if let rest { changes.append(.keep(rest.record, lane.head.key)) }
        try await store.commit(changes, if: lane.conditions)
    }
}

/// A report that a write is not sent until somebody decides, and neither are the later writes of its subject.
///
/// ```swift
/// let errorHandler = IgnoringErrorHandler().notifying { error in
///     guard let report = error as? HeldWriteError else { return }
///     print("\(report). See what the API has, and then resend or discard \(report.entry.idempotencyKey).")
/// }
/// ```
///
/// Call ``SharedOutbox/resend(_:in:)`` or ``SharedOutbox/discard(_:in:)``.
public struct HeldWriteError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Why a write is held.
    public enum Reason: Hashable, Sendable, CustomStringConvertible {
        /// An attempt got no answer, and it is so long ago that the upstream may have forgotten the idempotency key. The
        /// associated value is the limit.
        case resendLimit(Duration)
        /// Too many attempts have failed. The associated value is the last error.
        case attemptLimit(RepositoryError)

        /// The reason, as a clause.
        public var description: String {
            switch self {
            case .resendLimit(let limit):
                """
                an attempt more than \(limit) ago got no answer, and if it is repeated now, the upstream may do the write twice
                """
            case .attemptLimit(let error): "too many attempts have failed, the last one because \(error)"
            }
        }
    }

    /// The held entry.
    public let entry: OutboxEntry
    /// The partition of the entry.
    public let partition: String
    /// Why it is held.
    public let reason: Reason

    /// Creates an error from a held entry and the reason.
    public init(_ entry: OutboxEntry, in partition: String, because reason: Reason) {
        self.entry = entry
        self.partition = partition
        self.reason = reason
    }

    /// The entry and the reason, as a sentence without its full stop.
    public var description: String {
        "The write \(entry.name) of \(partition) is held until somebody resends or discards it: \(reason)"
    }
}
