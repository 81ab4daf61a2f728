import InwardCore
import Synchronization

/// The repositories of a process that share a partition of a store and update each other's memory.
///
/// ```swift
/// let peers = RepositoryPeers()
/// let store = RepositoryStore(InMemoryRecordStore(), partition: ["ada"], peers: peers, now: { Date() }) { print($0) }
/// let phone = Repository(endpoint, upstream: upstream, store: store)
/// let tablet = Repository(endpoint, upstream: upstream, store: store)
/// // Each of them immediately shows what the other one fetches or invalidates.
/// ```
///
/// Two sessions of a user each have a repository over the same records. Without peers, a session sees a response that the other
/// one fetched only when it reads the store. With peers, a fetch by one repository updates the memory of the others and wakes
/// their observers. Invalidations, and writes that are sent without an outbox, do the same. Repositories that share an outbox
/// see each other's writes even without peers.
///
/// **Several instances.** If several instances of a service share the store, their repositories announce invalidations and
/// finished writes in it. ``followAnnouncements()`` removes what they name from the memory of the repositories here:
///
/// ```swift
/// func serve(_ store: any SharedRecordStore) async {
///     let peers = RepositoryPeers(sharing: store)
///     async let following: Void = peers.followAnnouncements()  // on every instance, until the task is cancelled
///     let place = RepositoryStore(store, partition: ["ada"], peers: peers, now: { Date() }) { print($0) }
///     let comments = Repository(endpoint, upstream: upstream, store: place)
///     await following
/// }
/// ```
///
/// An instance that has not heard of a change yet does not store an older response: each change begins a new generation of the
/// records of its endpoint and partition, and what was fetched in an earlier one is not stored.
///
/// Create one instance of this class for each store, and pass it to every ``RepositoryStore`` over that store. The repositories of a
/// partition must use the same timer service, because they compare times. Repositories with different timer services do not
/// update each other. A repository leaves when it is closed or released.
///
/// - Complexity: A fetch, an invalidation and a write each take O(n) in the number of repositories of the same entities in the
///   same partition. Reads from memory are not affected.
public final class RepositoryPeers: Sendable {
    private struct State {
        var groups: [RecordKey: PeerGroup] = [:]
        /// The number of caches that are in each group or about to join it.
        var counts: [RecordKey: Int] = [:]
    }

    private let state = Mutex(State())
    private let store: (any SharedRecordStore)?
    /// Ends the announcements of this instance, so that it does not apply them again.
    private let origin: String

    /// Creates an empty set of peers.
    ///
    /// - Parameters:
    ///   - store: The store in which instances of a service announce changes to each other, or `nil` if there is one instance.
    ///   - generator: The source of randomness for the name of this instance in announcements.
    public init(
        sharing store: (any SharedRecordStore)? = nil,
        generator: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()
    ) {
        self.store = store
        var generator = generator
        origin = String(generator.next() as UInt64, radix: 16)
    }

    /// Applies the changes that other instances announce, until the task is cancelled. Returns at once if no store is shared.
    ///
    /// When announcements may have been lost, it empties the memory of all repositories. Call it once.
    public func followAnnouncements() async {
        guard let store else { return }
        for await announcement in store.announcements(under: []) {
            switch announcement {
            case .anythingMayHaveChanged:
                for group in state.withLock({ Array($0.groups.values) }) { group.changedElsewhere(nil) }
            case .changed(let key):
                guard key.components.last != origin else { continue }
                let components = key.components.dropLast()
                for count in 0...components.count {
                    let prefix = RecordKey(Array(components.prefix(count)))
                    guard let group = state.withLock({ $0.groups[prefix] }) else { continue }
                    group.changedElsewhere(RecordKey(Array(components.dropFirst(count))))
                }
            }
        }
    }

    /// Whether several instances of a service use the store.
    var isStoreShared: Bool { store != nil }

    /// Returns the change that announces that something under a key of a group has changed. Returns no change if there is one
    /// instance.
    func announcement(of key: RecordKey, in group: RecordKey) -> RecordChange? {
        store == nil ? nil : .announce(RecordKey(group.components + key.components + [origin]))
    }

    /// The number of repositories.
    var count: Int { state.withLock { $0.counts.values.reduce(0, +) } }

    /// Returns the group of the caches under a key. The caller joins it, and must leave it later.
    func group(of key: RecordKey) -> PeerGroup {
        state.withLock { state in
            let group = state.groups[key] ?? PeerGroup()
            state.groups[key] = group
            state.counts[key, default: 0] += 1
            return group
        }
    }

    /// Removes a cache from its group. Does nothing if the cache has already left. A deinitializer may call this.
    func leave(_ cache: ObjectIdentifier, under key: RecordKey) {
        state.withLock { state in
            guard let count = state.counts[key], state.groups[key]?.remove(cache) == true else { return }
            state.counts[key] = count > 1 ? count - 1 : nil
            if count == 1 { state.groups[key] = nil }
        }
    }
}

/// A cache that other instances can change.
protocol AnnouncedCache: AnyObject, Sendable {
    /// Removes everything under a key, which another instance has changed. With `nil`, anything may have changed.
    func changedElsewhere(_ key: RecordKey?)
}

/// The caches of the same entities in the same partition of a store. The group holds weak references.
final class PeerGroup: Sendable {
    private struct Member: Sendable {
        weak let cache: (any AnnouncedCache)?
    }

    private let members = Mutex<[ObjectIdentifier: Member]>([:])
    /// The number of changes that other instances have announced. Changes of several caches run one at a time under its lock.
    private let changesElsewhere = Mutex(0)

    /// Adds a cache.
    func add(_ cache: some AnnouncedCache) {
        members.withLock { $0[ObjectIdentifier(cache)] = Member(cache: cache) }
    }

    /// Removes a cache, and returns whether it was there.
    fileprivate func remove(_ cache: ObjectIdentifier) -> Bool {
        members.withLock { $0.removeValue(forKey: cache) != nil }
    }

    /// Returns the caches, except for one.
    func others(than cache: ObjectIdentifier) -> [any AnnouncedCache] {
        members.withLock { members in
            guard members.count > 1 else { return [] }
            // The array retains all of them, so that none is released under the lock.
            return members.compactMap { id, member in id == cache ? nil : member.cache }
        }
    }

    /// Removes everything under a key from all caches.
    func changedElsewhere(_ key: RecordKey?) {
        // The array retains all of them, so that none is released under a lock.
        let caches = members.withLock { $0.values.compactMap(\.cache) }
        changesElsewhere.withLock { count in
            count += 1
            for cache in caches { cache.changedElsewhere(key) }
        }
    }

    /// The number of changes that other instances have announced.
    var changeCountElsewhere: Int { changesElsewhere.withLock(\.self) }

    /// Runs a change of several caches with the number of changes that other instances have announced. Changes run one at a time, so
    /// that all caches apply them in the same order.
    func inOrder(_ change: (_ changeCountElsewhere: Int) -> Void) { changesElsewhere.withLock { change($0) } }
}

/// The memory and the requests in flight of a repository, which its peers can change.
final class PeerCache<Entity: Identifiable & Sendable>: AnnouncedCache
where Entity.ID: Sendable & LosslessStringConvertible {
    let memory: EntityMemory<Entity>
    let entities: InFlightRequests<EntityQuestion<Entity>>
    let lists: InFlightRequests<ListQuestion<Entity>>
    let lastChange = LastChange()
    private let timer: TimerService
    private let name: String
    let store: EntityStore<Entity>?
    private let peers: RepositoryPeers?
    private let key: RecordKey
    private let group: PeerGroup?

    /// Creates a cache and joins its peers.
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
        self.store = store
        name = endpoint.name
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

    /// Leaves the peers.
    func leave() { peers?.leave(ObjectIdentifier(self), under: key) }

    /// The peers with the same timer service. Times of different clocks cannot be compared.
    private var others: [PeerCache] {
        guard let group else { return [] }
        return group.others(than: ObjectIdentifier(self)).compactMap { other in
            (other as? PeerCache).flatMap { $0.timer === timer ? $0 : nil }
        }
    }

    // MARK: Changes

    /// Changes this cache, and with `everywhere` its peers, too. New callers no longer join the requests in flight, because
    /// these may have been answered before the change.
    ///
    /// - Parameters:
    ///   - everywhere: Whether to change the peers.
    ///   - key: The key under which something changes, to announce it to other instances, or `nil` to announce nothing.
    ///   - change: Changes a memory cache. Takes the number of changes that other instances have announced so far.
    func change(
        everywhere: Bool,
        announcing key: RecordKey? = nil,
        _ change: (EntityMemory<Entity>, _ changeCountElsewhere: Int) -> Void
    ) {
        // The generation changes before the records, so that no older response is stored between two commits, and they are
        // announced after that, so that nobody reads an outdated record after the announcement.
        if key != nil, let store { store.writer.write(store.nextGeneration) }
        defer { if let key, let store { store.writer.write(store.announcement(of: key)) } }
        guard let group else { return changeHere { change($0, 0) } }
        // Retains all of them before the lock is taken, so that none is released under it.
        let caches = everywhere ? [self] + others : [self]
        group.inOrder { count in
            for cache in caches { cache.changeHere { change($0, count) } }
        }
    }

    /// The number of changes that other instances have announced so far.
    var changeCountElsewhere: Int { group?.changeCountElsewhere ?? 0 }

    func changedElsewhere(_ key: RecordKey?) {
        changeHere { memory in
            // The store itself is up to date.
            guard let key else { return memory.invalidate([], inStore: false) }
            let isEntity = key.components.count == 2 && key.components[0] == name
            if isEntity, let id = Entity.ID(key.components[1]) {
                memory.forget(id, inStore: false)
            } else {
                memory.invalidate(key, inStore: false)
            }
        }
    }

    private func changeHere(_ change: (EntityMemory<Entity>) -> Void) {
        lastChange.note(at: timer.now)
        store?.writer.forgetGeneration()
        change(memory)
    }

    // MARK: Fetched results

    /// Caches a fetched entity here, and in each peer that caches a version of it or has observers of it.
    func keep(_ entity: Entity, _ fetch: FetchStamp) {
        guard memory.keep(entity, fetch) else { return }
        for other in others where other.memory.isWanted(entity.id) {
            other.adopt(fetch) { other.memory.keep(entity, $0) }
        }
    }

    /// Caches that an entity is missing, here and in each peer that caches it or has observers of it.
    func keepAbsence(of id: Entity.ID, _ fetch: FetchStamp) {
        guard memory.keepAbsence(of: id, fetch) else { return }
        for other in others where other.memory.isWanted(id) {
            other.adopt(fetch) { other.memory.keepAbsence(of: id, $0) }
        }
    }

    /// Caches a fetched list here, and in each peer that caches or has observers of the list or of one of its entities.
    ///
    /// - Returns: the list, updated with newer entities from the cache.
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

    /// Caches what a peer has fetched and stored, unless something has changed here since the peer's request.
    private func adopt(_ fetch: FetchStamp, _ keep: (FetchStamp) -> Void) {
        let tick = memory.begin()
        defer { memory.end(tick) }
        guard !lastChange.isBehind(fetch.time) else { return }
        keep(fetch.adopted(at: tick))
    }
}
