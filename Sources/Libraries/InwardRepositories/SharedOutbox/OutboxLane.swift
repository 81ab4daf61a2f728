import InwardCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The keys of a shared outbox's records.
struct SharedOutboxRecords {
    /// The prefix of all records of the outbox.
    let prefix: RecordKey
    /// The prefix of the heads, one for each lane with pending entries. The instance that leases a head delivers the entries.
    let heads: RecordKey
    /// The prefix of the entries, by lane and number.
    private let entries: RecordKey
    /// The prefix of the notes about attempts, by lane and number. They are separate, so that a note does not conflict with an
    /// entry that is accepted at the same time.
    private let notes: RecordKey
    /// The prefix of the dead letters, by partition and name.
    let dead: RecordKey

    init(prefix: RecordKey) {
        self.prefix = prefix
        heads = prefix.appending("heads")
        entries = prefix.appending("pending")
        notes = prefix.appending("notes")
        dead = prefix.appending("refused")
    }

    func head(of lane: OutboxLane) -> RecordKey { lane.key(under: heads) }

    func entry(_ number: Int, of lane: OutboxLane) -> RecordKey {
        lane.key(under: entries).appending(OutboxEntryName.padded(number))
    }

    func note(_ number: Int, of lane: OutboxLane) -> RecordKey {
        lane.key(under: notes).appending(OutboxEntryName.padded(number))
    }

    func deadLetters(of partition: String) -> RecordKey { dead.appending(partition) }

    /// Returns the prefix of the heads of a partition. Each commit that changes what is pending announces it.
    func heads(of partition: String) -> RecordKey { heads.appending(partition) }

    /// Returns the prefix of the entries of a partition.
    func entries(of partition: String) -> RecordKey { entries.appending(partition) }

    /// Parses the key of an entry. Returns `nil` if it is not one.
    func entry(_ key: RecordKey) -> (lane: OutboxLane, number: Int)? {
        guard let last = key.components.last, let number = Int(last) else { return nil }
        let head = RecordKey(Array(key.components.dropLast()))
        return OutboxLane(head: head, under: entries).map { ($0, number) }
    }
}

/// Writes that are delivered one after another: those of a subject, or those of a partition whose endpoints ask for this order.
/// The model calls it a subject.
struct OutboxLane: Hashable, Sendable {
    let partition: String
    /// The subject, or an empty key for the order of the partition.
    let subject: RecordKey

    /// The lane of a write.
    init(of write: OutboxWrite, in partition: String, _ terms: OutboxTerms) {
        self.partition = partition
        subject = terms.order == .partition ? [] : write.subject
    }

    /// Parses the key of a head. Returns `nil` if it is not one.
    init?(head key: RecordKey, under prefix: RecordKey) {
        let components = key.components.dropFirst(prefix.components.count)
        guard prefix.contains(key), let partition = components.first else { return nil }
        self.partition = partition
        subject = RecordKey(Array(components.dropFirst()))
    }

    func key(under prefix: RecordKey) -> RecordKey {
        RecordKey(prefix.components + [partition] + subject.components)
    }
}

/// The numbers of the pending entries of a lane. They begin at 1 when the first one is accepted. At least one is pending.
struct LaneHead: Codable, Hashable {
    private static let currentVersion = 1
    /// The maximum number of pending entries. Only a damaged head has more.
    private static let maximumCount = 1_000_000

    private let version: Int
    /// The number of the first pending entry.
    let first: Int
    /// The number of the next entry to accept.
    let next: Int

    init(first: Int, next: Int) {
        version = Self.currentVersion
        self.first = first
        self.next = next
    }

    /// The number of pending entries.
    var count: Int { next - first }

    /// Decodes a head.
    ///
    /// - Throws: why it cannot be used.
    init(_ snapshot: RecordSnapshot) throws(UndeliverableEntryError) {
        try self.init(snapshot.key, snapshot.record)
    }

    /// Decodes a head.
    ///
    /// - Throws: why it cannot be used.
    init(_ key: RecordKey, _ record: StoredRecord) throws(UndeliverableEntryError) {
        struct Envelope: Decodable { let version: Int }
        let data = Data(record.bytes)
        guard let version = try? Envelope.decoded(from: data).version else {
            throw UndeliverableEntryError(key, .damaged("the head of its subject cannot be read"))
        }
        guard version <= Self.currentVersion else {
            throw UndeliverableEntryError(key, .newer(version: version))
        }
        guard let head = try? Self.decoded(from: data), head.first >= 1, head.first < head.next, head.next < 1 << 62,
            head.count <= Self.maximumCount
        else {
            throw UndeliverableEntryError(key, .damaged("the head of its subject is not valid"))
        }
        self = head
    }

    /// The encoded head.
    var record: StoredRecord { StoredRecord((try? JSONEncoder().encode(self)).map { Array($0) } ?? []) }
}

/// The stored form of an entry of a shared outbox.
struct LaneEntryDTO: Codable {
    private let entry: OutboxEntryDTO
    private let idempotencyKey: String
    private let subject: [String]

    init(_ entry: OutboxEntry) {
        self.entry = OutboxEntryDTO(entry)
        idempotencyKey = entry.idempotencyKey
        subject = entry.write.subject.components
    }

    /// Encodes an entry.
    ///
    /// - Throws: a ``RecordStoreError`` if it cannot be encoded.
    static func record(of entry: OutboxEntry) throws(RecordStoreError) -> StoredRecord {
        do {
            return StoredRecord(Array(try JSONEncoder().encode(Self(entry))))
        } catch {
            throw RecordStoreError(.denied, explanation: "The write \(entry.write) cannot be encoded for the store.")
        }
    }

    /// Decodes an entry.
    ///
    /// - Throws: why it cannot be delivered.
    static func entry(
        from bytes: [UInt8],
        number: Int,
        attempts: Int
    ) throws(OutboxEntryDTO.Problem) -> OutboxEntry {
        let stored = try OutboxEntryDTO.enclosing(Self.self, bytes)
        let name = OutboxEntryName(
            sequence: number,
            idempotencyKey: stored.idempotencyKey,
            subject: RecordKey(stored.subject)
        )
        let pendingNumber = OutboxEntry.pendingNumber(of: stored.idempotencyKey)
        return try stored.entry.entry(named: name, attempts: attempts, pendingNumber: pendingNumber).get()
    }
}
