/// Keeps values within a limit of what they cost, and prefers those that are asked for again.
///
/// It evicts by SIEVE (Zhang and others, NSDI 2024): entries stand in the order they came, and a hand goes from the oldest to
/// the newest, passes over whatever was asked for since it last came by, and evicts the first that was not. What is asked for
/// once, as in a scan, goes before what is asked for often.
///
/// - Complexity: every operation is O(1), but for what an insertion evicts.
package struct SieveCache<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private struct Entry {
        let key: Key
        var value: Value
        var cost: Int
        var isVisited = false
        var newer: Int?
        var older: Int?
    }

    /// The most that the values may cost together.
    package let limit: Int
    /// What the values cost together.
    package private(set) var cost = 0

    private var slots: [Entry?] = []
    private var freeSlots: [Int] = []
    private var places: [Key: Int] = [:]
    private var newest: Int?
    private var oldest: Int?
    private var hand: Int?

    /// Makes an empty cache.
    ///
    /// - Parameter limit: The most that the values may cost together; taken for 0 if it is less.
    package init(limit: Int) {
        self.limit = max(0, limit)
    }

    /// How many values there are.
    package var count: Int { places.count }

    /// The value for a key, which counts as asked for; `nil` if there is none.
    package mutating func value(for key: Key) -> Value? {
        guard let place = places[key] else { return nil }
        slots[place]?.isVisited = true
        return slots[place]?.value
    }

    /// Keeps a value for a key in the place of another, unless it costs more than everything may, or the key is not equal to
    /// itself and so would never be found again.
    ///
    /// - Returns: what had to go, to be let go outside of a lock.
    @discardableResult
    package mutating func insert(_ value: Value, for key: Key, cost: Int) -> [Value] {
        let cost = max(0, cost)
        var gone: [Value] = []
        if let replaced = remove(key) { gone.append(replaced) }
        guard cost <= limit, key == key else { return gone + [value] }
        while self.cost > limit - cost, let evicted = evict() { gone.append(evicted) }
        let place = freeSlots.popLast() ?? slots.count
        let entry = Entry(key: key, value: value, cost: cost, newer: nil, older: newest)
        if place == slots.count { slots.append(entry) } else { slots[place] = entry }
        if let newest { slots[newest]?.newer = place } else { oldest = place }
        newest = place
        places[key] = place
        self.cost += cost
        return gone
    }

    /// Removes the value for a key.
    ///
    /// - Returns: the value; `nil` if there was none.
    @discardableResult
    package mutating func remove(_ key: Key) -> Value? {
        places[key].flatMap { take($0) }
    }

    /// Removes the values that a condition holds for the keys of.
    ///
    /// - Returns: the values, to be let go outside of a lock.
    /// - Complexity: O(n) in the number of values.
    package mutating func removeAll(where condition: (Key) -> Bool) -> [Value] {
        places.keys.filter(condition).compactMap { remove($0) }
    }

    private mutating func evict() -> Value? {
        var place = hand ?? oldest
        while let visited = place, slots[visited]?.isVisited == true {
            slots[visited]?.isVisited = false
            place = slots[visited]?.newer ?? oldest
        }
        guard let place else { return nil }
        hand = slots[place]?.newer
        return take(place)
    }

    private mutating func take(_ place: Int) -> Value? {
        guard let entry = slots[place] else { return nil }
        if let newer = entry.newer { slots[newer]?.older = entry.older } else { newest = entry.older }
        if let older = entry.older { slots[older]?.newer = entry.newer } else { oldest = entry.newer }
        if hand == place { hand = entry.newer }
        slots[place] = nil
        freeSlots.append(place)
        places[entry.key] = nil
        cost -= entry.cost
        return entry.value
    }
}
