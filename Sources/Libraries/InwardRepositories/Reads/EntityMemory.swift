public import InwardCore
public import Synchronization

/// The memory cache of a repository: single entities and lists of them, which are kept consistent. It also passes changes on to the
/// store.
///
/// All changes, including those passed to the store, are serialized by one lock. Readers take another lock, that of one shard of
/// the cache.
@usableFromInline
final class EntityMemory<Entity: Identifiable & Sendable>: Sendable
where Entity.ID: Sendable & LosslessStringConvertible {
    /// The value is `nil` if the entity is known to be missing.
    @usableFromInline typealias KeptEntity = KeptAnswer<Entity?>
    @usableFromInline typealias KeptList = CachedList<Entity>
    @usableFromInline typealias Filter = EntityFilter<Entity>

    private let endpoint: Endpoint<Entity>
    private let store: EntityStore<Entity>?
    private let chance: @Sendable () -> Double
    @usableFromInline let entities: ShardedCache<Entity.ID, KeptEntity>
    @usableFromInline let lists: Mutex<SieveCache<Filter, KeptList>>
    private let log = Mutex(ChangeLog())
    /// The idempotency keys of writes that the upstream has done and the lists do not contain yet.
    private let unsettled = Mutex<Set<String>>([])
    private let timer: TimerService
    private let observers: RepositoryObservers<Entity>
    private let whenChanged: @Sendable () -> Void

    /// Creates a memory cache.
    ///
    /// - Parameters:
    ///   - endpoint: The endpoint of the entities, with their lifetimes.
    ///   - limit: The size limit.
    ///   - store: The store to which changes are passed on.
    ///   - timer: The timer service that measures ages.
    ///   - chance: Returns a random number from 0 to 1, for the jitter of lifetimes.
    ///   - observers: The observers to notify of changes.
    ///   - whenChanged: Called after each change that is no fetched result, before observers are notified of it: what they fetch must
    ///     not have been requested before the change.
    init(
        _ endpoint: Endpoint<Entity>,
        limit: MemoryLimit,
        store: EntityStore<Entity>?,
        timer: TimerService,
        chance: @escaping @Sendable () -> Double,
        notifying observers: RepositoryObservers<Entity> = RepositoryObservers(),
        whenChanged: @escaping @Sendable () -> Void = {}
    ) {
        self.endpoint = endpoint
        self.store = store
        self.timer = timer
        self.chance = chance
        self.observers = observers
        self.whenChanged = whenChanged
        entities = ShardedCache(limit)
        lists = Mutex(SieveCache(limit: limit.bytes, countLimit: limit.count))
    }

    // MARK: Reading

    /// Returns the cached entity with an identifier.
    @inlinable
    func entity(_ id: Entity.ID) -> KeptEntity? { entities.value(for: id) }

    /// Returns the cached list of a filter. If a write removed the list from the store, it is stored again.
    @inlinable
    func list(_ filter: Filter) -> KeptAnswer<EntityList<Entity>>? {
        guard let kept = lists.withLock({ $0.value(for: filter) }) else { return nil }
        let (answer, isStored) = kept.current
        if !isStored { storeLists([filter]) }
        return answer
    }

    /// Returns whether a version of an entity is cached, or somebody observes it.
    func isWanted(_ id: Entity.ID) -> Bool { entities.peek(id) != nil || observers.entities.isObserved(id) }

    /// Returns whether the list of a filter is cached, or somebody observes it.
    func isWanted(_ filter: Filter) -> Bool { hasList(filter) || observers.lists.isObserved(filter) }

    private func hasList(_ filter: Filter) -> Bool { lists.withLock { $0.peek(filter) } != nil }

    /// Returns the cached list of a filter as readers may see it; `nil` if it is not cached, or has expired.
    private func readableList(_ filter: Filter) -> EntityList<Entity>? {
        guard let answer = lists.withLock({ $0.peek(filter) })?.current.answer,
            answer.use(.cacheOnly, at: timer.now, endpoint.lifetimes) != .notGiven
        else { return nil }
        return answer.value
    }

    /// Returns whether the list of a filter contains one of some entities. One that is not cached may contain any.
    func mayContain(_ ids: [Entity.ID], in filter: Filter) -> Bool {
        readableList(filter).map { ids.contains(where: $0.contains) } ?? true
    }

    /// Returns the cached list of a filter with the validator of its response; `nil` if there is none, or the list has changed
    /// since.
    func validated(_ filter: Filter) -> (list: EntityList<Entity>, validator: Validator)? {
        guard let answer = lists.withLock({ $0.peek(filter) })?.current.answer else { return nil }
        return answer.validator.map { (answer.value, $0) }
    }

    // MARK: Fetching

    /// Begins a fetch. Changes from now on are newer than its result.
    func begin() -> ChangeLog.Tick { log.withLock { $0.begin() } }

    /// Ends a fetch.
    func end(_ tick: ChangeLog.Tick) { log.withLock { $0.end(tick) } }

    /// The number of changes that are remembered for fetches in flight.
    var changeCount: Int { log.withLock(\.count) }

    /// Caches a fetched entity, unless something newer is known.
    ///
    /// - Returns: whether the result is still current and was cached.
    @discardableResult
    func keep(_ entity: Entity, _ fetch: FetchStamp) -> Bool {
        let changed = log.withLock { log -> [Filter]? in
            guard keep(entity, byteCount: fetch.byteCount, fetch, log) else { return nil }
            let changed = updateLists(olderThan: fetch.time) { filter, list in
                guard list.contains(entity.id) else { return false }
                if filter.matches(entity) {
                    list.replace(with: entity, byteCount: fetch.byteCount)
                } else {
                    list.remove(entity.id)
                }
                return true
            }
            if let store, !fetch.isFromStore {
                store.writer.write([store.keep(entity, age: fetch.age, fetch.validator)])
            }
            return changed
        }
        guard let changed else { return false }
        notifyOfFetch(of: [entity.id], changed)
        return true
    }

    /// Caches those entities of a fetched list of which another version is cached or observed.
    func keepWanted(of fetched: EntityList<Entity>, _ fetch: FetchStamp) {
        let share = fetch.share(of: fetched.entities.count)
        for entity in fetched.entities where isWanted(entity.id) { keep(entity, share) }
    }

    /// Caches that an entity is missing, unless something newer is known.
    ///
    /// - Returns: whether the result is still current and was cached.
    @discardableResult
    func keepAbsence(of id: Entity.ID, _ fetch: FetchStamp) -> Bool {
        let changed = log.withLock { log -> [Filter]? in
            // The subjects of a missing entity are not known, so any change may have affected it.
            guard !log.isClosed, !log.hasChanged(since: fetch.tick), isNewer(fetch, than: id) else { return nil }
            entities.insert(kept(nil, isAbsent: true, fetch), for: id, cost: 0)
            if let store { store.writer.write([store.remove(id)]) }
            return updateLists(olderThan: fetch.time) { _, list in
                defer { list.remove(id) }
                return list.contains(id)
            }
        }
        guard let changed else { return false }
        notifyOfFetch(of: [id], changed)
        return true
    }

    /// Caches a fetched list and its entities, except for those of which something newer is known.
    ///
    /// - Returns: the list, updated with newer entities, and whether it is still current and was cached.
    @discardableResult
    func keep(
        _ fetched: EntityList<Entity>,
        of filter: Filter,
        _ fetch: FetchStamp
    ) -> (list: EntityList<Entity>, isCurrent: Bool) {
        let (list, isCurrent, keptNow, changed) = log.withLock { log in
            var list = EntityList(fetched.entities, byteCount: fetch.byteCount, rejected: fetched.rejected)
            var validator = fetch.validator
            let share = fetch.share(of: list.entities.count)
            var keptNow: [Entity] = []
            for entity in fetched.entities {
                if let newer = entities.peek(entity.id), newer.time > fetch.time {
                    validator = nil
                    if let value = newer.value, filter.matches(value) {
                        list.replace(with: value, byteCount: share.byteCount)
                    } else {
                        list.remove(entity.id)
                    }
                } else if keep(entity, byteCount: share.byteCount, share, log) {
                    keptNow.append(entity)
                }
            }
            // Updates the other lists that contain these entities.
            let newer = EntityList(keptNow, byteCount: share.byteCount * keptNow.count, rejected: [])
            let changed = updateLists(olderThan: fetch.time) { other, list in
                other != filter && list.replace(with: newer, where: other.matches)
            }
            // Entities that have changed in the meantime may belong in the list, or no longer belong in it.
            let isCurrent = !log.isClosed && !log.hasChanged(since: fetch.tick) && isNewest(fetch, of: filter)
            if isCurrent {
                let freshness = endpoint.lifetimes.freshness(isAbsent: false, chance: chance())
                let staleTime = fetch.time + freshness
                let cached = CachedList(list, time: fetch.time, staleTime: staleTime, validator: validator)
                _ = lists.withLock { $0.insert(cached, for: filter, cost: list.byteCount) }
            }
            if let store, !fetch.isFromStore {
                let stored = isCurrent ? list : nil
                store.writer.write(store.keep(keptNow, in: stored, of: filter, age: fetch.age, validator))
            }
            return (list, isCurrent, keptNow, changed)
        }
        // The reader of an overtaken result holds a list that differs from the cached one, so wake it.
        notifyOfFetch(of: keptNow.lazy.map(\.id), changed + [filter])
        return (list, isCurrent)
    }

    // MARK: Changing

    /// Prepares the settlement of a write that the upstream has done, before the settlement is committed. After this returns, no
    /// result of an earlier fetch is cached or stored. Until the settlement ends, no list is stored that may lack the entity.
    ///
    /// - Parameters:
    ///   - id: The written entity; `nil` if it is not known, and may belong in any list.
    ///   - key: The idempotency key of the write.
    /// - Throws: a ``RecordStoreError`` if the wait for the store was cancelled or its deadline passed.
    func prepareSettlement(of id: Entity.ID?, _ key: String) async throws(RecordStoreError) {
        log.withLock { log in
            unsettled.withLock { _ = $0.insert(key) }
            log.note(id.map(endpoint.key) ?? [endpoint.name])
        }
        // Lists waiting to be stored predate the write. Once they are stored, the settlement removes them.
        guard let store, await !store.writer.flush() else { return }
        throw RecordStoreError(
            .cancelled,
            explanation: "Nothing was changed: the wait for the store was cancelled, or its deadline passed."
        )
    }

    /// Ends the settlement of a write, once readers find the entity.
    func endSettlement(of key: String) { unsettled.withLock { _ = $0.remove(key) } }

    /// Caches an entity that was just written, and adds it to the end of every list that it belongs in, or updates it there.
    ///
    /// The lists are stored again when they are read or flushed.
    ///
    /// - Parameters:
    ///   - entity: The entity.
    ///   - time: When it was written.
    ///   - byteCount: Its encoded size.
    ///   - validator: The validator of the response to the write, if there was one.
    /// - Complexity: O(1) for each list on average, unless a reader holds the previous version of the list.
    func write(_ entity: Entity, time: Duration, byteCount: Int, validator: Validator? = nil) {
        let changed = log.withLock { log in
            log.note(endpoint.key(of: entity.id))
            let answer = kept(entity as Entity?, isAbsent: false, time: time, validator)
            entities.insert(answer, for: entity.id, cost: byteCount)
            let changed = updateLists { filter, list in
                switch (list.contains(entity.id), filter.matches(entity)) {
                case (true, true): list.replace(with: entity, byteCount: byteCount)
                case (true, false): list.remove(entity.id)
                case (false, true): list.append(entity, byteCount: byteCount)
                case (false, false): return false
                }
                return true
            }
            if let store {
                // Lists that are only in the store are removed, because it is not known whether the entity belongs in them.
                store.writer.write([store.keep(entity, age: .zero, validator), store.removeLists])
                noteListsRemoved()
            }
            return changed
        }
        whenChanged()
        notifyOfWrite(of: entity.id, changed)
    }

    /// Caches that an entity was just deleted, and removes it from every list.
    ///
    /// - Complexity: O(n) in the length of the lists that contain it.
    func writeAbsence(of id: Entity.ID, time: Duration) {
        let changed = log.withLock { log in
            log.note(endpoint.key(of: id))
            entities.insert(kept(nil, isAbsent: true, time: time), for: id, cost: 0)
            let changed = updateLists { _, list in
                defer { list.remove(id) }
                return list.contains(id)
            }
            if let store {
                store.writer.write([store.remove(id), store.removeLists])
                noteListsRemoved()
            }
            return changed
        }
        whenChanged()
        notifyOfWrite(of: id, changed)
    }

    /// Removes an entity of which there is another version by now, and every list, from the caches.
    func forget(_ id: Entity.ID) {
        log.withLock { log in
            log.note(endpoint.key(of: id))
            entities.remove(id)
            // It may belong in any list by now.
            _ = lists.withLock { $0.removeAll { _, _ in true } }
            if let store { store.writer.write([store.remove(id), store.removeLists]) }
        }
        whenChanged()
        observers.notify([id])
    }

    private func noteListsRemoved() {
        lists.withLock { lists in
            for filter in lists.keys { lists.peek(filter)?.noteStored(false) }
        }
    }

    /// Stores the lists again that a write removed from the store, unless a write that may belong in them is being settled.
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

    /// Removes every list and every missing entity from the caches. Results of fetches in flight are not cached.
    func forgetLists() {
        let missing = log.withLock { log in
            log.note([endpoint.name])
            var missing: [Entity.ID] = []
            entities.removeAll { id, kept in
                guard kept.value == nil else { return false }
                missing.append(id)
                return true
            }
            _ = lists.withLock { $0.removeAll { _, _ in true } }
            if let store { store.writer.write([store.removeLists]) }
            return missing
        }
        whenChanged()
        observers.notify(missing)
    }

    /// Removes everything under a key from the caches.
    func invalidate(_ key: RecordKey) {
        log.withLock { log in
            log.note(key)
            // The subjects of a missing entity are not known, so it may be affected.
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
        whenChanged()
        observers.notifyAll()
    }

    /// Stops the caching of fetched results, and tells all observers. Removals still take effect.
    func close() {
        log.withLock { $0.close() }
        observers.notifyAll()
    }

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
        kept(value, isAbsent: isAbsent, time: fetch.time, fetch.validator)
    }

    private func kept<Value>(
        _ value: Value,
        isAbsent: Bool,
        time: Duration,
        _ validator: Validator? = nil
    ) -> KeptAnswer<Value> {
        let freshness = endpoint.lifetimes.freshness(isAbsent: isAbsent, chance: chance())
        return KeptAnswer(value: value, time: time, staleTime: time + freshness, validator: validator)
    }

    /// Tells the observers of a written entity, those of the lists that have changed with it, and those of lists that are not cached,
    /// which may have changed.
    private func notifyOfWrite(of id: Entity.ID, _ filters: [Filter]) {
        let changed = Set(filters)
        observers.notify([id]) { changed.contains($0) || readableList($0) == nil }
    }

    /// Tells the observers of fetched entities and lists.
    private func notifyOfFetch(of ids: some Sequence<Entity.ID>, _ filters: [Filter]) {
        // Not of what memory has no room for, or may not be read any more. Observers would fetch it again, and be notified of their
        // own fetch.
        let (now, lifetimes) = (timer.now, endpoint.lifetimes)
        observers.entities.notify(ids) { id in
            entities.peek(id).map { $0.use(.cacheOnly, at: now, lifetimes) != .notGiven } ?? false
        }
        observers.lists.notify(filters) { filter in
            let kept = lists.withLock { $0.peek(filter) }
            return kept.map { $0.current.answer.use(.cacheOnly, at: now, lifetimes) != .notGiven } ?? false
        }
    }

    private func updateLists(
        olderThan time: Duration,
        _ update: (Filter, inout EntityList<Entity>) -> Bool
    ) -> [Filter] {
        // Of results requested at the same time, the last one to arrive wins, for entities and lists alike.
        updateLists(where: { $0.time <= time }, update)
    }

    /// Updates the cached lists that satisfy a condition, and their costs. A list is unchanged if the closure returns `false`.
    ///
    /// - Returns: the filters of the lists that have changed, if any lists are observed.
    private func updateLists(
        where condition: (KeptList) -> Bool = { _ in true },
        _ update: (Filter, inout EntityList<Entity>) -> Bool
    ) -> [Filter] {
        lists.withLock { lists in
            // Asked under the lock, so that an observer that registers later reads the changed lists.
            let areObserved = !observers.lists.isEmpty
            var changed: [Filter] = []
            for filter in lists.keys {
                guard let kept = lists.peek(filter), condition(kept),
                    let byteCount = kept.update({ update(filter, &$0) })
                else { continue }
                lists.setCost(byteCount, for: filter)
                if areObserved { changed.append(filter) }
            }
            return changed
        }
    }
}
