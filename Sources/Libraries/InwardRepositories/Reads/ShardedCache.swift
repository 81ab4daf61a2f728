public import InwardCore
public import Synchronization

/// A cache in several parts, so that those who use it at the same time seldom meet.
@usableFromInline
final class ShardedCache<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    @usableFromInline
    final class Shard: Sendable {
        @usableFromInline let cache: Mutex<SieveCache<Key, Value>>

        init(bytes: Int, count: Int) {
            cache = Mutex(SieveCache(limit: bytes, countLimit: count))
        }
    }

    /// Fewer than this are not worth another part, whose share of the limit nothing else can use.
    private static var leastCount: Int { 256 }

    @usableFromInline let shards: [Shard]

    init(_ limit: MemoryLimit) {
        let count = min(16, max(1, limit.count / Self.leastCount))
        shards = (0..<count).map { _ in Shard(bytes: limit.bytes / count, count: limit.count / count) }
    }

    @inlinable
    func place(of key: Key) -> Int { Int(UInt(bitPattern: key.hashValue) % UInt(shards.count)) }

    /// How many values there are.
    var count: Int { shards.reduce(0) { sum, shard in sum + shard.cache.withLock(\.count) } }

    /// The value for a key, which counts as asked for.
    @inlinable
    func value(for key: Key) -> Value? { shards[place(of: key)].cache.withLock { $0.value(for: key) } }

    /// The value for a key, which does not count as asked for.
    func peek(_ key: Key) -> Value? { shards[place(of: key)].cache.withLock { $0.peek(key) } }

    /// Keeps a value.
    func insert(_ value: Value, for key: Key, cost: Int) {
        // What has to go is let go outside of the lock.
        _ = shards[place(of: key)].cache.withLock { $0.insert(value, for: key, cost: cost) }
    }

    /// Removes the value for a key.
    func remove(_ key: Key) { _ = shards[place(of: key)].cache.withLock { $0.remove(key) } }

    /// Removes the values that a condition holds for.
    func removeAll(where condition: (Key, Value) -> Bool) {
        for shard in shards {
            _ = shard.cache.withLock { $0.removeAll(where: condition) }
        }
    }
}
