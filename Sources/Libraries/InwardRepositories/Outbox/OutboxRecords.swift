/// Where an outbox keeps what.
struct OutboxRecords {
    /// What everything of the outbox is kept under.
    let prefix: RecordKey
    /// What the entries are kept under, each by its name. An entry is written once, and removed once.
    let entries: RecordKey
    /// What the attempts are noted under, by the names of the entries: apart, so that an entry that another process has settled
    /// meanwhile does not come back.
    let attempts: RecordKey
    /// What refused writes are kept under, each by the name of its entry, until somebody retries or discards it.
    let dead: RecordKey
    /// The refusals in a row, and until when delivery is paused because of them.
    let pause: RecordKey
    /// How many losses of unknown records somebody has acknowledged, as decimal digits.
    let losses: RecordKey
    /// Who delivers: the token of the outbox that was opened last.
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

    /// The changes that remove an entry.
    func removal(of entry: OutboxEntry) -> [RecordChange] { removal(of: OutboxEntryName(entry)) }

    /// The changes that remove an entry of a name.
    func removal(of name: OutboxEntryName) -> [RecordChange] {
        [.remove(name.key(under: entries)), .remove(name.key(under: attempts))]
    }

    /// The change that acknowledges so many losses of unknown records.
    func acknowledgment(of losses: Int) -> RecordChange { .keep(StoredRecord(Array(String(losses).utf8)), self.losses) }

    /// Whether a change is of what the outbox keeps.
    func isTouched(by change: RecordChange) -> Bool {
        switch change {
        case .keep(_, let key), .remove(let key): prefix.contains(key)
        case .removeAll(let key): prefix.contains(key) || key.contains(prefix)
        }
    }
}

/// What an entry is kept under: all that is needed to keep its place, whether or not it can be read.
///
/// The components behind the prefix are the sequence number, in as many digits as any has so that keys are in its order, the
/// idempotency key, and the subject.
struct OutboxEntryName: Hashable, Sendable {
    private static let digits = 19
    /// Beyond this there is none, so that there is always a next number.
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

    /// Reads a key that begins with a prefix; `nil` if it is not one of an entry.
    init?(_ key: RecordKey, under prefix: RecordKey) {
        let components = key.components.dropFirst(prefix.components.count)
        guard prefix.contains(key), components.count >= 2, let digits = components.first,
            digits.utf8.count == Self.digits, digits.utf8.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains),
            // A sign would be read too, and then the record could never be found by its name again.
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

    /// The key under a prefix.
    func key(under prefix: RecordKey) -> RecordKey {
        let number = String(sequence)
        let padded = String(repeating: "0", count: max(0, Self.digits - number.count)) + number
        return RecordKey(prefix.components + [padded, idempotencyKey] + subject.components)
    }
}
