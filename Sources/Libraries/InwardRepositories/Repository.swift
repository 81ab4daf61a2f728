public import InwardCore
public import Synchronization

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A repository of an upstream's entities of one type, with a memory cache, an optional store and an optional outbox.
///
/// ```swift
/// let comments = Repository(Endpoint(CommentDTO.self, at: "comments"), upstream: upstream)
/// let reading = try await comments.entity(7)
/// print(reading.value.body, reading.origin, reading.age)
/// ```
///
/// The `ReadPolicy` of a read decides whether memory, the store or the upstream may answer it. Each reading says where its value
/// came from and how old it is. Concurrent reads of the same entity or list are coalesced into one request. Single entities and
/// the lists that contain them are consistent with each other.
///
/// To write, the endpoint needs a ``Creation`` or ``Editing``:
///
/// ```swift
/// let created = try await comments.create(CommentDraft(postId: 1, body: "Well said."))
/// try await comments.update(created.value.id) { $0.body = "Very well said." }
/// ```
///
/// To show an entity as it changes, observe it:
///
/// ```swift
/// for try await reading in comments.changes(of: 7) {
///     print(reading.value?.body ?? "deleted")
/// }
/// ```
///
/// Each repository has a memory cache of its own. Share one repository among all callers who may see the same data, and close
/// it at sign-out.
public final class Repository<Entity: Identifiable & Sendable>: Sendable
where Entity.ID: Sendable & LosslessStringConvertible {
    /// The endpoint of the entities.
    public let endpoint: Endpoint<Entity>

    let source: EntitySource<Entity>
    @usableFromInline let memory: EntityMemory<Entity>
    let store: EntityStore<Entity>?
    @usableFromInline let timer: TimerService
    let outbox: (any RepositoryOutbox)?
    @usableFromInline let pending: PendingLayer<Entity>
    let observers = RepositoryObservers<Entity>()
    let observer: (any RepositoryObserver)?
    /// Whether there is an observer. Reads check this flag, because checking the observer itself would copy it.
    @usableFromInline let isObserved: Bool
    let chance: @Sendable () -> Double
    let cache: PeerCache<Entity>
    @usableFromInline let isClosed = Atomic(false)

    /// Creates a repository for the entities of an endpoint.
    ///
    /// ```swift
    /// let comments = Repository(endpoint, upstream: upstream, memory: MemoryLimit(count: 1_000))
    /// ```
    ///
    /// - Parameters:
    ///   - endpoint: The description of the entities.
    ///   - upstream: The upstream that has them.
    ///   - limit: The size limit of the memory cache.
    ///   - store: The store that caches responses across restarts, or `nil` for none.
    ///   - outbox: The outbox that delivers writes, or `nil` to send them immediately. You open the outbox with the
    ///     repository's ``handler``, and you close it.
    ///   - abandonment: The policy for a fetch that no caller waits for anymore.
    ///   - timer: The timer service that measures ages.
    ///   - observer: The observer of reads and of the store, or `nil` for none. Without an observer, nothing is measured.
    ///   - chance: Returns a random number from 0 to 1, for the jitter of lifetimes.
    public init(
        _ endpoint: Endpoint<Entity>,
        upstream: Upstream,
        memory limit: MemoryLimit = MemoryLimit(),
        store: RepositoryStore? = nil,
        outbox: (any RepositoryOutbox)? = nil,
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
    /// ```swift
    /// let recent = try await comments.entity(7, .cacheFirst.notOlder(than: .seconds(5)))
    /// ```
    ///
    /// - Parameters:
    ///   - id: The identifier.
    ///   - policy: Where the answer may come from.
    /// - Returns: a reading of the entity.
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

    /// Returns the entities that match a filter, in the upstream's order.
    ///
    /// ```swift
    /// let all = try await comments.entities()
    /// let onPost = try await comments.entities(EntityFilter("postId", "1") { $0.postID == 1 })
    /// ```
    ///
    /// The list omits damaged records. The reading describes them in its `rejected` property.
    ///
    /// - Parameters:
    ///   - filter: The entities to return.
    ///   - policy: Where the answer may come from.
    /// - Returns: a reading of the entities.
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

    /// Removes everything under a key from the caches.
    ///
    /// ```swift
    /// comments.invalidate(under: ["comments"])  // all comments
    /// comments.invalidate(under: ["posts", "7"])  // the comments on post 7, and every list that contains one of them
    /// ```
    ///
    /// The second key removes the entities for which the endpoint's `subjects` closure returns the key of post 7.
    ///
    /// Requests in flight still answer their callers, but their responses are not cached. The store drops all records of the
    /// repository. Later reads do not accept copies from intermediate caches that are older than the invalidation.
    ///
    /// - Parameter key: The key, such as the name of the endpoint or the key of an owner.
    /// - Complexity: O(n) in the size of the memory cache.
    public func invalidate(under key: RecordKey) {
        cache.change(everywhere: true, announcing: key) { memory, _ in memory.invalidate(key) }
    }

    /// Removes everything from the caches.
    public func invalidateAll() { invalidate(under: []) }

    /// Waits until all cached responses are in the store, or writing them has failed. If instances share the store, it has no
    /// responses that another instance has changed.
    public func flush() async {
        memory.storeLists()
        await store?.writer.flush()
    }

    /// Closes the repository: cancels requests in flight, and makes all reads and writes fail with `closed`.
    ///
    /// Reads that are waiting fail, too, unless their requests are answered nevertheless. When this method returns, all cached
    /// responses are in the store, unless the task was cancelled or its deadline passed.
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
            explanation: "was not sent: the repository is closed"
        )
    }
}

/// The fast path for reads from memory. Its members are inlinable, so that the compiler specializes them for the entity type.
extension Repository {
    /// Returns a reading of an entity in memory, or `nil` if the policy does not accept it as it is.
    @inlinable
    func reading(_ kept: KeptAnswer<Entity?>?, _ policy: ReadPolicy) -> Reading<Entity>? {
        guard let kept, let value = kept.value else { return nil }
        let now = timer.now
        guard case .given(let isStale) = kept.use(policy, at: now, endpoint.lifetimes) else { return nil }
        return Reading(value, origin: .memory, age: kept.age(at: now), isStale: isStale)
    }

    /// Returns a reading of a list in memory, or `nil` if the policy does not accept it as it is.
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

    /// Whether values in memory may be returned as they are: the repository is open, no write is pending, and there is no
    /// observer. Check this before the memory lookup, so that a write that is delivered in between is either still pending or
    /// in memory.
    @inlinable var isPlain: Bool { !isClosed.load(ordering: .acquiring) && pending.isEmpty && !isObserved }

    @usableFromInline
    func readEntity(
        _ id: Entity.ID,
        _ policy: ReadPolicy,
        _ kept: KeptAnswer<Entity?>?
    ) async throws(RepositoryError) -> Reading<Entity> {
        do throws(RepositoryError) {
            return try await read(EntityQuestion(id: id), policy, cache.entities, kept)
        } catch {
            guard error.reason == .notFound || !policy.asksUpstream, await learnIdentityToRead(id) else { throw error }
            return try await read(EntityQuestion(id: id), policy, cache.entities, nil)
        }
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

/// The store in which a repository caches responses across restarts, and the part of the store that belongs to one user.
///
/// ```swift
/// let records = InMemoryRecordStore()  // FileRecordStore(directory:) of InwardFileStores survives restarts.
/// let store = RepositoryStore(records, partition: ["ada"], now: { Date() }) { print("Not cached: \($0)") }
/// let comments = Repository(endpoint, upstream: upstream, store: store)
/// ```
public struct RepositoryStore: Sendable {
    /// The record store.
    public let records: any RecordStore
    /// The key prefix of the repository's records.
    public let partition: RecordKey
    /// The peers that update each other's memory if they have the same partition, or `nil` for none.
    public let peers: RepositoryPeers?
    package let now: @Sendable () -> Date
    let reportFailure: @Sendable (RecordStoreError) -> Void

    /// Returns a location whose store reports its operations to an observer.
    func observing(with observer: (any RepositoryObserver)?, timer: TimerService) -> Self {
        let records = records.observing(with: observer, timer: timer)
        return Self(records, partition: partition, peers: peers, now: now, reportFailure: reportFailure)
    }

    /// Creates a store location.
    ///
    /// - Parameters:
    ///   - records: The record store. Several repositories may share one. If the peers share a store, it is that store, or a wrapper
    ///     of it that is a ``SharedRecordStore``, too. Otherwise, responses are not stored.
    ///   - partition: The key prefix of the records, such as the name of the user who received the responses. A repository
    ///     never reads another partition.
    ///   - peers: The peers that update each other's memory if they have the same partition. With `nil`, repositories see each
    ///     other's responses only when they read the store.
    ///   - now: Returns the wall-clock time, so that records age while no process runs.
    ///   - reportFailure: Called if a record could not be read or stored. The repository continues without it.
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

    /// Creates the store location of one user's data from one upstream.
    ///
    /// Each upstream has partitions of its own, so the data and pending writes of different upstreams never mix.
    ///
    /// - Parameters:
    ///   - records: The record store. Several repositories may share one.
    ///   - owner: The key of the user who received the responses, such as `["users", "ada"]`.
    ///   - upstream: The upstream. The partition is named after its address, without user name, password and query.
    ///   - name: The name of the upstream, in an app with several upstreams, which may have the same address.
    ///   - peers: The peers that update each other's memory if they have the same owner and upstream. With `nil`, repositories
    ///     see each other's responses only when they read the store.
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
        let place = upstream.nameInStore(as: name)
        let partition = RecordKey(["upstreams", place] + owner.components)
        self.init(records, partition: partition, peers: peers, now: now) { errorHandler.handle($0) }
    }

    /// The key prefix of the outbox's records. It is outside the repositories' partition, so that clearing their cached data
    /// keeps pending writes.
    package var outboxPrefix: RecordKey { RecordKey(["outboxes"] + partition.components) }
}

/// The size limit of a repository's memory cache.
///
/// ```swift
/// let limit = MemoryLimit(count: 50_000, bytes: 128 * 1_024 * 1_024)
/// let comments = Repository(endpoint, upstream: upstream, memory: limit)
/// ```
public struct MemoryLimit: Hashable, Sendable {
    /// The maximum number of entities. The same limit applies separately to lists.
    public var count: Int
    /// The maximum encoded size of all entities in bytes. The same limit applies separately to lists.
    public var bytes: Int

    /// Creates a limit. The default is 10,000 entities of 32 MiB in total, and the same for lists.
    public init(count: Int = 10_000, bytes: Int = 32 * 1_024 * 1_024) {
        self.count = max(0, count)
        self.bytes = max(0, bytes)
    }

    /// The limit that disables the memory cache.
    public static let nothing = Self(count: 0, bytes: 0)
}
