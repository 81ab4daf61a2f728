import InwardCore
import Synchronization

/// Lets the repositories of one process that share a part of a store learn from each other at once.
///
///     let peers = RepositoryPeers()
///     let ada = RepositoryStore(records, partition: ["ada"], peers: peers, now: { Date() }, reportFailure: report)
///
/// Two sessions of a user have a repository each, over the same records. What one of them fetches replaces what the other one
/// has in memory, and those who observe the other one see it. The same holds for invalidations, and for writes that are sent
/// without an outbox; an outbox tells each repository anyway.
///
/// Create one for each store, and pass it to every ``RepositoryStore`` over that store. The repositories of a partition must
/// measure time with the same timer service; others do not learn from each other. A repository leaves when it is closed or
/// released.
///
/// - Complexity: A fetch, an invalidation and a write each take O(n) in the number of repositories of the same entities in the
///   same partition. Reads from memory are not affected.
public final class RepositoryPeers: Sendable {
    private struct State {
        var groups: [RecordKey: PeerGroup] = [:]
        /// How many caches are in each group, or about to join it.
        var counts: [RecordKey: Int] = [:]
    }

    private let state = Mutex(State())

    /// Creates a set without repositories.
    public init() {}

    /// The number of repositories.
    var count: Int { state.withLock { $0.counts.values.reduce(0, +) } }

    /// Returns the group of the caches under a key, for one that joins it and leaves it later.
    func group(of key: RecordKey) -> PeerGroup {
        state.withLock { state in
            let group = state.groups[key] ?? PeerGroup()
            state.groups[key] = group
            state.counts[key, default: 0] += 1
            return group
        }
    }

    /// Removes a cache, which may be about to be released. Does nothing if it has left already.
    func leave(_ cache: ObjectIdentifier, under key: RecordKey) {
        state.withLock { state in
            guard let count = state.counts[key], state.groups[key]?.remove(cache) == true else { return }
            state.counts[key] = count > 1 ? count - 1 : nil
            if count == 1 { state.groups[key] = nil }
        }
    }
}

/// The caches of the same entities in the same part of a store. It does not keep them alive.
final class PeerGroup: Sendable {
    private struct Member: Sendable {
        weak let cache: (any AnyObject & Sendable)?
    }

    private let members = Mutex<[ObjectIdentifier: Member]>([:])
    private let order = Mutex(())

    /// Adds a cache.
    func add(_ cache: some AnyObject & Sendable) {
        members.withLock { $0[ObjectIdentifier(cache)] = Member(cache: cache) }
    }

    /// Removes a cache, and returns whether it was there.
    fileprivate func remove(_ cache: ObjectIdentifier) -> Bool {
        members.withLock { $0.removeValue(forKey: cache) != nil }
    }

    /// Returns the caches, except for one.
    func others(than cache: ObjectIdentifier) -> [any AnyObject & Sendable] {
        members.withLock { members in
            guard members.count > 1 else { return [] }
            // Returned whatever they are, so that none is released under the lock.
            return members.compactMap { id, member in id == cache ? nil : member.cache }
        }
    }

    /// Makes a change of several caches. Changes are made one after the other, so that of two writes the same one is the last in
    /// every cache.
    func inOrder(_ change: () -> Void) { order.withLock { _ in change() } }
}

/// What a repository has in memory and in flight, as the repositories that share its part of a store change it.
final class PeerCache<Entity: Identifiable & Sendable>: Sendable
where Entity.ID: Sendable & LosslessStringConvertible {
    let memory: EntityMemory<Entity>
    let entities: InFlightRequests<EntityQuestion<Entity>>
    let lists: InFlightRequests<ListQuestion<Entity>>
    let lastChange = LastChange()
    private let timer: TimerService
    private let peers: RepositoryPeers?
    private let key: RecordKey
    private let group: PeerGroup?

    /// Creates a cache, and joins those that share its part of a store.
    init(
        _ endpoint: Endpoint<Entity>,
        _ limit: MemoryLimit,
        _ store: EntityStore<Entity>?,
        in place: RepositoryStore?,
        whenAbandoned abandonment: AbandonmentPolicy,
        timer: TimerService,
        chance: @escaping @Sendable () -> Double,
        notifying observers: RepositoryObservers<Entity>
    ) {
        self.timer = timer
        let entities = InFlightRequests<EntityQuestion<Entity>>(whenAbandoned: abandonment, executor: timer.executor)
        let lists = InFlightRequests<ListQuestion<Entity>>(whenAbandoned: abandonment, executor: timer.executor)
        (self.entities, self.lists) = (entities, lists)
        memory = EntityMemory(
            endpoint,
            limit: limit,
            store: store,
            timer: timer,
            chance: chance,
            notifying: observers
        ) {
            entities.detachAll()
            lists.detachAll()
        }
        peers = place?.peers
        key = place?.partition.appending(endpoint.name) ?? []
        group = peers?.group(of: key)
        group?.add(self)
    }

    deinit { leave() }

    /// Leaves the caches that share its part of a store.
    func leave() { peers?.leave(ObjectIdentifier(self), under: key) }

    /// The other caches of the same entities. Times of another clock cannot be compared, so theirs are left out.
    private var others: [PeerCache] {
        guard let group else { return [] }
        return group.others(than: ObjectIdentifier(self)).compactMap { other in
            (other as? PeerCache).flatMap { $0.timer === timer ? $0 : nil }
        }
    }

    // MARK: Changes

    /// Makes a change of this cache, and of those that share its part of the store if these are not told otherwise. Requests in
    /// flight may have been answered before a change, so nobody joins them any more.
    func change(everywhere: Bool, _ change: (EntityMemory<Entity>) -> Void) {
        guard everywhere, let group else { return changeHere(change) }
        // Collected first, so that none is released while the order is held.
        let caches = [self] + others
        group.inOrder {
            for cache in caches { cache.changeHere(change) }
        }
    }

    private func changeHere(_ change: (EntityMemory<Entity>) -> Void) {
        lastChange.note(at: timer.now)
        change(memory)
    }

    // MARK: Fetched results

    /// Caches a fetched entity, here and wherever another version of it is cached or observed.
    func keep(_ entity: Entity, _ fetch: FetchStamp) {
        guard memory.keep(entity, fetch) else { return }
        for other in others where other.memory.isWanted(entity.id) {
            other.adopt(fetch) { other.memory.keep(entity, $0) }
        }
    }

    /// Caches that an entity is missing, here and wherever it is cached or observed.
    func keepAbsence(of id: Entity.ID, _ fetch: FetchStamp) {
        guard memory.keepAbsence(of: id, fetch) else { return }
        for other in others where other.memory.isWanted(id) {
            other.adopt(fetch) { other.memory.keepAbsence(of: id, $0) }
        }
    }

    /// Caches a fetched list, here and wherever the list of the same filter, or an entity in it, is cached or observed.
    ///
    /// - Returns: the list, updated with newer entities.
    func keep(_ list: EntityList<Entity>, of filter: EntityFilter<Entity>, _ fetch: FetchStamp) -> EntityList<Entity> {
        let (current, isCurrent) = memory.keep(list, of: filter, fetch)
        guard isCurrent else { return current }
        for other in others {
            other.adopt(fetch) { fetch in
                if other.memory.isWanted(filter) {
                    other.memory.keep(list, of: filter, fetch)
                } else {
                    other.memory.keepWanted(of: list, fetch)
                }
            }
        }
        return current
    }

    /// Caches what another repository has fetched and stored, unless something has changed here since it was requested.
    private func adopt(_ fetch: FetchStamp, _ keep: (FetchStamp) -> Void) {
        let tick = memory.begin()
        defer { memory.end(tick) }
        guard !lastChange.isBehind(fetch.time) else { return }
        keep(fetch.adopted(at: tick))
    }
}
