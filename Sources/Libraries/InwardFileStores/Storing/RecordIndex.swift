import Foundation
import InwardRecordDirectories

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
    /// A number that is not less than any version or fencing token so far.
    private(set) var lastNumber: UInt64
    /// Whether the log before the next commit has an unreadable part.
    private var isAfterGap = false

    /// Creates an empty index. Its numbers are greater than the given one.
    init(lastNumber: UInt64 = 0) {
        self.lastNumber = lastNumber
    }

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
        var slots: [Slot] = []
        forEachSlot(under: prefix) {
            slots.append($0)
            return true
        }
        return slots
    }

    /// Returns the first records after a key that have not expired, among those whose keys begin with a prefix, in order.
    func slots(under prefix: [UInt8], after last: [UInt8]?, limit: Int, at time: Date) -> [Slot] {
        var slots: [Slot] = []
        forEachSlot(under: prefix, after: last) { slot in
            guard slots.count < limit else { return false }
            if !slot.entry.isExpired(at: time) { slots.append(slot) }
            return true
        }
        return slots
    }

    /// Returns the free records whose keys begin with a prefix, in the order in which their last leases ended.
    func freeSlots(under prefix: [UInt8], limit: Int, at time: Date) -> [Slot] {
        var free = FreeRecords<Slot>(limit: limit, at: time)
        forEachSlot(under: prefix) { slot in
            if !slot.entry.isExpired(at: time) { free.add(slot, slot.entry.stamp, slot.key) }
            return true
        }
        return free.records
    }

    /// Calls a closure with the records after a key whose keys begin with a prefix, in order, until it returns `false`.
    private func forEachSlot(under prefix: [UInt8], after last: [UInt8]? = nil, _ body: (Slot) -> Bool) {
        let start = last.map { prefix.lexicographicallyPrecedes($0) ? $0 : prefix } ?? prefix
        var (chunk, index) = position(of: start)
        while chunk < chunks.count {
            while index < chunks[chunk].count {
                let slot = chunks[chunk][index]
                guard slot.key.starts(with: prefix) else { return }
                guard slot.key == last || body(slot) else { return }
                index += 1
            }
            (chunk, index) = (chunk + 1, 0)
        }
    }

    /// Applies a change.
    mutating func apply(_ operation: RecordOperation) {
        switch operation {
        case .keep(let key, let entry):
            find(key)
            keep(entry, key)
            lastNumber = max(lastNumber, entry.stamp.lastNumber)
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
        case .lease(let key, let token, let end):
            let (chunk, index) = position(of: key)
            if chunk < chunks.count, index < chunks[chunk].count, chunks[chunk][index].key == key {
                chunks[chunk][index].entry.stamp.token = token
                chunks[chunk][index].entry.stamp.freeSince = end
            }
            lastNumber = max(lastNumber, token)
        case .setLastNumber(let number): lastNumber = max(lastNumber, number)
        case .findGap:
            isAfterGap = true
            removeExpiring()
            revokeLeases()
        }
    }

    /// Counts a loss if no numbered commit follows the unreadable part. A log of format 0 has no numbered commits.
    mutating func closeGap() {
        if isAfterGap { unknownLossCount += 1 }
        isAfterGap = false
    }

    /// Leaves out numbers that a damaged part of the log may have used.
    mutating func leapAfterDamage() { lastNumber = RecordStamp.numberAfterDamage(lastNumber) }

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
        case .setDurableCount, .lease, .setLastNumber, .findGap: return false
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

    /// Makes the condition of all leases fail, because the unreadable part may have leased the records again.
    private mutating func revokeLeases() {
        for chunk in chunks.indices {
            for index in chunks[chunk].indices { chunks[chunk][index].entry.stamp.token = 0 }
        }
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
