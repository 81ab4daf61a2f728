/// Keeps values within a limit of what they cost, and prefers those that are asked for again.
///
/// It evicts by SIEVE (Zhang and others, NSDI 2024): entries stand in the order they came, and a hand goes from the oldest to
/// the newest, passes over whatever was asked for since it last came by, and evicts the first that was not. What is asked for
/// once, as in a scan, goes before what is asked for often. It is inlinable, so that it is compiled for the types that it is
/// used with: otherwise they are looked up at each call.
///
/// - Complexity: every operation is O(1), but for what an insertion evicts.
@usableFromInline
package struct SieveCache<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    @usableFromInline
    struct Entry: Sendable {
        @usableFromInline let key: Key
        @usableFromInline var value: Value
        @usableFromInline var cost: Int
        @usableFromInline var isVisited = false
        @usableFromInline var newer: Int?
        @usableFromInline var older: Int?

        @inlinable
        init(key: Key, value: Value, cost: Int, older: Int?) {
            self.key = key
            self.value = value
            self.cost = cost
            self.older = older
        }
    }

    /// The most that the values may cost together.
    @usableFromInline package let limit: Int
    /// How many values there may be.
    @usableFromInline package let countLimit: Int
    /// What the values cost together.
    @usableFromInline package var cost = 0

    @usableFromInline var slots: [Entry?] = []
    @usableFromInline var freeSlots: [Int] = []
    @usableFromInline var places: [Key: Int] = [:]
    @usableFromInline var newest: Int?
    @usableFromInline var oldest: Int?
    @usableFromInline var hand: Int?

    /// Makes an empty cache.
    ///
    /// - Parameters:
    ///   - limit: The most that the values may cost together; taken for 0 if it is less.
    ///   - countLimit: How many values there may be; taken for 0 if it is less.
    @inlinable
    package init(limit: Int, countLimit: Int = .max) {
        self.limit = max(0, limit)
        self.countLimit = max(0, countLimit)
    }

    /// How many values there are.
    @inlinable
    package var count: Int { places.count }

    /// The value for a key, which counts as asked for; `nil` if there is none.
    @inlinable
    package mutating func value(for key: Key) -> Value? {
        guard let place = places[key] else { return nil }
        // Written only where it changes: the line of memory is shared with whoever reads at the same time.
        if slots[place]?.isVisited == false { slots[place]?.isVisited = true }
        return slots[place]?.value
    }

    /// The value for a key, which does not count as asked for; `nil` if there is none.
    @inlinable
    package func peek(_ key: Key) -> Value? {
        places[key].flatMap { slots[$0]?.value }
    }

    /// Changes the value for a key where it is, at the cost that it has.
    @inlinable
    package mutating func replace(_ key: Key, with value: Value) {
        if let place = places[key] { slots[place]?.value = value }
    }

    /// Keeps a value for a key in the place of another, unless it costs more than everything may, or the key is not equal to
    /// itself and so would never be found again.
    ///
    /// - Returns: what had to go, to be let go outside of a lock.
    @inlinable
    @discardableResult
    package mutating func insert(_ value: Value, for key: Key, cost: Int) -> [Value] {
        let cost = max(0, cost)
        var gone: [Value] = []
        if let replaced = remove(key) { gone.append(replaced) }
        guard cost <= limit, countLimit > 0, key == key else { return gone + [value] }
        while self.cost > limit - cost || count >= countLimit, let evicted = evict() { gone.append(evicted) }
        let place = freeSlots.popLast() ?? slots.count
        let entry = Entry(key: key, value: value, cost: cost, older: newest)
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
    @inlinable
    @discardableResult
    package mutating func remove(_ key: Key) -> Value? {
        places[key].flatMap { take($0) }
    }

    /// Removes the values that a condition holds for.
    ///
    /// - Returns: the values, to be let go outside of a lock.
    /// - Complexity: O(n) in the number of values.
    @inlinable
    package mutating func removeAll(where condition: (Key, Value) -> Bool) -> [Value] {
        let gone = slots.compactMap { entry in
            entry.flatMap { condition($0.key, $0.value) ? $0.key : nil }
        }
        return gone.compactMap { remove($0) }
    }

    @inlinable
    mutating func evict() -> Value? {
        var place = hand ?? oldest
        while let visited = place, slots[visited]?.isVisited == true {
            slots[visited]?.isVisited = false
            place = slots[visited]?.newer ?? oldest
        }
        guard let place else { return nil }
        hand = slots[place]?.newer
        return take(place)
    }

    /// The keys of all values.
    @inlinable
    package var keys: [Key] { Array(places.keys) }

    @inlinable
    mutating func take(_ place: Int) -> Value? {
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
