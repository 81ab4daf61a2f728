public import Synchronization

/// The pending writes of a repository, which the outbox has accepted and the upstream has not done yet. Reads apply them to
/// cached entities. The cache itself keeps the upstream's versions.
///
/// - Complexity: Operations on an entity do not depend on the number of writes of other entities. A change takes O(n) in the
///   number of writes while a snapshot exists.
@usableFromInline
final class PendingLayer<Entity: Identifiable & Sendable>: Sendable
where Entity.ID: Sendable & LosslessStringConvertible {
    /// The effect of a pending write on its entity.
    enum Effect {
        case created(Entity)
        case replaced(Entity)
        case patched(MergePatch)
        case deleted

        /// Returns the entity after the write.
        ///
        /// - Parameters:
        ///   - version: The entity before it.
        ///   - patch: Applies a patch. Returns `nil` if the result is not valid.
        /// - Returns: the entity after the write. A patch that cannot be applied has no effect.
        func applied(to version: Version, _ patch: (MergePatch, Entity) -> Entity?) -> Version {
            switch (self, version) {
            case (.created(let entity), _), (.replaced(let entity), _): .entity(entity)
            case (.deleted, _): .deleted
            case (.patched(let change), .entity(let entity)): .entity(patch(change, entity) ?? entity)
            case (.patched, _): version
            }
        }
    }

    typealias Version = PendingVersion<Entity>

    /// A pending write: its entity, its subject and its effect.
    struct Write {
        let key: String
        var id: Entity.ID
        let subject: RecordKey
        let effect: Effect
    }

    /// The pending writes at a point in time.
    struct Snapshot {
        fileprivate let places: [Write?]
        fileprivate let version: Int
        fileprivate let patch: @Sendable (MergePatch, Entity) -> Entity?

        /// The number of places, including empty ones.
        var placeCount: Int { places.count }

        /// Returns the entities of a list with the pending writes applied. Created entities come last.
        ///
        /// - Parameters:
        ///   - entities: The entities of the list.
        ///   - isWanted: Returns whether an entity belongs in the list.
        /// - Returns: the entities, or `nil` if no write affects the list.
        /// - Complexity: O(n) in the number of entities and of writes.
        func applied(to entities: [Entity], where isWanted: (Entity) -> Bool) -> [Entity]? {
            var effects: [Entity.ID: [Effect]] = [:]
            var order: [Entity.ID] = []
            for case let write? in places {
                if effects[write.id] == nil { order.append(write.id) }
                effects[write.id, default: []].append(write.effect)
            }
            var isAffected = false
            var result: [Entity] = []
            for entity in entities {
                guard let effects = effects.removeValue(forKey: entity.id) else {
                    result.append(entity)
                    continue
                }
                isAffected = true
                let version = effects.reduce(.entity(entity)) { $1.applied(to: $0, patch) }
                if let entity = version.entity, isWanted(entity) { result.append(entity) }
            }
            for id in order {
                // Only created entities are added. An updated entity may belong in the list, but only the upstream knows.
                guard case .created? = effects[id]?.first,
                    let version = effects[id]?.reduce(Version.unknown, { $1.applied(to: $0, patch) }),
                    let entity = version.entity, isWanted(entity)
                else { continue }
                isAffected = true
                result.append(entity)
            }
            return isAffected ? result : nil
        }
    }

    private struct State {
        /// The writes in the order in which they were accepted, with `nil` for each settled one.
        var places: [Write?] = []
        /// The places by idempotency key.
        var placesByKey: [String: Int] = [:]
        /// The places of the writes of each entity, in order.
        var placesByID: [Entity.ID: [Int]] = [:]
        /// The identifiers of created entities by subject: first the pending one, and later the upstream's.
        var idsBySubject: [RecordKey: Entity.ID] = [:]
        /// The identifiers that the upstream assigned to created entities, by their pending identifiers.
        var idsByPendingID: [Entity.ID: Entity.ID] = [:]
        /// The subjects, if known, and pending identifiers of these entities, the oldest first.
        var created = FIFOQueue<(subject: RecordKey?, pendingID: Entity.ID)>()
        var version = 0
        /// The number of replacements in progress.
        var replacing = 0

        mutating func add(_ write: Write) {
            remove(write.key)
            placesByKey[write.key] = places.count
            placesByID[write.id, default: []].append(places.count)
            if case .created = write.effect {
                idsBySubject[write.subject] = write.id
                // A pending identifier may be used again, by a later process or after the outbox was opened again.
                idsByPendingID[write.id] = nil
            }
            places.append(write)
        }

        mutating func remove(_ key: String) {
            guard let place = placesByKey.removeValue(forKey: key), let write = places[place] else { return }
            places[place] = nil
            placesByID[write.id]?.removeAll { $0 == place }
            if placesByID[write.id]?.isEmpty == true { placesByID[write.id] = nil }
            if placesByKey.count < places.count / 2 { closeGaps() }
        }

        /// Records the identifier that the upstream assigned to the entity that a write creates.
        mutating func identify(_ key: String, as id: Entity.ID) {
            guard let write = placesByKey[key].flatMap({ places[$0] }) else { return }
            idsBySubject[write.subject] = id
            idsByPendingID[write.id] = id
            for place in placesByID.removeValue(forKey: write.id) ?? [] {
                places[place]?.id = id
                placesByID[id, default: []].append(place)
            }
            // There may already be writes of the upstream's identifier, if a caller found the entity in a list.
            placesByID[id]?.sort()
            noteCreated(write.id, in: write.subject)
        }

        /// Notes that an entity has got an identifier, and forgets the oldest one if there are too many.
        mutating func noteCreated(_ pendingID: Entity.ID, in subject: RecordKey?) {
            created.append((subject, pendingID))
            guard created.count > PendingLayer.maximumCreated, let oldest = created.popFirst() else { return }
            if let subject = oldest.subject { idsBySubject[subject] = nil }
            idsByPendingID[oldest.pendingID] = nil
        }

        /// Forgets the identifier of the entity of a creation. Does nothing for other writes.
        mutating func forgetCreation(_ key: String) {
            guard let write = placesByKey[key].flatMap({ places[$0] }), case .created = write.effect else { return }
            idsBySubject[write.subject] = nil
        }

        /// Returns whether the creation of an entity is pending.
        func isCreated(_ id: Entity.ID) -> Bool {
            placesByID[id]?.contains { if case .created? = places[$0]?.effect { true } else { false } } ?? false
        }

        /// Returns the effects of all pending writes of an entity whose creation is pending. Returns an empty array for other
        /// entities.
        func effectsOnCreated(_ id: Entity.ID) -> [Effect] {
            guard isCreated(id) else { return [] }
            return placesByID[id]?.compactMap { places[$0]?.effect } ?? []
        }

        /// Removes the empty places. Called when they are the majority.
        private mutating func closeGaps() {
            var moved: [Int] = []
            var taken = 0
            for write in places {
                moved.append(taken)
                if write != nil { taken += 1 }
            }
            places.removeAll { $0 == nil }
            placesByKey = placesByKey.mapValues { moved[$0] }
            placesByID = placesByID.mapValues { $0.map { moved[$0] } }
        }
    }

    /// The maximum number of created entities whose pending identifiers still work after delivery.
    private static var maximumCreated: Int { 10_000 }

    private let state = Mutex(State())
    private let patch: @Sendable (MergePatch, Entity) -> Entity?
    private let observers: RepositoryObservers<Entity>
    private let mayContain: @Sendable ([Entity.ID], EntityFilter<Entity>) -> Bool
    /// Lets readers skip the lock when nothing is pending, which is the usual case.
    @usableFromInline let count = Atomic(0)

    /// Creates an empty layer.
    ///
    /// - Parameters:
    ///   - observers: The observers to notify of changes.
    ///   - patch: Applies a patch to an entity. Returns `nil` if the result is not valid.
    ///   - mayContain: Returns whether the list of a filter may contain one of the entities before pending writes are applied.
    init(
        notifying observers: RepositoryObservers<Entity> = RepositoryObservers(),
        _ patch: @escaping @Sendable (MergePatch, Entity) -> Entity? = { _, entity in entity },
        whereListsMayContain mayContain: @escaping @Sendable ([Entity.ID], EntityFilter<Entity>) -> Bool = { _, _ in
            true
        }
    ) {
        self.observers = observers
        self.mayContain = mayContain
        self.patch = patch
    }

    /// Notifies the observers of entities, of the lists that contain them, and of the lists that show them because their
    /// creation is pending.
    ///
    /// - Parameters:
    ///   - ids: The identifiers of the entities whose writes have changed.
    ///   - created: The effects on a created entity before and after the change.
    private func notify(_ ids: [Entity.ID], _ created: [[Effect]]) {
        var shown: [Entity] = []
        if !observers.lists.isEmpty {
            shown = created.compactMap { $0.reduce(Version.unknown) { $1.applied(to: $0, patch) }.entity }
        }
        observers.notify(ids) { filter in shown.contains(where: filter.matches) || mayContain(ids, filter) }
    }

    /// Whether nothing is pending.
    @inlinable var isEmpty: Bool { count.load(ordering: .acquiring) == 0 }

    /// The current pending writes.
    var snapshot: Snapshot {
        state.withLock { Snapshot(places: $0.places, version: $0.version, patch: patch) }
    }

    /// Returns an entity with all of its pending writes applied.
    ///
    /// - Parameters:
    ///   - id: The identifier.
    ///   - version: The entity before these writes.
    /// - Returns: the entity after these writes, or `nil` if it has no pending writes.
    func version(_ id: Entity.ID, over version: Version = .unknown) -> Version? {
        let writes = state.withLock { state in state.placesByID[id]?.compactMap { state.places[$0] } }
        return writes?.reduce(version) { $1.effect.applied(to: $0, patch) }
    }

    /// Returns the entity that a write creates, by the write's idempotency key, or `nil` if no such creation is pending.
    subscript(key: String) -> Entity? {
        let write = state.withLock { state in state.placesByKey[key].flatMap { state.places[$0] } }
        return if case .created(let entity)? = write?.effect { entity } else { nil }
    }

    /// Returns the current identifier of an entity: for a pending identifier, the one that the upstream has assigned since, if
    /// any.
    func currentID(_ id: Entity.ID) -> Entity.ID { state.withLock { $0.idsByPendingID[id] ?? id } }

    /// Returns the current identifier of an entity, whether its creation is pending, and whether its creation has been
    /// delivered. Comparing identifiers is not enough, because the upstream may keep the pending one.
    func identity(of id: Entity.ID) -> (current: Entity.ID, isCreated: Bool, isDelivered: Bool) {
        state.withLock { state in
            let given = state.idsByPendingID[id]
            return (given ?? id, state.isCreated(given ?? id), given != nil)
        }
    }

    /// Returns the identifier of the entity that a write of a subject creates or has created, or `nil` if no such write is
    /// known.
    func id(createdIn subject: RecordKey) -> Entity.ID? { state.withLock { $0.idsBySubject[subject] } }

    /// Returns the subject of the last pending write of an entity, or `nil` if it has none.
    func subject(of id: Entity.ID) -> RecordKey? {
        state.withLock { state in state.placesByID[id]?.last.flatMap { state.places[$0]?.subject } }
    }

    /// Records the identifier that the upstream has given to an entity whose creation another instance has delivered.
    ///
    /// - Returns: whether the pending identifier is not that of a pending creation.
    func learn(_ id: Entity.ID, of pendingID: Entity.ID) -> Bool {
        let isNew: Bool? = state.withLock { state in
            guard !state.isCreated(pendingID) else { return nil }
            guard state.idsByPendingID.updateValue(id, forKey: pendingID) == nil else { return false }
            state.noteCreated(pendingID, in: nil)
            return true
        }
        // From now on, those who observe the pending identifier observe the upstream's.
        if isNew == true { notify([pendingID], []) }
        return isNew != nil
    }

    /// Returns whether the creation of an entity is pending.
    func isCreated(_ id: Entity.ID) -> Bool { state.withLock { $0.isCreated(id) } }

    /// Returns whether the pending writes are the same as in a snapshot.
    func isCurrent(_ snapshot: Snapshot) -> Bool {
        state.withLock { $0.version == snapshot.version && $0.replacing == 0 }
    }

    /// Adds a pending write.
    func add(_ write: Write) {
        var created: [[Effect]] = []
        change { state in
            // A list that is observed from now on is read after this change.
            let isListed = !observers.lists.isEmpty
            if isListed { created.append(state.effectsOnCreated(write.id)) }
            state.add(write)
            if isListed { created.append(state.effectsOnCreated(write.id)) }
        }
        notify([write.id], created)
    }

    /// Replaces a pending write with another one that has the same key, and keeps its place in the order.
    func replace(_ write: Write) {
        var created: [[Effect]] = []
        change { state in
            guard let place = state.placesByKey[write.key], let old = state.places[place], old.id == write.id else {
                return
            }
            created.append(state.effectsOnCreated(write.id))
            state.places[place] = write
            created.append(state.effectsOnCreated(write.id))
        }
        notify([write.id], created)
    }

    /// Replaces all pending writes, in order.
    ///
    /// - Returns: the previous writes that are no longer pending.
    func reset(to writes: [Write]) -> [Write] {
        var removed: [Write] = []
        change { state in
            let keys = Set(writes.map(\.key))
            removed = state.places.compactMap(\.self).filter { !keys.contains($0.key) }
            for key in state.placesByKey.keys { state.forgetCreation(key) }
            (state.places, state.placesByKey, state.placesByID) = ([], [:], [:])
            for write in writes { state.add(write) }
        }
        observers.notifyAll()
        return removed
    }

    /// Caches the result of a pending write, and then removes the write.
    ///
    /// - Parameters:
    ///   - key: The idempotency key of the write.
    ///   - id: The identifier that the upstream assigned, if the write has created an entity.
    ///   - replace: Caches the result.
    func remove(_ key: String, as id: Entity.ID? = nil, _ replace: () -> Void = {}) {
        // Caching comes first, so that readers always find the write or its result. A reader that may have found both reads
        // again.
        state.withLock { $0.replacing += 1 }
        replace()
        var changed: [Entity.ID] = []
        var created: [[Effect]] = []
        change { state in
            if let write = state.placesByKey[key].flatMap({ state.places[$0] }) {
                changed = [write.id]
                // A list that is observed from now on is read after this change.
                if !observers.lists.isEmpty { created.append(state.effectsOnCreated(write.id)) }
            }
            if let id {
                changed.append(id)
                state.identify(key, as: id)
            } else {
                state.forgetCreation(key)
            }
            state.remove(key)
            state.replacing -= 1
        }
        notify(changed, created)
    }

    private func change(_ change: (inout State) -> Void) {
        state.withLock { state in
            change(&state)
            state.version += 1
            count.store(state.placesByKey.count, ordering: .releasing)
        }
    }
}

/// The version of an entity after pending writes.
enum PendingVersion<Entity> {
    /// The version depends on the entity before the writes.
    case unknown
    case entity(Entity)
    case deleted

    /// The entity, if it is known and not deleted.
    var entity: Entity? { if case .entity(let entity) = self { entity } else { nil } }
}
