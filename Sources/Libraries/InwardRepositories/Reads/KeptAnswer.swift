public import InwardCore
public import Synchronization

/// A cached value with the time of its request and the time at which it becomes stale, by the repository's clock.
///
/// It is an immutable class, so that a lookup retains a single object even if the entity is large.
@usableFromInline
final class KeptAnswer<Value: Sendable>: Sendable {
    /// The permitted use of a cached value.
    @usableFromInline
    enum Use: Equatable {
        /// Return the value.
        case given(isStale: Bool)
        /// Return the value, and refresh it in the background for later readers.
        case givenWhileRevalidating
        /// Do not return the value.
        case notGiven
    }

    @usableFromInline let value: Value
    /// The time of the request.
    @usableFromInline let time: Duration
    /// The time at which the value becomes stale.
    @usableFromInline let staleTime: Duration
    /// The validator of the response, for conditional requests. `nil` if the response had none, if the entity came in a list,
    /// or if the list has changed since.
    let validator: Validator?

    @usableFromInline
    init(value: Value, time: Duration, staleTime: Duration, validator: Validator? = nil) {
        self.value = value
        self.time = time
        self.staleTime = staleTime
        self.validator = validator
    }

    /// Returns the age of the value.
    @inlinable
    func age(at now: Duration) -> Duration { max(.zero, now - time) }

    /// Returns what a read may do with the value.
    ///
    /// - Parameters:
    ///   - policy: The policy of the read.
    ///   - now: The current time.
    ///   - lifetimes: The limits on stale values.
    ///   - hasFailed: Whether a request to the upstream has already failed.
    /// - Returns: the permitted use.
    @inlinable
    func use(_ policy: ReadPolicy, at now: Duration, _ lifetimes: Lifetimes, hasFailed: Bool = false) -> Use {
        let age = age(at: now)
        if age > lifetimes.expiresAfter { return .notGiven }
        if let largest = policy.maximumAge, age > largest { return .notGiven }
        let isStale = now >= staleTime
        guard policy.asksUpstream else { return .given(isStale: isStale) }
        if policy.fallsBackToCache { return hasFailed ? .given(isStale: isStale) : .notGiven }
        guard policy.allowsCopies else { return .notGiven }
        if !isStale { return .given(isStale: false) }
        if hasFailed { return now < staleTime + lifetimes.staleIfError ? .given(isStale: true) : .notGiven }
        return now < staleTime + lifetimes.staleWhileRevalidate ? .givenWhileRevalidating : .notGiven
    }
}

/// A version of an entity, with its strong entity tag if the upstream gave one.
struct EntityVersion<Entity: Sendable>: Sendable {
    let entity: Entity
    let entityTag: String?
}

/// A cache that is divided into shards, to reduce lock contention.
@usableFromInline
final class ShardedCache<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    @usableFromInline
    final class Shard: Sendable {
        @usableFromInline let cache: Mutex<SieveCache<Key, Value>>

        init(bytes: Int, count: Int) {
            cache = Mutex(SieveCache(limit: bytes, countLimit: count))
        }
    }

    /// The minimum number of values in a shard. A shard cannot use the unused limit of another one, so small shards would waste
    /// it.
    private static var leastCount: Int { 256 }

    @usableFromInline let shards: [Shard]

    init(_ limit: MemoryLimit) {
        let count = min(16, max(1, limit.count / Self.leastCount))
        shards = (0..<count).map { _ in Shard(bytes: limit.bytes / count, count: limit.count / count) }
    }

    @inlinable
    func place(of key: Key) -> Int { Int(UInt(bitPattern: key.hashValue) % UInt(shards.count)) }

    /// The number of values.
    var count: Int { shards.reduce(0) { sum, shard in sum + shard.cache.withLock(\.count) } }

    /// Returns the value for a key, and marks it as used.
    @inlinable
    func value(for key: Key) -> Value? { shards[place(of: key)].cache.withLock { $0.value(for: key) } }

    /// Returns the value for a key, without marking it as used.
    func peek(_ key: Key) -> Value? { shards[place(of: key)].cache.withLock { $0.peek(key) } }

    /// Inserts a value.
    func insert(_ value: Value, for key: Key, cost: Int) {
        // Evicted values are released outside the lock.
        _ = shards[place(of: key)].cache.withLock { $0.insert(value, for: key, cost: cost) }
    }

    /// Removes the value for a key.
    func remove(_ key: Key) { _ = shards[place(of: key)].cache.withLock { $0.remove(key) } }

    /// Removes the values that satisfy a condition.
    func removeAll(where condition: (Key, Value) -> Bool) {
        for shard in shards {
            _ = shard.cache.withLock { $0.removeAll(where: condition) }
        }
    }
}
