/// The keys of an outbox's records.
struct OutboxRecords {
    /// The prefix of all records of the outbox.
    let prefix: RecordKey
    /// The prefix of the entries, each under its name. An entry is written when it is accepted, and again when it is
    /// revised. It is removed once.
    let entries: RecordKey
    /// The prefix of the attempt notes, by the names of the entries. They are separate, so that writing a note cannot restore
    /// an entry that another process has settled in the meantime.
    let attempts: RecordKey
    /// The prefix of the dead letters, each under the name of its entry, until it is retried or discarded.
    let dead: RecordKey
    /// The key of the streak of refusals, and of the end of the pause that it caused.
    let pause: RecordKey
    /// The key of the number of losses of unknown records that were acknowledged. Its record contains decimal digits.
    let losses: RecordKey
    /// The key of the owner's token: that of the outbox that was opened last.
    let owner: RecordKey

    init(prefix: RecordKey) {
        self.prefix = prefix
        entries = prefix.appending("entries")
        attempts = prefix.appending("attempts")
        dead = prefix.appending("dead")
        pause = prefix.appending("pause")
        losses = prefix.appending("losses")
        owner = prefix.appending("owner")
    }

    /// Returns the change that stores an entry.
    ///
    /// - Throws: a ``RecordStoreError`` if it cannot be encoded.
    func keeping(_ entry: OutboxEntry) throws(RecordStoreError) -> RecordChange {
        .keep(StoredRecord(try OutboxEntryDTO.bytes(of: entry)), OutboxEntryName(entry).key(under: entries))
    }

    /// Returns the changes that remove an entry.
    func removal(of entry: OutboxEntry) -> [RecordChange] { removal(of: OutboxEntryName(entry)) }

    /// Returns the changes that remove the entry with a name.
    func removal(of name: OutboxEntryName) -> [RecordChange] {
        [.remove(name.key(under: entries)), .remove(name.key(under: attempts))]
    }

    /// Returns the change that acknowledges a number of losses of unknown records.
    func acknowledgment(of losses: Int) -> RecordChange { .keep(StoredRecord(Array(String(losses).utf8)), self.losses) }
}

extension RecordChange {
    /// Throws an error if the change affects the records of an outbox under a prefix.
    func throwIfAffecting(_ prefix: RecordKey) throws(RecordStoreError) {
        let affects =
            switch self {
            case .keep(_, let key), .remove(let key): prefix.contains(key)
            case .removeAll(let key): prefix.contains(key) || key.contains(prefix)
            case .announce: false
            }
        guard affects else { return }
        throw RecordStoreError(
            .denied,
            explanation: "The change \(self) affects the records of the outbox, which only the outbox may change."
        )
    }
}

/// The name of an entry in its key. It determines the entry's place in its subject, even if the entry itself cannot be read.
///
/// The components after the prefix are the sequence number, padded with zeros so that keys sort by it, the idempotency key, and
/// the subject.
struct OutboxEntryName: Hashable, Sendable {
    private static let digits = 19
    /// The upper bound ensures that there is always a next number.
    private static let sequences = 0..<(1 << 62)

    let sequence: Int
    let idempotencyKey: String
    let subject: RecordKey

    init(sequence: Int, idempotencyKey: String, subject: RecordKey) {
        self.sequence = sequence
        self.idempotencyKey = idempotencyKey
        self.subject = subject
    }

    init(_ entry: OutboxEntry) {
        self.init(sequence: entry.sequence, idempotencyKey: entry.idempotencyKey, subject: entry.write.subject)
    }

    /// Parses a key with a prefix. Returns `nil` if it is not the key of an entry.
    init?(_ key: RecordKey, under prefix: RecordKey) {
        let components = key.components.dropFirst(prefix.components.count)
        guard prefix.contains(key), components.count >= 2, let digits = components.first,
            digits.utf8.count == Self.digits, digits.utf8.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains),
            // `Int` accepts a sign, too. With one, the name would produce a different key.
            let sequence = Int(digits), Self.sequences.contains(sequence)
        else { return nil }
        let rest = components.dropFirst()
        guard let idempotencyKey = rest.first, !idempotencyKey.isEmpty else { return nil }
        self.init(
            sequence: sequence,
            idempotencyKey: idempotencyKey,
            subject: RecordKey(Array(rest.dropFirst()))
        )
    }

    /// Returns the key with a prefix.
    func key(under prefix: RecordKey) -> RecordKey {
        RecordKey(prefix.components + [Self.padded(sequence), idempotencyKey] + subject.components)
    }

    /// Returns a number with leading zeros, so that keys sort by it.
    static func padded(_ number: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, Self.digits - digits.count)) + digits
    }
}
