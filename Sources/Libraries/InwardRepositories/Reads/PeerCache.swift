import InwardCore

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
