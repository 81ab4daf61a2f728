public import InwardCore
public import Synchronization

/// What a repository keeps in memory: single entities and lists of them, which agree. What its store is to keep follows.
///
/// Whatever changes it takes its turn under one lock, and so does what the store is told; who reads takes another, that of a part
/// of the cache.
@usableFromInline
final class EntityMemory<Entity: Identifiable & Sendable>: Sendable where Entity.ID: Sendable {
    /// `nil` if there is no entity of an identity.
    @usableFromInline typealias KeptEntity = KeptAnswer<Entity?>
    @usableFromInline typealias KeptList = CachedList<Entity>
    @usableFromInline typealias Filter = EntityFilter<Entity>

    private let endpoint: Endpoint<Entity>
    private let store: EntityStore<Entity>?
    private let chance: @Sendable () -> Double
    @usableFromInline let entities: ShardedCache<Entity.ID, KeptEntity>
    @usableFromInline let lists: Mutex<SieveCache<Filter, KeptList>>
    private let log = Mutex(ChangeLog())
    /// The writes that the upstream has done and that are not in the lists yet, by their idempotency keys.
    private let unsettled = Mutex<Set<String>>([])
    private let timer: TimerService

    /// - Parameters:
    ///   - endpoint: What is kept, and for how long.
    ///   - limit: How much is kept.
    ///   - store: What is told of all that is kept.
    ///   - timer: What tells the time.
    ///   - chance: A random number from 0 to 1, by which lifetimes are spread.
    init(
        _ endpoint: Endpoint<Entity>,
        limit: MemoryLimit,
        store: EntityStore<Entity>?,
        timer: TimerService,
        chance: @escaping @Sendable () -> Double
    ) {
        self.endpoint = endpoint
        self.store = store
        self.timer = timer
        self.chance = chance
        entities = ShardedCache(limit)
        lists = Mutex(SieveCache(limit: limit.bytes, countLimit: limit.count))
    }

    // MARK: Reading

    /// What is kept of an identity.
    @inlinable
    func entity(_ id: Entity.ID) -> KeptEntity? { entities.value(for: id) }

    /// What is kept of a list. A list that the store forgot because of a write is stored again with the next read.
    @inlinable
    func list(_ filter: Filter) -> KeptAnswer<EntityList<Entity>>? {
        guard let kept = lists.withLock({ $0.value(for: filter) }) else { return nil }
        let (answer, isStored) = kept.current
        if !isStored { storeLists([filter]) }
        return answer
    }

    // MARK: Fetching

    /// Begins to fetch something. What is changed from now on is newer than what is fetched.
    func begin() -> ChangeLog.Tick { log.withLock { $0.begin() } }

    /// Ends what was begun.
    func end(_ tick: ChangeLog.Tick) { log.withLock { $0.end(tick) } }

    /// How many changes are remembered, because something is being fetched.
    var changeCount: Int { log.withLock(\.count) }

    /// Keeps an entity that was fetched, unless something newer is known of it.
    ///
    /// - Returns: whether nothing was changed meanwhile that makes it outdated.
    @discardableResult
    func keep(_ entity: Entity, _ fetch: FetchStamp) -> Bool {
        log.withLock { log in
            guard keep(entity, byteCount: fetch.byteCount, fetch, log) else { return false }
            updateLists(olderThan: fetch.time) { filter, list in
                guard list.contains(entity.id) else { return false }
                if filter.matches(entity) {
                    list.replace(with: entity, byteCount: fetch.byteCount)
                } else {
                    list.remove(entity.id)
                }
                return true
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
            updateLists(olderThan: fetch.time) { _, list in
                defer { list.remove(id) }
                return list.contains(id)
            }
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
            var list = EntityList(fetched.entities, byteCount: fetch.byteCount, rejected: fetched.rejected)
            var changes: [RecordChange] = []
            let share = fetch.byteCount / max(1, list.entities.count)
            var keptNow: [Entity] = []
            for entity in fetched.entities {
                if let newer = entities.peek(entity.id), newer.time > fetch.time {
                    if let value = newer.value, filter.matches(value) {
                        list.replace(with: value, byteCount: share)
                    } else {
                        list.remove(entity.id)
                    }
                } else if keep(entity, byteCount: share, fetch, log) {
                    keptNow.append(entity)
                }
            }
            // The other lists have them too.
            let newer = EntityList(keptNow, byteCount: share * keptNow.count, rejected: [])
            updateLists(olderThan: fetch.time) { other, list in
                other != filter && list.replace(with: newer, where: other.matches)
            }
            if let store, !fetch.isFromStore { changes = keptNow.map { store.keep($0, age: fetch.age) } }
            // What was changed meanwhile may belong into the list, or not any more.
            let isCurrent = !log.isClosed && !log.hasChanged(since: fetch.tick) && isNewest(fetch, of: filter)
            if isCurrent {
                let freshness = endpoint.lifetimes.freshness(isAbsent: false, chance: chance())
                let cached = CachedList(list, time: fetch.time, staleTime: fetch.time + freshness)
                _ = lists.withLock { $0.insert(cached, for: filter, cost: list.byteCount) }
                if let store, !fetch.isFromStore { changes.append(store.keep(list, of: filter, age: fetch.age)) }
            }
            store?.writer.write(changes)
            return (list, isCurrent)
        }
    }

    // MARK: Changing

    /// Prepares for the settlement of a write that the upstream has done, before it is committed: nothing that was fetched before
    /// is kept or stored after this returns. Until the end of the settlement no list is stored that may be without the entity.
    ///
    /// - Parameters:
    ///   - entity: What was written; `nil` if nobody knows, and it may be in every list.
    ///   - key: The idempotency key of the write.
    /// - Throws: a ``RecordStoreError`` if the wait for the store was cancelled, or its deadline has passed.
    func prepareSettlement(of entity: Entity?, _ key: String) async throws(RecordStoreError) {
        log.withLock { log in
            unsettled.withLock { _ = $0.insert(key) }
            log.note(entity.map { endpoint.key(of: $0.id) } ?? [endpoint.name])
        }
        // The lists that are about to be stored are older than the write. The settlement removes them once they are.
        guard let store, await !store.writer.flush() else { return }
        throw RecordStoreError(
            .cancelled,
            explanation: "Nothing was changed: the wait for the store was cancelled, or its deadline passed."
        )
    }

    /// Ends what was prepared for a write, once readers find the entity.
    func endSettlement(of key: String) { unsettled.withLock { _ = $0.remove(key) } }

    /// Keeps an entity that was written just now. It is in every list that it belongs into, at the end if it is new.
    ///
    /// The lists are not stored before they are read, or flushed.
    ///
    /// - Complexity: O(1) for each list on average, unless a reader holds the list as it was.
    func write(_ entity: Entity, time: Duration, byteCount: Int) {
        log.withLock { log in
            log.note(endpoint.key(of: entity.id))
            let answer = kept(entity as Entity?, isAbsent: false, time: time)
            entities.insert(answer, for: entity.id, cost: byteCount)
            updateLists { filter, list in
                switch (list.contains(entity.id), filter.matches(entity)) {
                case (true, true): list.replace(with: entity, byteCount: byteCount)
                case (true, false): list.remove(entity.id)
                case (false, true): list.append(entity, byteCount: byteCount)
                case (false, false): return false
                }
                return true
            }
            guard let store else { return }
            // Of the lists that are in the store alone nobody knows whether it belongs into them.
            store.writer.write([store.keep(entity, age: .zero), store.removeLists])
            lists.withLock { lists in
                for filter in lists.keys { lists.peek(filter)?.noteStored(false) }
            }
        }
    }

    /// Has the lists stored that the store forgot because of a write, unless a write is being settled that may belong into them.
    @usableFromInline
    func storeLists(_ filters: [Filter]? = nil) {
        guard let store else { return }
        log.withLock { _ in
            guard unsettled.withLock(\.isEmpty) else { return }
            let changed = lists.withLock { lists in
                (filters ?? lists.keys).compactMap { filter in lists.peek(filter).map { (filter, $0) } }
            }
            for (filter, kept) in changed {
                let (answer, isStored) = kept.current
                guard !isStored else { continue }
                kept.noteStored(true)
                store.writer.write([store.keep(answer.value, of: filter, age: answer.age(at: timer.now))])
            }
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
                        || kept.current.answer.value.entities.contains { isUnder(key, $0) }
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

    private func updateLists(olderThan time: Duration, _ update: (Filter, inout EntityList<Entity>) -> Bool) {
        // Of what was asked for at the same moment, what came last counts, of entities and of lists.
        updateLists(where: { $0.time <= time }, update)
    }

    /// Changes the lists that are kept, unless the update returns `false`, and has each counted at its size.
    private func updateLists(
        where condition: (KeptList) -> Bool = { _ in true },
        _ update: (Filter, inout EntityList<Entity>) -> Bool
    ) {
        lists.withLock { lists in
            for filter in lists.keys {
                guard let kept = lists.peek(filter), condition(kept),
                    let byteCount = kept.update({ update(filter, &$0) })
                else { continue }
                lists.setCost(byteCount, for: filter)
            }
        }
    }
}
