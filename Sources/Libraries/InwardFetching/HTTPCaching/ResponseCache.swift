import InwardCore
import Synchronization

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// An in-memory cache of responses, divided into partitions.
///
/// Share one cache among all parts of a program, because its byte limit applies to all partitions together. Partitions do not share
/// responses. Create one for each user session, and another one for what is the same for all users:
///
/// ```swift
/// let cache = ResponseCache(byteLimit: 10_000_000, clock: ContinuousClock())
/// let catalog = orders.caching(in: cache.makePartition(.shared))
/// let session = cache.makePartition()
/// let cached = orders.caching(in: session)
/// session.close()  // At sign-out.
/// ```
public final class ResponseCache: Sendable {
    private final class Shard: Sendable {
        let entries: Mutex<ResponseEntries>

        init(byteLimit: Int) {
            entries = Mutex(ResponseEntries(byteLimit: byteLimit))
        }
    }

    /// The shards, whose number is a power of two. Requests for different URLs seldom wait for the same lock.
    private let shards: [Shard]
    private let bodies = BodyPool()
    private let stopwatch: Stopwatch
    let executor: (any TaskExecutor)?
    private let date: @Sendable () -> Date
    private let numbers = Atomic(0)
    private let partitions = Atomic(0)

    /// Creates an empty cache.
    ///
    /// - Parameters:
    ///   - byteLimit: The approximate maximum number of bytes in all partitions together. Above it, responses that were not
    ///     read again are evicted first, starting with the oldest. From 32 MiB on, the limit is divided into parts of at least 16 MiB,
    ///     and a response must fit into one part.
    ///   - clock: The clock that measures freshness.
    ///   - executor: The executor for requests to the upstream that concurrent callers share; `nil` for the default executor.
    ///   - now: Returns the current date, which determines the age of a response from its `Date` header field.
    public init(
        byteLimit: Int,
        clock: some Clock<Duration>,
        executor: (any TaskExecutor)? = nil,
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.executor = executor
        var count = 1
        while count < Self.maximumShardCount, byteLimit / (count * 2) >= Self.minimumShardBytes { count *= 2 }
        shards = (0..<count).map { _ in Shard(byteLimit: byteLimit / count) }
        stopwatch = Stopwatch(clock)
        date = now
    }

    private static let maximumShardCount = 16
    private static let minimumShardBytes = 16 * 1_024 * 1_024

    /// The number of responses in all partitions.
    public var count: Int { shards.reduce(0) { $0 + $1.entries.withLock(\.count) } }

    /// The number of URLs with requests under way.
    var underWayCount: Int { shards.reduce(0) { $0 + $1.entries.withLock(\.underWayCount) } }

    /// The number of different bodies.
    var bodyCount: Int { bodies.count }

    /// Creates a partition.
    ///
    /// - Parameters:
    ///   - policy: The rules; by default, those of a cache for one user.
    ///   - store: The store whose responses the partition has, and where it keeps them; `nil` to keep them in memory only, and to begin
    ///     without any.
    ///   - reportFailure: Called for each failure of the store. The cache then works without it.
    /// - Returns: The partition.
    public func makePartition(
        _ policy: CachePolicy = .private,
        over store: (any ResponseStore)? = nil,
        reportFailure: @escaping @Sendable (ResponseStoreError) -> Void = { _ in }
    ) -> Partition {
        Partition(
            self,
            number: partitions.add(1, ordering: .relaxed).newValue,
            policy: policy,
            over: store,
            report: reportFailure
        )
    }

    /// The current time.
    var now: CacheMoment { CacheMoment(uptime: stopwatch.elapsed, date: date()) }

    /// The time since the creation of the cache.
    var uptime: Duration { stopwatch.elapsed }

    /// Returns the number of a request that begins now, which is greater than those of earlier requests.
    func nextNumber() -> Int { numbers.add(1, ordering: .relaxed).newValue }

    /// Returns a body that shares its memory with equal ones.
    func body(_ data: Data) -> StoredBody { bodies.body(data) }

    /// Calls a closure with the entries that have a key.
    func withEntries<Result>(for key: CacheKey, _ change: (inout sending ResponseEntries) -> sending Result)
        -> sending Result
    {
        shards[key.urlHash & (shards.count - 1)].entries.withLock(change)
    }

    /// Removes the responses that satisfy a condition.
    func removeAll(where condition: (CacheKey, StoredResponse) -> Bool) {
        for shard in shards {
            // Released after the lock, because that frees memory.
            _ = shard.entries.withLock { $0.removeAll(where: condition) }
        }
    }
}

/// The bodies in a cache. Equal ones are stored once, however many responses have them.
final class BodyPool: Sendable {
    private struct WeakBody: Sendable {
        weak let body: StoredBody?
    }

    private let bodies = Mutex<[Int: WeakBody]>([:])

    /// The number of bodies.
    var count: Int { bodies.withLock { $0.values.compactMap(\.body) }.count }

    /// Returns the body with this data.
    func body(_ data: Data) -> StoredBody {
        // The hash of data covers its beginning only, which is enough to find a candidate.
        let hash = data.hashValue
        var isEqual = false
        // The candidate leaves the lock even if it differs, for the reason given in `forget`.
        let candidate = bodies.withLock { bodies -> StoredBody? in
            let body = bodies[hash]?.body
            isEqual = body?.data == data
            return body
        }
        if isEqual, let candidate { return candidate }
        let body = StoredBody(data, hash: hash, pool: self)
        bodies.withLock { $0[hash] = WeakBody(body: body) }
        return body
    }

    /// Forgets the body with a hash, unless another one has taken its place.
    fileprivate func forget(_ hash: Int) {
        // Another body can lose its last owner meanwhile, so it is released after the lock, which its end needs as well.
        _ = bodies.withLock { bodies -> StoredBody? in
            let body = bodies[hash]?.body
            if body == nil { bodies[hash] = nil }
            return body
        }
    }
}

/// A body, which responses with equal bodies share.
final class StoredBody: Sendable {
    let data: Data
    private let hash: Int
    private weak let pool: BodyPool?

    fileprivate init(_ data: Data, hash: Int, pool: BodyPool) {
        self.data = data
        self.hash = hash
        self.pool = pool
    }

    /// Creates a body outside a cache.
    init(_ data: Data) {
        self.data = data
        hash = 0
        pool = nil
    }

    deinit { pool?.forget(hash) }
}
