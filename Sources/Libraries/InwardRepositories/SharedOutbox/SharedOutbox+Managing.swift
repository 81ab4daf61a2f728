public import InwardCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension SharedOutbox {
    /// Returns the names of the partitions that have pending writes or dead letters, in order.
    ///
    /// - Throws: a ``RecordStoreError`` if the store cannot be read.
    /// - Complexity: O(n) in the number of subjects with pending writes and of dead letters.
    public func partitions() async throws(RecordStoreError) -> [String] {
        var names: Set<String> = []
        for prefix in [records.heads, records.dead] {
            for (key, _) in try await store.records(under: prefix) {
                if let name = key.components.dropFirst(prefix.components.count).first { names.insert(name) }
            }
        }
        return names.sorted()
    }

    /// Returns the pending writes of a partition, by subject and in the order in which they are delivered.
    ///
    /// ```swift
    /// func printPending(of user: String, _ outbox: SharedOutbox) async throws {
    ///     for item in try await outbox.pending(in: user) { print(item.state, item.write?.path ?? "", item.attempts) }
    /// }
    /// ```
    ///
    /// - Throws: a ``RecordStoreError`` if the store cannot be read.
    /// - Complexity: O(n) in the number of writes.
    public func pending(in partition: String) async throws(RecordStoreError) -> [OutboxItem] {
        var items: [OutboxItem] = []
        for (key, _) in try await store.records(under: records.heads(of: partition)) {
            guard let lane = OutboxLane(head: key, under: records.heads), lane.partition == partition else { continue }
            items += try await self.items(of: lane).map(\.item)
        }
        return items
    }

    /// Returns the dead letters of a partition: the writes that were refused, and those that the outbox gave up on.
    ///
    /// ```swift
    /// func retryAll(of user: String, _ outbox: SharedOutbox) async throws {
    ///     for letter in try await outbox.deadLetters(in: user) { try await outbox.resend(letter.id, in: user) }
    /// }
    /// ```
    ///
    /// - Throws: a ``RecordStoreError`` if the store cannot be read.
    /// - Complexity: O(n) in the number of dead letters.
    public func deadLetters(in partition: String) async throws(RecordStoreError) -> [OutboxItem] {
        let prefix = records.deadLetters(of: partition)
        return try await store.records(under: prefix).compactMap { key, record in
            OutboxEntryName(key, under: prefix).map { DeadLetterDTO.item(from: record.bytes, named: $0) }
        }
    }

    /// Sends a held write or a dead letter again.
    ///
    /// A held write keeps its place and its idempotency key. If an attempt got no answer, and the upstream has forgotten the key
    /// since, it does the write twice. A dead letter is accepted again, after the pending writes of its subject and with a new
    /// key.
    ///
    /// - Parameters:
    ///   - id: The ``OutboxItem/id`` of the write.
    ///   - partition: The partition of the write.
    /// - Returns: whether there is such a write.
    /// - Throws: a ``RecordStoreError``. The reason is `denied` if the dead letter cannot be read, and `conflict` if another
    ///   instance has changed it in the meantime. Also throws the errors of ``accept(_:in:with:)``.
    @discardableResult
    public func resend(_ id: String, in partition: String) async throws(RecordStoreError) -> Bool {
        try await resendWrite(id, in: partition).isFound
    }

    /// Sends a held write or a dead letter again, and returns whether there is one, and its entry if it can be read.
    func resendWrite(
        _ id: String,
        in partition: String
    ) async throws(RecordStoreError) -> (isFound: Bool, entry: OutboxEntry?) {
        if let held = try await heldEntry(id, in: partition) {
            let note = AttemptNote(attempts: 0, mayHaveArrived: held.note.mayHaveArrived, firstAttempt: now())
            let key = records.note(held.numbers.first, of: held.lane)
            try await replace(held, adding: [.keep(StoredRecord(note.bytes), key)], held.numbers)
            return (true, held.entry)
        }
        guard let (snapshot, letter) = try await deadLetter(id, in: partition) else { return (false, nil) }
        guard let write = letter.write, let date = letter.acceptedAt else {
            throw RecordStoreError(
                .denied,
                explanation: "The refused write \(id) cannot be read, so it cannot be sent again: discard it."
            )
        }
        let acceptance = Acceptance(
            writes: [write],
            partition: partition,
            ownChanges: [.remove(snapshot.key)],
            conditions: [.isUnchanged(snapshot.key, since: snapshot)],
            date: date
        )
        return (true, try await accept(acceptance, to: try await destination(partition)).first)
    }

    /// Removes a held write or a dead letter permanently. The later writes of a held one are then sent.
    ///
    /// - Parameters:
    ///   - id: The ``OutboxItem/id`` of the write.
    ///   - partition: The partition of the write.
    /// - Returns: whether there was such a write.
    /// - Throws: a ``RecordStoreError``. The reason is `conflict` if another instance has changed the write in the meantime.
    @discardableResult
    public func discard(_ id: String, in partition: String) async throws(RecordStoreError) -> Bool {
        if let held = try await heldEntry(id, in: partition) {
            try await discard(held)
            return true
        }
        guard let (snapshot, _) = try await deadLetter(id, in: partition) else { return false }
        try await store.commit([.remove(snapshot.key)], if: [.isUnchanged(snapshot.key, since: snapshot)])
        return true
    }

    // MARK: Held entries

    /// The first entry of a lane, which is not sent until somebody decides.
    private struct HeldEntry {
        let lane: OutboxLane
        let head: RecordSnapshot
        let numbers: LaneHead
        let note: AttemptNote
        /// The entry, or `nil` if it cannot be read.
        let entry: OutboxEntry?
        let conditions: [RecordCondition]
    }

    private func heldEntry(_ id: String, in partition: String) async throws(RecordStoreError) -> HeldEntry? {
        for (key, _) in try await store.records(under: records.heads(of: partition)) {
            guard let lane = OutboxLane(head: key, under: records.heads), lane.partition == partition,
                let number = try await items(of: lane).first(where: { $0.item.id == id })?.number
            else { continue }
            let keys = [key, records.entry(number, of: lane), records.note(number, of: lane)]
            let found = try await store.snapshots(for: keys)
            // It may have been settled in the meantime.
            guard let head = found[0], let numbers = try? LaneHead(head), numbers.first <= number else { return nil }
            let note = found[2].map { AttemptNote($0.record.bytes) }
            let entry = found[1].flatMap {
                try? LaneEntryDTO.entry(from: $0.record.bytes, number: number, attempts: note?.attempts ?? 0)
            }
            // An entry that cannot be read, or that has no handler, is not sent by this version of the program.
            let destination = try await destination(partition)
            let isDeliverable = entry.map { destination.handler(of: $0.write.endpoint).objection(to: $0.write) == nil }
            let mayBeDecided = note?.isHeld == true || isDeliverable != true && note?.isSending != true
            guard numbers.first == number, mayBeDecided else {
                throw RecordStoreError(
                    .denied,
                    explanation:
                        "The write \(id) is not held: it is being sent, or waits for its turn or its next attempt."
                )
            }
            return HeldEntry(
                lane: lane,
                head: head,
                numbers: numbers,
                note: note ?? AttemptNote(attempts: 0, mayHaveArrived: true),
                entry: entry,
                conditions: zip(keys, found).map { .isUnchanged($0, since: $1) }
            )
        }
        return nil
    }

    private func discard(_ held: HeldEntry) async throws(RecordStoreError) {
        let number = held.numbers.first
        var changes: [RecordChange] = [
            .remove(records.entry(number, of: held.lane)), .remove(records.note(number, of: held.lane)),
        ]
        var settlement = OutboxSettlement()
        let destination = try await destination(held.lane.partition)
        if let entry = held.entry, let handler = destination.handler(of: entry.write.endpoint) {
            let later = try await pendingEntries(of: held.lane, after: number)
            let error = RepositoryError(
                held.note.mayHaveArrived ? .outcomeUnknown : .refused,
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
            for entry in settlement.revised {
                changes.append(
                    .keep(try LaneEntryDTO.record(of: entry), records.entry(entry.sequence, of: held.lane))
                )
            }
        }
        let rest = held.numbers.count > 1 ? LaneHead(first: number + 1, next: held.numbers.next) : nil
        try await replace(held, adding: changes, rest)
        // The destination retains the repositories of its handlers.
        withExtendedLifetime(destination) { settlement.whenCommitted() }
        if let entry = held.entry {
            await partition(ifUsed: held.lane.partition)?.showDiscarded(entry.idempotencyKey)
        }
    }

    /// Makes changes, and creates the head again, which ends the lease of the instance that holds the lane.
    private func replace(
        _ held: HeldEntry,
        adding changes: [RecordChange],
        _ rest: LaneHead?
    ) async throws(RecordStoreError) {
        var changes = changes
        changes += [.remove(held.head.key), .announce(records.heads(of: held.lane.partition))]
        if let rest { changes.append(.keep(rest.record, held.head.key)) }
        try await store.commit(changes, if: held.conditions)
        wake()
    }

    // MARK: Dead letters

    /// Returns the change that stores an entry as a dead letter.
    func deadLetter(
        of entry: OutboxEntry,
        in partition: String,
        because error: RepositoryError,
        _ conflict: OutboxConflict?
    ) throws(RecordStoreError) -> RecordChange {
        let date = now()
        let bytes = try DeadLetterDTO(entry, because: error, conflict, at: date).bytes()
        let expiry = date.addingTimeInterval(policy.deadLetterRetention / .seconds(1))
        let key = OutboxEntryName(entry).key(under: records.deadLetters(of: partition))
        return .keep(StoredRecord(bytes, expiry: expiry), key)
    }

    /// Returns the record and the item of a dead letter.
    func deadLetter(
        _ id: String,
        in partition: String
    ) async throws(RecordStoreError) -> (snapshot: RecordSnapshot, item: OutboxItem)? {
        let prefix = records.deadLetters(of: partition)
        for (key, _) in try await store.records(under: prefix) {
            guard let name = OutboxEntryName(key, under: prefix), name.idempotencyKey == id,
                let snapshot = try await store.snapshot(for: key)
            else { continue }
            return (snapshot, DeadLetterDTO.item(from: snapshot.record.bytes, named: name))
        }
        return nil
    }

    // MARK: Pending entries

    /// Returns the readable entries of a partition: those of a lane in order, and the lane with the oldest one first.
    func entries(in partition: String) async throws(RecordStoreError) -> [OutboxEntry] {
        // Entries that are accepted between the two readings are left out, and so are those that are settled: both are announced.
        var heads: [OutboxLane: LaneHead] = [:]
        for snapshot in try await store.records(under: records.heads(of: partition)) {
            guard let lane = OutboxLane(head: snapshot.key, under: records.heads) else { continue }
            heads[lane] = try? LaneHead(snapshot.key, snapshot.record)
        }
        guard !heads.isEmpty else { return [] }
        var entries: [OutboxLane: [OutboxEntry]] = [:]
        for (key, record) in try await store.records(under: records.entries(of: partition)) {
            guard let (lane, number) = records.entry(key), let head = heads[lane],
                (head.first..<head.next).contains(number),
                let entry = try? LaneEntryDTO.entry(from: record.bytes, number: number, attempts: 0)
            else { continue }
            entries[lane, default: []].append(entry)
        }
        return entries.values.map { $0.sorted { $0.sequence < $1.sequence } }
            .sorted { ($0[0].acceptedAt, $0[0].idempotencyKey) < ($1[0].acceptedAt, $1[0].idempotencyKey) }
            .flatMap(\.self)
    }

    /// Returns the readable entries of a lane after a number, in order.
    func pendingEntries(of lane: OutboxLane, after number: Int = 0) async throws(RecordStoreError) -> [OutboxEntry] {
        try await items(of: lane).compactMap(\.entry).filter { $0.sequence > number }
    }

    /// Returns the entries of a lane, in order.
    private func items(of lane: OutboxLane) async throws(RecordStoreError) -> [Item] {
        guard let snapshot = try await store.snapshot(for: records.head(of: lane)), let head = try? LaneHead(snapshot)
        else {
            return []
        }
        let numbers = Array(head.first..<head.next)
        let entries = try await store.records(for: numbers.map { records.entry($0, of: lane) })
        let notes = try await store.records(for: numbers.map { records.note($0, of: lane) })
        return zip(numbers, zip(entries, notes)).map { Item($0, of: lane, $1.0, $1.1) }
    }

    /// A pending entry, and how it is listed.
    private struct Item {
        let number: Int
        let item: OutboxItem
        /// The entry, or `nil` if it cannot be read.
        let entry: OutboxEntry?

        init(_ number: Int, of lane: OutboxLane, _ record: StoredRecord?, _ note: StoredRecord?) {
            self.number = number
            let note = note.map { AttemptNote($0.bytes) } ?? AttemptNote(attempts: 0, mayHaveArrived: false)
            let id = "\(lane.subject)/\(number)"
            guard let record else {
                entry = nil
                item = OutboxItem(unreadable: id, .lost, byteCount: 0)
                return
            }
            do throws(OutboxEntryDTO.Problem) {
                let entry = try LaneEntryDTO.entry(from: record.bytes, number: number, attempts: note.attempts)
                var item = OutboxItem(LeftEntries.Item.entry(entry, note))
                if note.isHeld { item.state = .undeliverable(.awaitingDecision(note.cause ?? "")) }
                (self.entry, self.item) = (entry, item)
            } catch {
                (entry, item) = (nil, OutboxItem(unreadable: id, .init(error), byteCount: record.bytes.count))
            }
        }
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
