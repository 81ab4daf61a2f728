public import InwardCore
public import Synchronization

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Gives entities from the nearest place that a policy allows: from memory, from a store, or from the upstream.
///
/// What it gives says where it came from, and how old it is. However many ask for the same at the same time, the upstream is asked
/// once. Single entities and the lists that they are in agree. Share one among all who may be shown the same, for the memory is
/// its own, and close it when nobody may be any more.
///
///     let comments = Repository(Endpoint(CommentDTO.self, at: "comments"), upstream: upstream)
///     let reading = try await comments.entity(7)
public final class Repository<Entity: Identifiable & Sendable>: Sendable where Entity.ID: Sendable {
    /// What it knows of the entities.
    public let endpoint: Endpoint<Entity>

    let source: EntitySource<Entity>
    @usableFromInline let memory: EntityMemory<Entity>
    let store: EntityStore<Entity>?
    @usableFromInline let timer: TimerService
    let outbox: Outbox?
    @usableFromInline let pending = PendingEntities<Entity>()
    let chance: @Sendable () -> Double
    let entities: InFlightRequests<EntityQuestion<Entity>>
    let lists: InFlightRequests<ListQuestion<Entity>>
    @usableFromInline let isClosed = Atomic(false)

    /// Makes a repository of the entities that an upstream has.
    ///
    /// - Parameters:
    ///   - endpoint: Where the upstream has them, and how long its answers are of use.
    ///   - upstream: The upstream.
    ///   - limit: How much is kept in memory.
    ///   - store: Where it is kept beyond the life of the process; `nil` if nowhere.
    ///   - outbox: What delivers what is written, for whoever makes the repository to open with its ``handler``, and to close; `nil`
    ///     to send it at once.
    ///   - abandonment: What becomes of a fetch that nobody waits for any more.
    ///   - timer: What tells the time.
    ///   - chance: A random number from 0 to 1, by which lifetimes are spread.
    public init(
        _ endpoint: Endpoint<Entity>,
        upstream: Upstream,
        memory limit: MemoryLimit = MemoryLimit(),
        store: RepositoryStore? = nil,
        outbox: Outbox? = nil,
        whenAbandoned abandonment: AbandonmentPolicy = .cancel,
        timer: TimerService = .continuous,
        chance: @escaping @Sendable () -> Double = { .random(in: 0..<1) }
    ) {
        self.endpoint = endpoint
        self.timer = timer
        self.outbox = outbox
        self.chance = chance
        self.store = store.map { EntityStore(endpoint, in: $0, executor: timer.executor) }
        memory = EntityMemory(endpoint, limit: limit, store: self.store, timer: timer, chance: chance)
        source = EntitySource(endpoint, upstream: upstream, memory: memory, timer: timer, chance: chance)
        entities = InFlightRequests(whenAbandoned: abandonment, executor: timer.executor)
        lists = InFlightRequests(whenAbandoned: abandonment, executor: timer.executor)
    }

    /// The entity of an identity.
    ///
    /// - Throws: a `RepositoryError`, with `notFound` if there is none.
    /// - Complexity: O(1) if it is in memory.
    @inlinable
    public func entity(
        _ id: Entity.ID,
        _ policy: ReadPolicy = .cacheFirst
    ) async throws(RepositoryError) -> Reading<Entity> {
        if let reading = readingAtHand(of: id, policy) { return reading }
        return try await readEntity(id, policy)
    }

    /// The entities that a filter lets through, in the upstream's order, without the damaged records, which the reading names.
    ///
    /// - Throws: a `RepositoryError` if there is no list to be had.
    /// - Complexity: O(1) if they are in memory.
    @inlinable
    public func entities(
        _ filter: EntityFilter<Entity> = .all,
        _ policy: ReadPolicy = .cacheFirst
    ) async throws(RepositoryError) -> Reading<[Entity]> {
        if let reading = readingAtHand(of: filter, policy) { return reading }
        return try await readEntities(filter, policy)
    }

    /// Forgets what is kept of an entity, and the lists that it is in.
    public func invalidate(_ id: Entity.ID) { invalidate(under: endpoint.key(of: id)) }

    /// Forgets everything that is kept under a key: under `["posts"]` all posts, under `["users", "7"]` what belongs to that user
    /// as the endpoint's subjects say, and every list that has some of it.
    ///
    /// What is under way is given to whoever waits for it, and not kept. The store forgets all that it has of the repository, and what
    /// caches on the way to the upstream have from before is not taken any more.
    ///
    /// - Complexity: O(n) in how much is kept in memory.
    public func invalidate(under key: RecordKey) {
        source.lastChange.note(at: timer.now)
        memory.invalidate(key)
        detachAll()
    }

    /// Forgets everything.
    public func invalidateAll() { invalidate(under: []) }

    /// Waits until what is to be kept is in the store, or could not be kept.
    public func flush() async {
        memory.storeLists()
        await store?.writer.flush()
    }

    /// Ends what is under way, and gives nothing any more, nor to those who wait. What is to be kept is in the store when it
    /// returns, unless the task is cancelled meanwhile or its deadline passes.
    public func close() async {
        isClosed.store(true, ordering: .releasing)
        memory.close()
        source.batcher?.close()
        await entities.close()
        await lists.close()
        await flush()
    }

    func detachAll() {
        entities.detachAll()
        lists.detachAll()
    }

    /// Throws that it is closed, if it is.
    func throwIfClosed(asking path: @autoclosure () -> [String]) throws(RepositoryError) {
        guard isClosed.load(ordering: .acquiring) else { return }
        throw RepositoryError(
            .closed,
            request: source.upstream.description(of: path()),
            explanation: "is not answered: the repository is closed"
        )
    }
}

/// Most reads are answered out of memory, and that takes no longer than it must: what is here is inlinable, so that it is compiled
/// for the entities that it gives.
extension Repository {
    /// The entity of an identity, if memory has it and that will do.
    @inlinable
    func readingAtHand(of id: Entity.ID, _ policy: ReadPolicy) -> Reading<Entity>? {
        guard isPlain, let kept = memory.entity(id), let value = kept.value else { return nil }
        let now = timer.now
        guard case .given(let isStale) = kept.use(policy, at: now, endpoint.lifetimes) else { return nil }
        return Reading(value, origin: .memory, age: kept.age(at: now), isStale: isStale)
    }

    /// The entities that a filter lets through, if memory has them and that will do.
    @inlinable
    func readingAtHand(of filter: EntityFilter<Entity>, _ policy: ReadPolicy) -> Reading<[Entity]>? {
        guard isPlain, let kept = memory.list(filter) else { return nil }
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

    /// Whether what memory has may be given as it is: the repository is open, and nothing is pending.
    @inlinable var isPlain: Bool { !isClosed.load(ordering: .acquiring) && pending.isEmpty }

    @usableFromInline
    func readEntity(_ id: Entity.ID, _ policy: ReadPolicy) async throws(RepositoryError) -> Reading<Entity> {
        try await read(EntityQuestion(id: id), policy, entities)
    }

    @usableFromInline
    func readEntities(
        _ filter: EntityFilter<Entity>,
        _ policy: ReadPolicy
    ) async throws(RepositoryError) -> Reading<[Entity]> {
        try await read(ListQuestion(filter: filter), policy, lists)
    }
}

/// Where a repository keeps what it fetches beyond the life of a process.
public struct RepositoryStore: Sendable {
    /// The store.
    public let records: any RecordStore
    /// What the keys begin with.
    public let partition: RecordKey
    let now: @Sendable () -> Date
    let reportFailure: @Sendable (RecordStoreError) -> Void

    /// Describes the place.
    ///
    /// - Parameters:
    ///   - records: The store. Several repositories may share one.
    ///   - partition: What the keys begin with, such as the user whom the answers were given to. Nobody is shown what is kept in
    ///     another partition.
    ///   - now: The time of day, by which what is kept grows old also while no process runs.
    ///   - reportFailure: Is told when something could not be read or kept. The repository goes on without.
    public init(
        _ records: any RecordStore,
        partition: RecordKey,
        now: @escaping @Sendable () -> Date,
        reportFailure: @escaping @Sendable (RecordStoreError) -> Void
    ) {
        self.records = records
        self.partition = partition
        self.now = now
        self.reportFailure = reportFailure
    }
}

/// How much a repository keeps in memory.
public struct MemoryLimit: Hashable, Sendable {
    /// How many entities, and how many lists.
    public var count: Int
    /// How many bytes of what the upstream wrote, of the entities, and of the lists.
    public var bytes: Int

    /// Makes a limit; without arguments, of 10,000 entities of 32 MiB together, and as many lists.
    public init(count: Int = 10_000, bytes: Int = 32 * 1_024 * 1_024) {
        self.count = max(0, count)
        self.bytes = max(0, bytes)
    }

    /// The limit that nothing is kept within.
    public static let nothing = Self(count: 0, bytes: 0)
}
