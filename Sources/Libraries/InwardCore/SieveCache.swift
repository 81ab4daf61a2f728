/// A bounded cache in memory that keeps what is asked for repeatedly.
///
///     var pages = SieveCache<String, [UInt8]>(limit: 64 * 1_024 * 1_024)
///     pages.insert(body, for: path, cost: body.count)
///     let body = pages.value(for: path)   // `nil` once it was evicted
///
/// It evicts by SIEVE (Zhang and others, NSDI 2024): a hand moves from the oldest entry to the newest, passes over entries that
/// were read since it last came by, and evicts the first that was not. A scan therefore does not displace what is read often.
///
/// It is a value without a lock: keep it in a `Mutex`, and release evicted values outside of that lock. It is inlinable, so
/// that it is specialized for the types it is used with.
///
/// - Complexity: O(1) for every operation, apart from the evictions that an insertion causes.
public struct SieveCache<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    /// Where a value stands. Values are apart from it: nobody who moves the hand has to touch them.
    @usableFromInline
    struct Entry: Sendable {
        @usableFromInline var cost: Int
        @usableFromInline var isVisited = false
        @usableFromInline var newer: Int?
        @usableFromInline var older: Int?

        @inlinable
        init(cost: Int, older: Int?) {
            self.cost = cost
            self.older = older
        }
    }

    /// The most that the values may cost together.
    public let limit: Int
    /// How many values there may be.
    public let countLimit: Int
    /// What the values cost together.
    @inlinable public var cost: Int { totalCost }
    @usableFromInline var totalCost = 0

    @usableFromInline var places: [Key: Int] = [:]
    @usableFromInline var entries: [Entry] = []
    @usableFromInline var keysInPlace: [Key?] = []
    @usableFromInline var values: [Value?] = []
    @usableFromInline var freePlaces: [Int] = []
    @usableFromInline var newest: Int?
    @usableFromInline var oldest: Int?
    @usableFromInline var hand: Int?

    /// Makes an empty cache.
    ///
    /// - Parameters:
    ///   - limit: The most that the values may cost together; taken for 0 if it is less.
    ///   - countLimit: How many values there may be; taken for 0 if it is less.
    @inlinable
    public init(limit: Int, countLimit: Int = .max) {
        self.limit = max(0, limit)
        self.countLimit = max(0, countLimit)
    }

    /// How many values there are.
    @inlinable
    public var count: Int { places.count }

    /// The value for a key, which counts as asked for; `nil` if there is none.
    @inlinable
    public mutating func value(for key: Key) -> Value? {
        guard let place = places[key] else { return nil }
        // Written only where it changes: the line of memory is shared with whoever reads at the same time.
        if !entries[place].isVisited { entries[place].isVisited = true }
        return values[place]
    }

    /// The value for a key, which does not count as asked for; `nil` if there is none.
    @inlinable
    public func peek(_ key: Key) -> Value? {
        places[key].flatMap { values[$0] }
    }

    /// Counts the value for a key at another cost, because it has changed, and evicts what is too much then.
    ///
    /// - Returns: what had to go, to be let go outside of a lock. That is the value itself if it costs more than everything may.
    @inlinable
    @discardableResult
    public mutating func setCost(_ cost: Int, for key: Key) -> [Value] {
        guard let place = places[key] else { return [] }
        let cost = max(0, cost)
        guard cost <= limit else { return [take(place)].compactMap { $0 } }
        totalCost += cost - entries[place].cost
        entries[place].cost = cost
        var gone: [Value] = []
        while totalCost > limit, let evicted = evict() { gone.append(evicted) }
        return gone
    }

    /// Keeps a value for a key in the place of another, unless it costs more than everything may, or the key is not equal to
    /// itself and so would never be found again.
    ///
    /// - Returns: what had to go, to be let go outside of a lock.
    @inlinable
    @discardableResult
    public mutating func insert(_ value: Value, for key: Key, cost: Int) -> [Value] {
        let cost = max(0, cost)
        var gone: [Value] = []
        if let replaced = remove(key) { gone.append(replaced) }
        guard cost <= limit, countLimit > 0, key == key else { return gone + [value] }
        while totalCost > limit - cost || count >= countLimit, let evicted = evict() { gone.append(evicted) }
        let place = freePlaces.popLast() ?? addPlace()
        entries[place] = Entry(cost: cost, older: newest)
        (keysInPlace[place], values[place]) = (key, value)
        if let newest { entries[newest].newer = place } else { oldest = place }
        newest = place
        places[key] = place
        totalCost += cost
        return gone
    }

    /// Removes the value for a key.
    ///
    /// - Returns: the value; `nil` if there was none.
    @inlinable
    @discardableResult
    public mutating func remove(_ key: Key) -> Value? {
        places[key].flatMap { take($0) }
    }

    /// Removes the values that a condition holds for.
    ///
    /// - Returns: the values, to be let go outside of a lock.
    /// - Complexity: O(n) in the number of values.
    @inlinable
    public mutating func removeAll(where condition: (Key, Value) -> Bool) -> [Value] {
        let gone = places.values.filter { place in
            guard let key = keysInPlace[place], let value = values[place] else { return false }
            return condition(key, value)
        }
        return gone.compactMap { take($0) }
    }

    @inlinable
    mutating func evict() -> Value? {
        var place = hand ?? oldest
        while let visited = place, entries[visited].isVisited {
            entries[visited].isVisited = false
            place = entries[visited].newer ?? oldest
        }
        guard let place else { return nil }
        hand = entries[place].newer
        return take(place)
    }

    /// The keys of all values.
    @inlinable
    public var keys: [Key] { Array(places.keys) }

    @inlinable
    mutating func addPlace() -> Int {
        entries.append(Entry(cost: 0, older: nil))
        keysInPlace.append(nil)
        values.append(nil)
        return entries.count - 1
    }

    @inlinable
    mutating func take(_ place: Int) -> Value? {
        guard let key = keysInPlace[place], let value = values[place] else { return nil }
        let entry = entries[place]
        if let newer = entry.newer { entries[newer].older = entry.older } else { newest = entry.older }
        if let older = entry.older { entries[older].newer = entry.newer } else { oldest = entry.newer }
        if hand == place { hand = entry.newer }
        (keysInPlace[place], values[place]) = (nil, nil)
        freePlaces.append(place)
        places[key] = nil
        totalCost -= entry.cost
        return value
    }
}
