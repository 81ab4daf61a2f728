/// What an earlier process has left in an outbox.
struct LeftEntries {
    /// An entry, or what keeps those behind it from being sent.
    enum Item {
        case entry(OutboxEntry)
        case held(OutboxEntry?, in: RecordKey)
    }

    private(set) var items: [Item] = []
    var problems: [HeldEntryError] = []
    private(set) var nextSequence = 0

    /// The entries that can be read, whether or not they are sent.
    var readable: [OutboxEntry] {
        items.compactMap { item in
            switch item {
            case .entry(let entry): entry
            case .held(let entry, _): entry
            }
        }
    }

    /// Adds what was read of an entry.
    mutating func add(
        _ result: Result<OutboxEntry, OutboxEntryDTO.Problem>,
        named name: OutboxEntryName,
        under key: RecordKey,
        isSettled: (String) -> Bool
    ) {
        nextSequence = max(nextSequence, name.sequence + 1)
        switch result {
        case .success(let entry) where isSettled(entry.write.endpoint):
            items.append(.entry(entry))
        case .success(let entry):
            items.append(.held(entry, in: name.subject))
            problems.append(HeldEntryError(key, .unsettled(endpoint: entry.write.endpoint)))
        case .failure(.newer(let version)):
            items.append(.held(nil, in: name.subject))
            problems.append(HeldEntryError(key, .newer(version: version)))
        case .failure(.damaged(let problem)):
            items.append(.held(nil, in: name.subject))
            problems.append(HeldEntryError(key, .damaged(problem)))
        }
    }
}
