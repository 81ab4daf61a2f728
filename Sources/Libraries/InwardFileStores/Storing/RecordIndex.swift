/// The location of each record in the log, in key order.
///
/// The index is a list of sorted chunks of bounded length. Lookups and changes take time proportional to the logarithm of the
/// number of records, plus the chunk length.
struct RecordIndex: Sendable {
    struct Slot: Sendable {
        let key: [UInt8]
        var entry: RecordEntry
    }

    private static let chunkLength = 256

    // No chunk is empty.
    private var chunks: [[Slot]] = []
    /// The number of records.
    private(set) var count = 0
    /// The number of bytes that the records take in the log.
    private(set) var byteCount = 0
    /// The keys of lost records. These records are not in the index.
    private(set) var lostKeys: Set<[UInt8]> = []
    /// The number of times that damage affected unknown keys.
    private(set) var unknownLossCount = 0
    /// The number of commits that changed records without an expiry.
    private(set) var durableCount = 0
    /// Whether the log before the next commit has an unreadable part.
    private var isAfterGap = false

    /// Returns the size of a record in the log.
    static func byteCount(of key: [UInt8], _ entry: RecordEntry) -> Int {
        RecordFrame.byteCount(ofKeyLength: key.count) + entry.length
    }

    /// The location of the record for a key.
    subscript(key: [UInt8]) -> RecordEntry? {
        let (chunk, index) = position(of: key)
        guard chunk < chunks.count, index < chunks[chunk].count, chunks[chunk][index].key == key else {
            return nil
        }
        return chunks[chunk][index].entry
    }

    /// Returns the records whose keys begin with a prefix, in order.
    func slots(under prefix: [UInt8]) -> [Slot] {
        var (chunk, index) = position(of: prefix)
        var slots: [Slot] = []
        while chunk < chunks.count {
            while index < chunks[chunk].count {
                guard chunks[chunk][index].key.starts(with: prefix) else { return slots }
                slots.append(chunks[chunk][index])
                index += 1
            }
            (chunk, index) = (chunk + 1, 0)
        }
        return slots
    }

    /// Applies a change.
    mutating func apply(_ operation: RecordOperation) {
        switch operation {
        case .keep(let key, let entry):
            find(key)
            keep(entry, key)
        case .remove(let key):
            find(key)
            remove(key)
        case .removeAll(let prefix):
            for key in lostKeys where key.starts(with: prefix) { find(key) }
            removeAll(prefix)
        case .lose(let key):
            remove(key)
            if lostKeys.insert(key).inserted { byteCount += RecordFrame.byteCount(ofKeyLength: key.count) }
        case .setUnknownLossCount(let count): unknownLossCount = count
        case .setDurableCount(let before, let after):
            if isAfterGap, before != durableCount { unknownLossCount += 1 }
            (durableCount, isAfterGap) = (after, false)
        case .findGap:
            isAfterGap = true
            removeExpiring()
        }
    }

    /// Counts a loss if no numbered commit follows the unreadable part. A log of format 0 has no numbered commits.
    mutating func closeGap() {
        if isAfterGap { unknownLossCount += 1 }
        isAfterGap = false
    }

    /// Returns whether a change affects a record without an expiry, which cannot be fetched again.
    func isDurable(_ operation: RecordOperation) -> Bool {
        func hasDurable(_ key: [UInt8]) -> Bool {
            if let entry = self[key] { entry.expiry == nil } else { lostKeys.contains(key) }
        }
        switch operation {
        case .keep(let key, let entry): return entry.expiry == nil || hasDurable(key)
        case .remove(let key): return hasDurable(key)
        case .removeAll(let prefix):
            return slots(under: prefix).contains { $0.entry.expiry == nil }
                || lostKeys.contains { $0.starts(with: prefix) }
        case .lose, .setUnknownLossCount: return true
        case .setDurableCount, .findGap: return false
        }
    }

    /// Removes all records with an expiry, because the unreadable part may have changed them. They can be fetched again.
    private mutating func removeExpiring() {
        for index in chunks.indices {
            chunks[index].removeAll { slot in
                guard slot.entry.expiry != nil else { return false }
                count -= 1
                byteCount -= Self.byteCount(of: slot.key, slot.entry)
                return true
            }
        }
        chunks.removeAll(where: \.isEmpty)
    }

    /// Removes a key from the lost keys, because a change has determined its state.
    private mutating func find(_ key: [UInt8]) {
        guard !lostKeys.isEmpty, lostKeys.remove(key) != nil else { return }
        byteCount -= RecordFrame.byteCount(ofKeyLength: key.count)
    }

    private mutating func keep(_ entry: RecordEntry, _ key: [UInt8]) {
        let (chunk, index) = position(of: key)
        byteCount += Self.byteCount(of: key, entry)
        if chunk < chunks.count, index < chunks[chunk].count, chunks[chunk][index].key == key {
            byteCount -= Self.byteCount(of: key, chunks[chunk][index].entry)
            chunks[chunk][index].entry = entry
            return
        }
        count += 1
        guard chunk < chunks.count else { return chunks.append([Slot(key: key, entry: entry)]) }
        chunks[chunk].insert(Slot(key: key, entry: entry), at: index)
        if chunks[chunk].count > Self.chunkLength {
            let half = Array(chunks[chunk][(Self.chunkLength / 2)...])
            chunks[chunk].removeSubrange((Self.chunkLength / 2)...)
            chunks.insert(half, at: chunk + 1)
        }
    }

    private mutating func remove(_ key: [UInt8]) {
        let (chunk, index) = position(of: key)
        guard chunk < chunks.count, index < chunks[chunk].count, chunks[chunk][index].key == key else {
            return
        }
        count -= 1
        byteCount -= Self.byteCount(of: key, chunks[chunk][index].entry)
        chunks[chunk].remove(at: index)
        if chunks[chunk].isEmpty { chunks.remove(at: chunk) }
    }

    private mutating func removeAll(_ prefix: [UInt8]) {
        let (first, _) = position(of: prefix)
        var chunk = first
        while chunk < chunks.count, let head = chunks[chunk].first?.key {
            guard chunk == first || head.starts(with: prefix) else { break }
            for slot in chunks[chunk] where slot.key.starts(with: prefix) {
                count -= 1
                byteCount -= Self.byteCount(of: slot.key, slot.entry)
            }
            chunks[chunk].removeAll { $0.key.starts(with: prefix) }
            chunk += 1
        }
        chunks.removeAll(where: \.isEmpty)
    }

    /// Returns the position of a key, or the position to insert it at: a chunk, and an index in the chunk.
    private func position(of key: [UInt8]) -> (chunk: Int, index: Int) {
        // The first chunk that begins after the key. The key belongs to the chunk before this one.
        let next = Self.firstIndex(in: chunks) {
            $0.first.map { key.lexicographicallyPrecedes($0.key) } ?? false
        }
        guard next > 0 else { return (0, 0) }
        let chunk = chunks[next - 1]
        return (next - 1, Self.firstIndex(in: chunk) { !$0.key.lexicographicallyPrecedes(key) })
    }

    /// Returns the first index whose element satisfies a predicate. The predicate must also hold for all later elements.
    private static func firstIndex<Element>(in elements: [Element], where isTrue: (Element) -> Bool)
        -> Int
    {
        var (low, high) = (0, elements.count)
        while low < high {
            let middle = (low + high) / 2
            if isTrue(elements[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
