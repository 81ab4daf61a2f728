public import Synchronization
public import UseCases

/// What a repository keeps in memory: single entities and lists of them, which agree. What its store is to keep follows.
///
/// Whatever changes it takes its turn under one lock, and so does what the store is told; who reads takes another, that of a part
/// of the cache.
@usableFromInline
final class EntityMemory<Entity: Identifiable & Sendable>: Sendable where Entity.ID: Sendable {
    /// `nil` if there is no entity of an identity.
    @usableFromInline typealias KeptEntity = KeptAnswer<Entity?>
    @usableFromInline typealias KeptList = KeptAnswer<EntityList<Entity>>
    @usableFromInline typealias Filter = EntityFilter<Entity>

    private let endpoint: Endpoint<Entity>
    private let store: EntityStore<Entity>?
    private let chance: @Sendable () -> Double
    @usableFromInline let entities: ShardedCache<Entity.ID, KeptEntity>
    @usableFromInline let lists: Mutex<SieveCache<Filter, KeptList>>
    private let log = Mutex(ChangeLog())

    /// - Parameters:
    ///   - endpoint: What is kept, and for how long.
    ///   - limit: How much is kept.
    ///   - store: What is told of all that is kept.
    ///   - chance: A random number from 0 to 1, by which lifetimes are spread.
    init(
        _ endpoint: Endpoint<Entity>,
        limit: MemoryLimit,
        store: EntityStore<Entity>?,
        chance: @escaping @Sendable () -> Double
    ) {
        self.endpoint = endpoint
        self.store = store
        self.chance = chance
        entities = ShardedCache(limit)
        lists = Mutex(SieveCache(limit: limit.bytes, countLimit: limit.count))
    }

    // MARK: Reading

    /// What is kept of an identity.
    @inlinable
    func entity(_ id: Entity.ID) -> KeptEntity? { entities.value(for: id) }

    /// What is kept of a list.
    @inlinable
    func list(_ filter: Filter) -> KeptList? { lists.withLock { $0.value(for: filter) } }

    // MARK: Fetching

    /// Begins to fetch something. What is changed from now on is newer than what is fetched.
    func begin() -> ChangeLog.Tick { log.withLock { $0.begin() } }

    /// Ends what was begun.
    func end(_ tick: ChangeLog.Tick) { log.withLock { $0.end(tick) } }

    /// Keeps an entity that was fetched, unless something newer is known of it.
    ///
    /// - Returns: whether nothing was changed meanwhile that makes it outdated.
    @discardableResult
    func keep(_ entity: Entity, _ fetch: FetchStamp) -> Bool {
        log.withLock { log in
            guard keep(entity, byteCount: fetch.byteCount, fetch, log) else { return false }
            updateLists(olderThan: fetch.time) { filter, list in
                if filter.matches(entity) { list.replace(with: entity) } else { list.remove(entity.id) }
            }
            if let store, !fetch.isFromStore { store.writer.write([store.keep(entity, age: fetch.age)]) }
            return true
        }
    }

    /// Keeps in mind that there is no entity of an identity, unless something newer is known of it.
    func keepAbsence(of id: Entity.ID, _ fetch: FetchStamp) {
        log.withLock { log in
            // Whose it would be nobody knows, and so any change may have been of it.
            guard !log.isClosed, !log.hasChanged(since: fetch.tick), isNewer(fetch, than: id) else { return }
            entities.insert(kept(nil, isAbsent: true, fetch), for: id, cost: 0)
            updateLists(olderThan: fetch.time) { _, list in list.remove(id) }
            if let store { store.writer.write([store.remove(id)]) }
        }
    }

    /// Keeps a list that was fetched, and its entities, but for those of which something newer is known.
    ///
    /// - Returns: the list with what is newer in it, and whether it is kept: nothing was changed meanwhile that makes it outdated.
    @discardableResult
    func keep(
        _ fetched: EntityList<Entity>,
        of filter: Filter,
        _ fetch: FetchStamp
    ) -> (list: EntityList<Entity>, isCurrent: Bool) {
        log.withLock { log in
            var list = fetched
            var changes: [RecordChange] = []
            let share = fetch.byteCount / max(1, list.entities.count)
            var keptNow: [Entity] = []
            for entity in fetched.entities {
                if let newer = entities.peek(entity.id), newer.time > fetch.time {
                    if let value = newer.value, filter.matches(value) {
                        list.replace(with: value)
                    } else {
                        list.remove(entity.id)
                    }
                } else if keep(entity, byteCount: share, fetch, log) {
                    keptNow.append(entity)
                }
            }
            // The other lists have them too.
            let newer = EntityList(keptNow, rejected: [])
            updateLists(olderThan: fetch.time) { other, list in
                if other != filter { list.replace(with: newer, where: other.matches) }
            }
            if let store, !fetch.isFromStore { changes = keptNow.map { store.keep($0, age: fetch.age) } }
            // What was changed meanwhile may belong into the list, or not any more.
            let isCurrent = !log.isClosed && !log.hasChanged(since: fetch.tick) && isNewest(fetch, of: filter)
            if isCurrent {
                _ = lists.withLock { lists in
                    lists.insert(kept(list, isAbsent: false, fetch), for: filter, cost: fetch.byteCount)
                }
                if let store, !fetch.isFromStore { changes.append(store.keep(list, of: filter, age: fetch.age)) }
            }
            store?.writer.write(changes)
            return (list, isCurrent)
        }
    }

    // MARK: Changing

    /// Keeps an entity that was written just now. It is in every list that it belongs into, at the end if it is new.
    func write(_ entity: Entity, time: Duration, byteCount: Int) {
        log.withLock { log in
            log.note(endpoint.key(of: entity.id))
            let answer = kept(entity as Entity?, isAbsent: false, time: time)
            entities.insert(answer, for: entity.id, cost: byteCount)
            var changed: [(filter: Filter, list: EntityList<Entity>, age: Duration)] = []
            updateLists { filter, kept in
                var list = kept.value
                switch (list.contains(entity.id), filter.matches(entity)) {
                case (true, true): list.replace(with: entity)
                case (true, false): list.remove(entity.id)
                case (false, true): list.append(entity)
                case (false, false): return nil
                }
                changed.append((filter, list, kept.age(at: time)))
                return list
            }
            guard let store else { return }
            // Of the lists that are in the store alone nobody knows whether it belongs into them.
            store.writer.write(
                [store.keep(entity, age: .zero), store.removeLists]
                    + changed.map { store.keep($0.list, of: $0.filter, age: $0.age) }
            )
        }
    }

    /// Forgets every list, and what there is not; and whatever is being fetched is not kept.
    func forgetLists() {
        log.withLock { log in
            log.note([endpoint.name])
            entities.removeAll { _, kept in kept.value == nil }
            _ = lists.withLock { $0.removeAll { _, _ in true } }
            if let store { store.writer.write([store.removeLists]) }
        }
    }

    /// Forgets everything that a key begins.
    func invalidate(_ key: RecordKey) {
        log.withLock { log in
            log.note(key)
            // Whose an entity would be that is not there, nobody knows.
            let isSomebodys = !RecordKey([endpoint.name]).contains(key)
            entities.removeAll { id, kept in
                key.contains(endpoint.key(of: id)) || kept.value.map { isUnder(key, $0) } ?? isSomebodys
            }
            _ = lists.withLock { lists in
                lists.removeAll { filter, kept in
                    key.contains([endpoint.name]) || filter.subject.map(key.contains) ?? false
                        || kept.value.entities.contains { isUnder(key, $0) }
                }
            }
            if let store { store.writer.write([store.removeAll]) }
        }
    }

    /// Keeps nothing any more of what is fetched. What is changed is still forgotten.
    func close() { log.withLock { $0.close() } }

    // MARK: -

    private func isUnder(_ key: RecordKey, _ entity: Entity) -> Bool {
        endpoint.keys(of: entity).contains(where: key.contains)
    }

    private func isNewer(_ fetch: FetchStamp, than id: Entity.ID) -> Bool {
        entities.peek(id).map { $0.time <= fetch.time } ?? true
    }

    private func isNewest(_ fetch: FetchStamp, of filter: Filter) -> Bool {
        lists.withLock { $0.peek(filter) }.map { $0.time <= fetch.time } ?? true
    }

    private func keep(_ entity: Entity, byteCount: Int, _ fetch: FetchStamp, _ log: ChangeLog) -> Bool {
        guard !log.isClosed, isNewer(fetch, than: entity.id) else { return false }
        if log.hasChanged(since: fetch.tick), log.haveChanged(endpoint.keys(of: entity), since: fetch.tick) {
            return false
        }
        entities.insert(kept(entity, isAbsent: false, fetch), for: entity.id, cost: byteCount)
        return true
    }

    private func kept<Value>(_ value: Value, isAbsent: Bool, _ fetch: FetchStamp) -> KeptAnswer<Value> {
        kept(value, isAbsent: isAbsent, time: fetch.time)
    }

    private func kept<Value>(_ value: Value, isAbsent: Bool, time: Duration) -> KeptAnswer<Value> {
        let freshness = endpoint.lifetimes.freshness(isAbsent: isAbsent, chance: chance())
        return KeptAnswer(value: value, time: time, staleTime: time + freshness)
    }

    private func updateLists(olderThan time: Duration, _ update: (Filter, inout EntityList<Entity>) -> Void) {
        // Of what was asked for at the same moment, what came last counts, of entities and of lists.
        updateLists { filter, kept in
            guard kept.time <= time else { return nil }
            var list = kept.value
            update(filter, &list)
            return list
        }
    }

    /// Puts other lists in the place of those that are kept, as old as they are; `nil` leaves one as it is.
    private func updateLists(_ update: (Filter, KeptList) -> EntityList<Entity>?) {
        lists.withLock { lists in
            for filter in lists.keys {
                guard let kept = lists.peek(filter), let list = update(filter, kept) else { continue }
                lists.replace(filter, with: KeptAnswer(value: list, time: kept.time, staleTime: kept.staleTime))
            }
        }
    }
}
