import InwardCore

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

    /// Returns the components after a prefix, in order, under which outboxes of a store have pending writes or dead letters.
    ///
    /// - Throws: a ``RecordStoreError`` if the store cannot be read.
    /// - Complexity: O(n) in the number of records under the prefix.
    package static func names(
        under prefix: RecordKey,
        in store: any SharedRecordStore
    ) async throws(RecordStoreError) -> [String] {
        var names: Set<String> = []
        for (key, _) in try await store.records(under: prefix) {
            guard let name = key.components.dropFirst(prefix.components.count).first else { continue }
            let records = SharedOutboxRecords(prefix: prefix.appending(name))
            if records.heads.contains(key) || records.dead.contains(key) { names.insert(name) }
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
        try await keyedDeadLetters(in: partition).map { $0.item }
    }

    // MARK: Dead letters

    /// Returns the dead letters of a partition, and the keys of their records.
    func keyedDeadLetters(
        in partition: String
    ) async throws(RecordStoreError) -> [(key: RecordKey, item: OutboxItem)] {
        let prefix = records.deadLetters(of: partition)
        return try await store.records(under: prefix).compactMap { key, record in
            OutboxEntryName(key, under: prefix).map {
                (key: key, item: DeadLetterDTO.item(from: record.bytes, named: $0))
            }
        }
    }

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
    func items(of lane: OutboxLane) async throws(RecordStoreError) -> [Item] {
        guard let snapshot = try await store.snapshot(for: records.head(of: lane)), let head = try? LaneHead(snapshot)
        else { return [] }
        return try await items(of: lane, head)
    }

    func items(of lane: OutboxLane, _ head: LaneHead) async throws(RecordStoreError) -> [Item] {
        let numbers = Array(head.first..<head.next)
        let entries = try await store.records(for: numbers.map { records.entry($0, of: lane) })
        let notes = try await store.records(for: numbers.map { records.note($0, of: lane) })
        return zip(numbers, zip(entries, notes)).map { Item($0, of: lane, $1.0, $1.1) }
    }

    /// A pending entry, and how it is listed.
    struct Item {
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
