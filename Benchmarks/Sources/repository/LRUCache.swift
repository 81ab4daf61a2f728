/// A plain LRU cache of keys, for comparison.
struct LRUCache {
    private let limit: Int
    private var slots: [Int: (older: Int?, newer: Int?)] = [:]
    private var oldest: Int?
    private var newest: Int?

    init(limit: Int) {
        self.limit = limit
    }

    /// Requests a key, which is cached from then on, and returns whether it was cached before.
    mutating func ask(_ key: Int) -> Bool {
        let isKept = slots[key] != nil
        if isKept { remove(key) } else if slots.count == limit, let oldest { remove(oldest) }
        slots[key] = (older: newest, newer: nil)
        if let newest { slots[newest]?.newer = key } else { oldest = key }
        newest = key
        return isKept
    }

    private mutating func remove(_ key: Int) {
        guard let slot = slots.removeValue(forKey: key) else { return }
        if let older = slot.older { slots[older]?.newer = slot.newer } else { oldest = slot.newer }
        if let newer = slot.newer { slots[newer]?.older = slot.older } else { newest = slot.older }
    }
}
