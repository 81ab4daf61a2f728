public import InwardCore
public import Synchronization

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Reads entities from the nearest place that a policy allows: memory, a store, or the upstream.
///
///     let comments = Repository(Endpoint(CommentDTO.self, at: "comments"), upstream: upstream)
///     let reading = try await comments.entity(7)
///
/// Each reading tells where its value came from and how old it is. Concurrent reads of the same entity or list are coalesced into
/// one request. Single entities and the lists that contain them are consistent with each other.
///
/// To show an entity as it changes, observe it:
///
///     for try await reading in comments.changes(of: 7) { … }
///
/// A repository has its own memory cache. Share one among all callers who may see the same data, and close it at sign-out.
public final class Repository<Entity: Identifiable & Sendable>: Sendable
where Entity.ID: Sendable & LosslessStringConvertible {
    /// The endpoint of the entities.
    public let endpoint: Endpoint<Entity>

    let source: EntitySource<Entity>
    @usableFromInline let memory: EntityMemory<Entity>
    let store: EntityStore<Entity>?
    @usableFromInline let timer: TimerService
    let outbox: Outbox?
    @usableFromInline let pending: PendingLayer<Entity>
    let observers = RepositoryObservers<Entity>()
    let observer: (any RepositoryObserver)?
    /// Whether there is an observer. Looking at the observer itself would copy it in each read.
    @usableFromInline let isObserved: Bool
    let chance: @Sendable () -> Double
    let cache: PeerCache<Entity>
    @usableFromInline let isClosed = Atomic(false)

    /// Creates a repository for the entities of an upstream.
    ///
    /// - Parameters:
    ///   - endpoint: The location of the entities, and the lifetimes of responses.
    ///   - upstream: The upstream.
    ///   - limit: The size limit of the memory cache.
    ///   - store: The store that keeps responses beyond the life of the process; `nil` for none.
    ///   - outbox: The outbox that delivers writes; `nil` to send them immediately. The caller opens it with the repository's
    ///     ``handler``, and closes it.
    ///   - abandonment: What happens to a fetch that no caller is waiting for.
    ///   - timer: The timer service that measures ages.
    ///   - observer: The observer of reads and of the store; `nil` for none, which has no overhead.
    ///   - chance: Returns a random number from 0 to 1, for the jitter of lifetimes.
    public init(
        _ endpoint: Endpoint<Entity>,
        upstream: Upstream,
        memory limit: MemoryLimit = MemoryLimit(),
        store: RepositoryStore? = nil,
        outbox: Outbox? = nil,
        whenAbandoned abandonment: AbandonmentPolicy = .cancel,
        timer: TimerService = .continuous,
        observer: (any RepositoryObserver)? = nil,
        chance: @escaping @Sendable () -> Double = { .random(in: 0..<1) }
    ) {
        self.endpoint = endpoint
        self.observer = observer
        isObserved = observer != nil
        self.timer = timer
        self.outbox = outbox
        self.chance = chance
        self.store = store.map {
            EntityStore(endpoint, in: $0.observing(with: observer, timer: timer), executor: timer.executor)
        }
        cache = PeerCache(
            endpoint,
            limit,
            self.store,
            in: store,
            whenAbandoned: abandonment,
            timer: timer,
            chance: chance,
            notifying: observers
        )
        memory = cache.memory
        pending = PendingLayer(notifying: observers) { patch, entity in
            endpoint.patched(entity, by: patch)
        } whereListsMayContain: { [memory] ids, filter in
            memory.mayContain(ids, in: filter)
        }
        source = EntitySource(
            endpoint,
            upstream: upstream,
            cache: cache,
            timer: timer,
            chance: chance,
            observer: observer
        )
    }

    /// Returns the entity with an identifier.
    ///
    /// - Throws: a `RepositoryError`: `notFound` if there is no such entity.
    /// - Complexity: O(1) if the entity is in memory.
    @inlinable
    public func entity(
        _ id: Entity.ID,
        _ policy: ReadPolicy = .cacheFirst
    ) async throws(RepositoryError) -> Reading<Entity> {
        let kept = isPlain ? memory.entity(id) : nil
        if let reading = reading(kept, policy) { return reading }
        return try await readEntity(id, policy, kept)
    }

    /// Returns the entities that match a filter, in the upstream's order. The reading names the damaged records, which the list
    /// omits.
    ///
    /// - Throws: a `RepositoryError` if the list is not available.
    /// - Complexity: O(1) if the list is in memory.
    @inlinable
    public func entities(
        _ filter: EntityFilter<Entity> = .all,
        _ policy: ReadPolicy = .cacheFirst
    ) async throws(RepositoryError) -> Reading<[Entity]> {
        let kept = isPlain ? memory.list(filter) : nil
        if let reading = reading(kept, policy) { return reading }
        return try await readEntities(filter, policy, kept)
    }

    /// Removes an entity, and the lists that contain it, from the caches.
    public func invalidate(_ id: Entity.ID) { invalidate(under: endpoint.key(of: id)) }

    /// Removes everything under a key from the caches. `["posts"]` removes all posts; `["users", "7"]` removes the entities that
    /// belong to that user by the endpoint's subjects, and every list that contains any of them.
    ///
    /// Requests in flight still answer their callers, but their responses are not cached. The store drops all records of the
    /// repository, and later reads do not accept copies from intermediate caches that predate the invalidation.
    ///
    /// - Complexity: O(n) in the size of the memory cache.
    public func invalidate(under key: RecordKey) {
        cache.change(everywhere: true) { $0.invalidate(key) }
    }

    /// Removes everything from the caches.
    public func invalidateAll() { invalidate(under: []) }

    /// Waits until pending cache writes have reached the store or failed.
    public func flush() async {
        memory.storeLists()
        await store?.writer.flush()
    }

    /// Closes the repository: requests in flight are cancelled, and all reads fail, including those that are waiting. Pending cache
    /// writes have reached the store when this method returns, unless the task is cancelled or its deadline passes.
    public func close() async {
        isClosed.store(true, ordering: .releasing)
        memory.close()
        cache.leave()
        source.batcher?.close()
        await cache.entities.close()
        await cache.lists.close()
        await flush()
    }

    /// Throws `closed` if the repository is closed.
    func throwIfClosed(asking path: @autoclosure () -> [String]) throws(RepositoryError) {
        guard isClosed.load(ordering: .acquiring) else { return }
        throw RepositoryError(
            .closed,
            request: source.upstream.description(of: path()),
            explanation: "is not answered: the repository is closed"
        )
    }
}

/// The fast path for reads from memory. These members are inlinable so that they are specialized for the entity type.
extension Repository {
    /// Returns a reading of an entity in memory, if the policy accepts it as it is.
    @inlinable
    func reading(_ kept: KeptAnswer<Entity?>?, _ policy: ReadPolicy) -> Reading<Entity>? {
        guard let kept, let value = kept.value else { return nil }
        let now = timer.now
        guard case .given(let isStale) = kept.use(policy, at: now, endpoint.lifetimes) else { return nil }
        return Reading(value, origin: .memory, age: kept.age(at: now), isStale: isStale)
    }

    /// Returns a reading of a list in memory, if the policy accepts it as it is.
    @inlinable
    func reading(_ kept: KeptAnswer<EntityList<Entity>>?, _ policy: ReadPolicy) -> Reading<[Entity]>? {
        guard let kept else { return nil }
        let now = timer.now
        guard case .given(let isStale) = kept.use(policy, at: now, endpoint.lifetimes) else { return nil }
        return Reading(
            kept.value.entities,
            origin: .memory,
            age: kept.age(at: now),
            isStale: isStale,
            rejected: kept.value.rejected
        )
    }

    /// Whether values in memory may be returned as they are: the repository is open, nothing is pending, and nobody is told. Ask
    /// before you look into memory, so that a write that is delivered in between is in one or the other.
    @inlinable var isPlain: Bool { !isClosed.load(ordering: .acquiring) && pending.isEmpty && !isObserved }

    @usableFromInline
    func readEntity(
        _ id: Entity.ID,
        _ policy: ReadPolicy,
        _ kept: KeptAnswer<Entity?>?
    ) async throws(RepositoryError) -> Reading<Entity> {
        try await read(EntityQuestion(id: id), policy, cache.entities, kept)
    }

    @usableFromInline
    func readEntities(
        _ filter: EntityFilter<Entity>,
        _ policy: ReadPolicy,
        _ kept: KeptAnswer<EntityList<Entity>>?
    ) async throws(RepositoryError) -> Reading<[Entity]> {
        try await read(ListQuestion(filter: filter), policy, cache.lists, kept)
    }
}

/// The place where a repository stores what it fetches beyond the life of a process.
public struct RepositoryStore: Sendable {
    /// The store.
    public let records: any RecordStore
    /// The key prefix of the repository's records.
    public let partition: RecordKey
    /// The repositories that share the partition, which learn from each other; `nil` if they meet in the store only.
    public let peers: RepositoryPeers?
    package let now: @Sendable () -> Date
    let reportFailure: @Sendable (RecordStoreError) -> Void

    /// Returns this location with an observer for the store.
    func observing(with observer: (any RepositoryObserver)?, timer: TimerService) -> Self {
        let records = records.observing(with: observer, timer: timer)
        return Self(records, partition: partition, now: now, reportFailure: reportFailure)
    }

    /// Creates a store location.
    ///
    /// - Parameters:
    ///   - records: The store. Several repositories may share one.
    ///   - partition: The key prefix of the records, such as the user who received the responses. Repositories never read another
    ///     partition.
    ///   - peers: The repositories over the store in this process, which learn from each other at once if they have the same
    ///     partition; `nil` if they meet in the store only.
    ///   - now: Returns the wall-clock time, so that records age while no process runs.
    ///   - reportFailure: Called when a record could not be read or stored. The repository continues without it.
    public init(
        _ records: any RecordStore,
        partition: RecordKey,
        peers: RepositoryPeers? = nil,
        now: @escaping @Sendable () -> Date,
        reportFailure: @escaping @Sendable (RecordStoreError) -> Void
    ) {
        self.records = records
        self.partition = partition
        self.peers = peers
        self.now = now
        self.reportFailure = reportFailure
    }

    /// Creates the store location of an owner at an upstream. Each upstream has partitions of its own, so the data and pending
    /// writes of different upstreams never mix.
    ///
    /// - Parameters:
    ///   - records: The store. Several repositories may share one.
    ///   - owner: Who received the responses, such as `["users", "ada"]`.
    ///   - upstream: The upstream. Its address names the partition, without user name, password and query.
    ///   - name: The name of the upstream in an app with several, which may have the same address.
    ///   - peers: The repositories over the store in this process, which learn from each other at once if they have the same
    ///     owner; `nil` if they meet in the store only.
    ///   - now: Returns the wall-clock time, so that records age while no process runs.
    ///   - errorHandler: Receives the failures to read or store a record. The repository continues without it.
    public init(
        _ records: any RecordStore,
        of owner: RecordKey,
        at upstream: Upstream,
        named name: UpstreamName = .standard,
        peers: RepositoryPeers? = nil,
        now: @escaping @Sendable () -> Date,
        tellingFailuresTo errorHandler: any ErrorHandler
    ) {
        // An address in a store has no fragment, so no address and name are those of another upstream.
        let place = name == .standard ? upstream.nameInStore : "\(upstream.nameInStore)#\(name)"
        let partition = RecordKey(["upstreams", place] + owner.components)
        self.init(records, partition: partition, peers: peers, now: now) { errorHandler.handle($0) }
    }

    /// The key prefix of the outbox's records. It is outside of the repositories' partition, so that clearing their cached data
    /// keeps pending writes.
    package var outboxPrefix: RecordKey { RecordKey(["outboxes"] + partition.components) }
}

/// The size limit of a repository's memory cache.
public struct MemoryLimit: Hashable, Sendable {
    /// The maximum number of entities, and of lists.
    public var count: Int
    /// The maximum size in bytes, as encoded by the upstream, of the entities, and of the lists.
    public var bytes: Int

    /// Creates a limit. The default is 10,000 entities of 32 MiB in total, and the same for lists.
    public init(count: Int = 10_000, bytes: Int = 32 * 1_024 * 1_024) {
        self.count = max(0, count)
        self.bytes = max(0, bytes)
    }

    /// The limit that disables caching.
    public static let nothing = Self(count: 0, bytes: 0)
}
