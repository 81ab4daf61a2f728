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

    mutating func removeAll(in partition: Int) {
        versions[partition]? += 1
        for key in entries.keys where key.partition == partition { remove(key) }
    }

    func response(to request: DataRequest, in partition: Int, at now: Duration) -> DataResponse? {
        guard let entry = entries[Key(partition: partition, request: request)], now < entry.expiry else { return nil }
        return entry.response
    }

    mutating func store(
        _ response: DataResponse,
        to request: DataRequest,
        in partition: Int,
        askedIn version: Int?,
        until expiry: Duration?,
        bytes: Int
    ) {
        guard let version, versions[partition] == version else { return }
        let key = Key(partition: partition, request: request)
        remove(key)
        guard let expiry, bytes <= byteLimit else { return }
        entries[key] = Entry(response: response, expiry: expiry, place: nextPlace, bytes: bytes)
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
