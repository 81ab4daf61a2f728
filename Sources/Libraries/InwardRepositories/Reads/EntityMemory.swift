import InwardCore
import Synchronization

/// The memory cache of a repository. It keeps single entities and lists consistent, and forwards changes to the store.
///
/// One lock serializes all changes, including those to the store. Readers take only the lock of one shard of the cache.
@usableFromInline
final class EntityMemory<Entity: Identifiable & Sendable>: Sendable
where Entity.ID: Sendable & LosslessStringConvertible {
    /// The value is `nil` if the entity is known to be missing.
    @usableFromInline typealias KeptEntity = KeptAnswer<Entity?>
    @usableFromInline typealias Filter = EntityFilter<Entity>

    let endpoint: Endpoint<Entity>
    let store: EntityStore<Entity>?
    private let chance: @Sendable () -> Double
    @usableFromInline let entities: ShardedCache<Entity.ID, KeptEntity>
    @usableFromInline let lists: CachedLists<Entity>
    private let log = Mutex(ChangeLog())
    /// The idempotency keys of writes that the upstream has done, but that the cached lists do not contain yet. Each has the number
    /// of changes that other instances had announced when its settlement began.
    private let unsettled = Mutex<[String: Int]>([:])
    private let timer: TimerService
    private let observers: RepositoryObservers<Entity>
    private let whenChanged: @Sendable () -> Void

    /// Creates a memory cache.
    ///
    /// - Parameters:
    ///   - endpoint: The endpoint of the entities, with their lifetimes.
    ///   - limit: The size limit.
    ///   - store: The store that receives the changes.
    ///   - timer: The timer service that measures ages.
    ///   - chance: Returns a random number from 0 to 1, for the jitter of lifetimes.
    ///   - observers: The observers to notify of changes.
    ///   - whenChanged: Called after each change other than a fetch, before observers are notified. It must keep observers from
    ///     joining requests that were sent before the change.
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
        lists = CachedLists(limit)
    }

    // MARK: Reading

    /// Returns the cached entity with an identifier.
    @inlinable
    func entity(_ id: Entity.ID) -> KeptEntity? { entities.value(for: id) }

    /// Returns the cached list of a filter. Stores the list again if a write has removed it from the store.
    @inlinable
    func list(_ filter: Filter) -> KeptAnswer<EntityList<Entity>>? {
        lists.copy(of: filter) ?? readList(filter)
    }

    @usableFromInline
    func readList(_ filter: Filter) -> KeptAnswer<EntityList<Entity>>? {
        guard let (answer, isStored) = lists.read(filter) else { return nil }
        if !isStored { storeLists([filter]) }
        return answer
    }

    /// Returns whether an entity is cached or observed.
    func isWanted(_ id: Entity.ID) -> Bool { entities.peek(id) != nil || observers.entities.isObserved(id) }

    /// Returns whether the list of a filter is cached or observed.
    func isWanted(_ filter: Filter) -> Bool {
        lists.peek(filter) != nil || observers.lists.isObserved(filter)
    }

    /// Returns the cached list of a filter, or `nil` if it is not cached or has expired.
    private func readableList(_ filter: Filter) -> EntityList<Entity>? {
        guard let answer = lists.peek(filter)?.current.answer,
            answer.use(.cacheOnly, at: timer.now, endpoint.lifetimes) != .notGiven
        else { return nil }
        return answer.value
    }

    /// Returns whether the list of a filter may contain one of the entities. A list that is not cached may contain any entity.
    func mayContain(_ ids: [Entity.ID], in filter: Filter) -> Bool {
        readableList(filter).map { ids.contains(where: $0.contains) } ?? true
    }

    /// Returns the cached list of a filter with the validator of its response, or `nil` if the response had none or the list
    /// has changed since.
    func validated(_ filter: Filter) -> (list: EntityList<Entity>, validator: Validator)? {
        guard let answer = lists.peek(filter)?.current.answer else { return nil }
        return answer.validator.map { (answer.value, $0) }
    }

    // MARK: Fetching

    /// Begins a fetch. All later changes count as newer than its result.
    func begin() -> ChangeLog.Tick { log.withLock { $0.begin() } }

    /// Ends a fetch.
    func end(_ tick: ChangeLog.Tick) { log.withLock { $0.end(tick) } }

    /// The number of changes in the log, for fetches in flight.
    var changeCount: Int { log.withLock(\.count) }

    /// Caches a fetched entity, unless a newer version or change is known.
    ///
    /// - Returns: whether the entity was cached.
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
                store.writer.keep([store.keep(entity, age: fetch.age, fetch.validator)], fetchedIn: fetch.generation)
            }
            return changed
        }
        guard let changed else { return false }
        notifyOfFetch(of: [entity.id], changed)
        return true
    }

    /// Caches those entities of a fetched list that are already cached or observed.
    func keepWanted(of fetched: EntityList<Entity>, _ fetch: FetchStamp) {
        let share = fetch.share(of: fetched.entities.count)
        for entity in fetched.entities where isWanted(entity.id) { keep(entity, share) }
    }

    /// Caches that an entity is missing, unless a newer version or change is known.
    ///
    /// - Returns: whether the absence was cached.
    @discardableResult
    func keepAbsence(of id: Entity.ID, _ fetch: FetchStamp) -> Bool {
        let changed = log.withLock { log -> [Filter]? in
            // The owners of a missing entity are not known, so any change may concern it.
            guard !log.isClosed, !log.hasChanged(since: fetch.tick), isNewer(fetch, than: id) else { return nil }
            entities.insert(kept(nil, isAbsent: true, time: fetch.time, fetch.validator), for: id, cost: 0)
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

    /// Caches a fetched list and its entities. Entities with a newer cached version keep that version.
    ///
    /// - Returns: the list, updated with newer cached versions, and whether the list itself was cached.
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
            // An entity that has changed since the request may now belong in the list, or no longer belong in it.
            let isCurrent = !log.isClosed && !log.hasChanged(since: fetch.tick) && isNewest(fetch, of: filter)
            if isCurrent {
                let freshness = endpoint.lifetimes.freshness(isAbsent: false, chance: chance())
                let staleTime = fetch.time + freshness
                lists.insert(CachedList(list, of: filter, time: fetch.time, staleTime: staleTime, validator: validator))
            }
            if let store, !fetch.isFromStore {
                let stored = isCurrent ? list : nil
                let changes = store.keep(keptNow, in: stored, of: filter, age: fetch.age, validator)
                store.writer.keep(changes, fetchedIn: fetch.generation)
            }
            return (list, isCurrent, keptNow, changed)
        }
        // If the list was not cached, its reader shows a different list from the cached one. Wake the reader, so that it
        // reads again.
        notifyOfFetch(of: keptNow.lazy.map(\.id), changed + [filter])
        return (list, isCurrent)
    }

    // MARK: Changing

    /// Prepares the settlement of a write that the upstream has done. Call this before the settlement is committed.
    ///
    /// When this method returns, results of earlier fetches are no longer cached or stored. Lists, which may not contain the
    /// entity yet, are not stored until the settlement ends.
    ///
    /// - Parameters:
    ///   - id: The written entity, or `nil` if it is not known and may belong in any list.
    ///   - key: The idempotency key of the write.
    ///   - count: The number of changes that other instances have announced so far.
    /// - Throws: a ``RecordStoreError`` if the task was cancelled or its deadline passed.
    func prepareSettlement(of id: Entity.ID?, _ key: String, _ count: Int) async throws(RecordStoreError) {
        log.withLock { log in
            unsettled.withLock { $0[key] = $0[key] ?? count }
            log.note(id.map(endpoint.key) ?? [endpoint.name])
        }
        // Lists that are waiting to be stored are older than the write. Once they are stored, the settlement removes them.
        guard let store, await !store.writer.flush() else { return }
        throw RecordStoreError(
            .cancelled,
            explanation: "Nothing was changed: the wait for the store was cancelled or passed its deadline."
        )
    }

    /// Ends the settlement of a write. Call this when readers find the written entity.
    func endSettlement(of key: String) { unsettled.withLock { $0[key] = nil } }

    /// Returns the number of changes that other instances had announced when the settlement of a write began, or `nil` if it has not.
    func changeCountElsewhere(settling key: String) -> Int? { unsettled.withLock { $0[key] } }

    /// Caches an entity that was just written. Updates it in every cached list that contains it, and appends it to every other
    /// cached list that it belongs in.
    ///
    /// The lists are stored again when they are read or flushed, unless instances share the store.
    ///
    /// - Parameters:
    ///   - entity: The entity.
    ///   - time: The time of the write.
    ///   - byteCount: The encoded size of the entity, in bytes.
    ///   - validator: The validator of the response to the write, or `nil` if it had none.
    ///   - inStore: Whether to change the store, too. A settlement has already changed it.
    /// - Complexity: O(1) on average for each list, unless a reader holds the previous version of the list.
    func write(
        _ entity: Entity,
        time: Duration,
        byteCount: Int,
        validator: Validator? = nil,
        inStore: Bool = true
    ) {
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
                // Removes all stored lists, because it is not known whether the entity belongs in those that are not in memory.
                if inStore { store.writer.write(store.written(entity, validator)) }
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
    func writeAbsence(of id: Entity.ID, time: Duration, inStore: Bool = true) {
        let changed = log.withLock { log in
            log.note(endpoint.key(of: id))
            entities.insert(kept(nil, isAbsent: true, time: time), for: id, cost: 0)
            let changed = updateLists { _, list in
                defer { list.remove(id) }
                return list.contains(id)
            }
            if let store {
                if inStore { store.writer.write([store.remove(id), store.removeLists]) }
                noteListsRemoved()
            }
            return changed
        }
        whenChanged()
        notifyOfWrite(of: id, changed)
    }

    /// Removes an outdated entity and every list from memory, and with `inStore` from the store.
    func forget(_ id: Entity.ID, inStore: Bool = true) {
        log.withLock { log in
            log.note(endpoint.key(of: id))
            entities.remove(id)
            // The new version may belong in any list.
            lists.removeAll()
            if inStore, let store { store.writer.write([store.remove(id), store.removeLists]) }
        }
        whenChanged()
        observers.notify([id])
    }

    /// Lets the lists be stored again, unless instances share the store: another instance may have changed entities that belong in
    /// them.
    private func noteListsRemoved() {
        guard store?.isShared == false else { return }
        lists.noteRemovedFromStore()
    }

    /// Stores again the lists that a write has removed from the store. Does nothing while a write is being settled, because the
    /// lists may not contain its entity yet.
    func storeLists(_ filters: [Filter]? = nil) {
        guard let store else { return }
        log.withLock { _ in
            guard unsettled.withLock(\.isEmpty) else { return }
            for list in filters.map({ $0.compactMap(lists.peek) }) ?? lists.all {
                let (answer, isStored) = list.current
                guard !isStored else { continue }
                list.noteStored(true)
                store.writer.write([store.keep(answer.value, of: list.filter, age: answer.age(at: timer.now))])
            }
        }
    }

    /// Removes every list and every cached absence from memory, and with `inStore` from the store. Results of fetches in flight
    /// are not cached.
    func forgetLists(inStore: Bool = true) {
        let missing = log.withLock { log in
            log.note([endpoint.name])
            var missing: [Entity.ID] = []
            entities.removeAll { id, kept in
                guard kept.value == nil else { return false }
                missing.append(id)
                return true
            }
            lists.removeAll()
            if inStore, let store { store.writer.write([store.removeLists]) }
            return missing
        }
        whenChanged()
        observers.notify(missing)
    }

    /// Removes everything under a key from memory, and all records of the repository from the store.
    func invalidate(_ key: RecordKey, inStore: Bool = true) {
        log.withLock { log in
            log.note(key)
            // The owners of a missing entity are not known, so it may be under the key.
            let isSomebodys = !RecordKey([endpoint.name]).contains(key)
            entities.removeAll { id, kept in
                key.contains(endpoint.key(of: id)) || kept.value.map { isUnder(key, $0) } ?? isSomebodys
            }
            lists.removeAll { list in
                key.contains([endpoint.name]) || list.filter.subject.map(key.contains) ?? false
                    || list.current.answer.value.entities.contains { isUnder(key, $0) }
            }
            if inStore, let store { store.writer.write([store.removeAll]) }
        }
        whenChanged()
        observers.notifyAll()
    }

    /// Stops caching fetched results, and notifies all observers. Removals still take effect.
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
        lists.peek(filter).map { $0.time <= fetch.time } ?? true
    }

    private func keep(_ entity: Entity, byteCount: Int, _ fetch: FetchStamp, _ log: ChangeLog) -> Bool {
        guard !log.isClosed, isNewer(fetch, than: entity.id) else { return false }
        if log.hasChanged(since: fetch.tick), log.haveChanged(endpoint.keys(of: entity), since: fetch.tick) {
            return false
        }
        let answer = kept(entity as Entity?, isAbsent: false, time: fetch.time, fetch.validator)
        entities.insert(answer, for: entity.id, cost: byteCount)
        return true
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

    /// Notifies the observers of a written entity, of the lists that have changed with it, and of all lists that are not
    /// cached, because these may have changed.
    private func notifyOfWrite(of id: Entity.ID, _ filters: [Filter]) {
        let changed = Set(filters)
        observers.notify([id]) { changed.contains($0) || readableList($0) == nil }
    }

    /// Notifies the observers of fetched entities and lists that are in the cache.
    private func notifyOfFetch(of ids: some Sequence<Entity.ID>, _ filters: [Filter]) {
        // If the cache has no room for a value or the value has expired, its observers would fetch it again, and would be
        // notified of their own fetch, without end.
        let (now, lifetimes) = (timer.now, endpoint.lifetimes)
        observers.entities.notify(ids) { id in
            entities.peek(id).map { $0.use(.cacheOnly, at: now, lifetimes) != .notGiven } ?? false
        }
        observers.lists.notify(filters) { filter in
            lists.peek(filter).map { $0.current.answer.use(.cacheOnly, at: now, lifetimes) != .notGiven } ?? false
        }
    }

    private typealias ListUpdate = (Filter, inout EntityList<Entity>) -> Bool

    private func updateLists(olderThan time: Duration, _ update: ListUpdate) -> [Filter] {
        // If two results were requested at the same time, the later one to arrive wins, for entities and lists alike.
        lists.update(for: observers.lists, where: { $0.time <= time }, update)
    }

    private func updateLists(_ update: ListUpdate) -> [Filter] {
        lists.update(for: observers.lists, where: { _ in true }, update)
    }
}
