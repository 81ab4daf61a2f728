public import InwardCore
public import Synchronization

/// A cache in several shards, to reduce lock contention.
@usableFromInline
final class ShardedCache<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    @usableFromInline
    final class Shard: Sendable {
        @usableFromInline let cache: Mutex<SieveCache<Key, Value>>

        init(bytes: Int, count: Int) {
            cache = Mutex(SieveCache(limit: bytes, countLimit: count))
        }
    }

    /// The minimum size of a shard. Each shard's part of the limit is unavailable to the others, so smaller ones are not
    /// worthwhile.
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
        // Evicted values are released outside of the lock.
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
