/// A bounded in-memory cache that keeps values that are read repeatedly.
///
/// ```swift
/// var pages = SieveCache<String, [UInt8]>(limit: 64 * 1_024 * 1_024)
/// let body: [UInt8] = [0x68, 0x69]
/// pages.insert(body, for: "/users", cost: body.count)
/// let cached = pages.value(for: "/users")  // nil after an eviction
/// ```
///
/// The cache evicts with the SIEVE algorithm (Zhang et al., NSDI 2024). A hand moves from the oldest entry to the
/// newest, skips entries that were read since its last visit, and evicts the first entry that was not. A scan therefore
/// does not displace frequently read values.
///
/// The cache is a value type without a lock. To share it, keep it in a `Mutex`, and release evicted values after you unlock
/// it. The type is inlinable so that the compiler can specialize it for its key and value types.
///
/// - Complexity: O(1) for every operation except `removeAll(where:)` and `keys`, not counting evictions.
public struct SieveCache<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    /// The bookkeeping of one value, stored apart from the value so that moving the hand does not touch values.
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

    /// The maximum total cost of the values.
    public let limit: Int
    /// The maximum number of values.
    public let countLimit: Int
    /// The current total cost of the values.
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

    /// Creates an empty cache.
    ///
    /// - Parameters:
    ///   - limit: The maximum total cost of the values. Negative numbers count as 0.
    ///   - countLimit: The maximum number of values. Negative numbers count as 0.
    @inlinable
    public init(limit: Int, countLimit: Int = .max) {
        self.limit = max(0, limit)
        self.countLimit = max(0, countLimit)
    }

    /// The number of values in the cache.
    @inlinable
    public var count: Int { places.count }

    /// Returns the value for a key and marks it as read, or returns `nil` if the cache has no value for the key.
    @inlinable
    public mutating func value(for key: Key) -> Value? {
        guard let place = places[key] else { return nil }
        // Written only if it changes, because a write takes the cache line away from other cores.
        if !entries[place].isVisited { entries[place].isVisited = true }
        return values[place]
    }

    /// Returns the value for a key without marking it as read, or returns `nil` if the cache has no value for the key.
    @inlinable
    public func peek(_ key: Key) -> Value? {
        places[key].flatMap { values[$0] }
    }

    /// Updates the cost of a value that has changed, and evicts values until the total cost is within the limit.
    ///
    /// - Returns: The removed values. If you hold a lock, release them after you unlock it. They include the value itself if its
    ///   cost alone exceeds the limit.
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

    /// Inserts a value for a key, and replaces the previous value.
    ///
    /// The cache does not keep the value if its cost alone exceeds the limit, or if the key is not equal to itself and
    /// so could never be found again.
    ///
    /// - Returns: The removed values. If you hold a lock, release them after you unlock it. They include the value itself if the
    ///   cache does not keep it.
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
    /// - Returns: The removed value, or `nil` if the cache had none.
    @inlinable
    @discardableResult
    public mutating func remove(_ key: Key) -> Value? {
        places[key].flatMap { take($0) }
    }

    /// Removes the values that satisfy a condition.
    ///
    /// - Returns: The removed values. If you hold a lock, release them after you unlock it.
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

    /// The keys of all values, in no particular order.
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
