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
