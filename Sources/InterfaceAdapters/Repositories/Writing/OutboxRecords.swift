/// Where an outbox keeps what.
struct OutboxRecords {
    /// What everything of the outbox is kept under.
    let prefix: RecordKey
    /// What the entries are kept under, each by its name. An entry is written once, and removed once.
    let entries: RecordKey
    /// What the numbers of attempts are kept under, by the names of the entries: apart, so that no entry that was settled
    /// elsewhere meanwhile comes back.
    let attempts: RecordKey
    /// Who delivers: the token of the outbox that was opened last.
    let owner: RecordKey

    init(prefix: RecordKey) {
        self.prefix = prefix
        entries = prefix.appending("entries")
        attempts = prefix.appending("attempts")
        owner = prefix.appending("owner")
    }

    /// The changes that remove an entry.
    func removal(of entry: OutboxEntry) -> [RecordChange] {
        let name = OutboxEntryName(entry)
        return [.remove(name.key(under: entries)), .remove(name.key(under: attempts))]
    }

    /// Whether a change is of what the outbox keeps.
    func isTouched(by change: RecordChange) -> Bool {
        switch change {
        case .keep(_, let key), .remove(let key): prefix.contains(key)
        case .removeAll(let key): prefix.contains(key) || key.contains(prefix)
        }
    }
}
