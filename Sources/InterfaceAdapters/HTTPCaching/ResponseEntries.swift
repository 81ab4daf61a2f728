import UseCases

/// What a ``ResponseCache`` keeps: answers by partition and request, within a limit of bytes.
struct ResponseEntries {
    private struct Key: Hashable {
        let partition: Int
        let request: DataRequest
    }

    private struct Entry {
        let response: DataResponse
        let expiry: Duration
        let place: Int
        let bytes: Int
        /// The place of the question among all that were asked.
        let question: Int
    }

    private let byteLimit: Int
    private var entries: [Key: Entry] = [:]
    private var bytes = 0
    /// The keys in the order they were stored. A key whose entry has another place was stored again, or is gone.
    private var order: ArraySlice<(key: Key, place: Int)> = []
    private var nextPlace = 0
    /// How often each open partition was emptied.
    private var versions: [Int: Int] = [:]
    private var nextPartition = 0
    private var lastQuestion = 0

    init(byteLimit: Int) {
        self.byteLimit = byteLimit
    }

    var count: Int { entries.count }

    mutating func openPartition() -> Int {
        defer { nextPartition += 1 }
        versions[nextPartition] = 0
        return nextPartition
    }

    mutating func closePartition(_ partition: Int) {
        removeAll(in: partition)
        versions[partition] = nil
    }

    func version(of partition: Int) -> Int? { versions[partition] }

    /// The place of a question that is asked now among all that are.
    mutating func nextQuestion() -> Int {
        lastQuestion += 1
        return lastQuestion
    }

    mutating func removeAll(in partition: Int) {
        versions[partition]? += 1
        for key in entries.keys where key.partition == partition { remove(key) }
    }

    /// The answer that is kept for a request, and how long it is still fresh.
    mutating func response(
        to request: DataRequest,
        in partition: Int,
        at now: Duration
    ) -> (response: DataResponse, freshness: Duration)? {
        let key = Key(partition: partition, request: request)
        guard let entry = entries[key] else { return nil }
        guard now < entry.expiry else {
            remove(key)
            return nil
        }
        return (entry.response, entry.expiry - now)
    }

    mutating func store(
        _ response: DataResponse,
        to request: DataRequest,
        in partition: Int,
        askedIn version: Int?,
        question: Int,
        until expiry: Duration?,
        bytes: Int
    ) {
        guard let version, versions[partition] == version else { return }
        let key = Key(partition: partition, request: request)
        // An answer that was asked for earlier, and took longer, is older.
        if let kept = entries[key], kept.question > question { return }
        remove(key)
        guard let expiry, bytes <= byteLimit else {
            // Nor may what is under way take the place of an answer that is newer and not kept.
            versions[partition]? += 1
            return
        }
        entries[key] = Entry(response: response, expiry: expiry, place: nextPlace, bytes: bytes, question: question)
        order.append((key, nextPlace))
        nextPlace += 1
        self.bytes += bytes
        while self.bytes > byteLimit, let oldest = order.popFirst() {
            if entries[oldest.key]?.place == oldest.place { remove(oldest.key) }
        }
    }

    private mutating func remove(_ key: Key) {
        guard let entry = entries.removeValue(forKey: key) else { return }
        bytes -= entry.bytes
        // Most of the order is of entries that are gone: otherwise it would grow with every answer ever stored.
        if order.count > 2 * entries.count + 16 {
            order.removeAll { entries[$0.key]?.place != $0.place }
        }
    }
}
