public import Synchronization

/// Entities that were accepted here, and not yet by the upstream: they are shown on top of what is kept, and never kept with it.
///
/// - Complexity: every operation is O(1), but for what takes them all; a change is O(n) while somebody holds a snapshot.
@usableFromInline
final class PendingEntities<Entity: Identifiable & Sendable>: Sendable where Entity.ID: Sendable {
    /// What is pending at a moment.
    struct Snapshot {
        let places: [Entity?]
        fileprivate let version: Int

        /// The entities in the order they were accepted.
        var entities: [Entity] { places.compactMap(\.self) }
    }

    private struct State {
        /// In the order they were accepted, with `nil` where one was.
        var places: [Entity?] = []
        /// By what they were added for.
        var placesByKey: [String: Int] = [:]
        /// The last of an identity.
        var placesByID: [Entity.ID: Int] = [:]
        var version = 0
        /// How many are being replaced.
        var replacing = 0

        mutating func add(_ entity: Entity, for key: String) {
            remove(key)
            placesByKey[key] = places.count
            placesByID[entity.id] = places.count
            places.append(entity)
        }

        mutating func remove(_ key: String) {
            guard let place = placesByKey.removeValue(forKey: key), let entity = places[place] else { return }
            places[place] = nil
            if placesByID[entity.id] == place { placesByID[entity.id] = nil }
            if placesByKey.count < places.count / 2 { closeGaps() }
        }

        /// Takes out the places that nobody has, which are the most.
        private mutating func closeGaps() {
            var moved: [Int] = []
            var taken = 0
            for entity in places {
                moved.append(taken)
                if entity != nil { taken += 1 }
            }
            places.removeAll { $0 == nil }
            placesByKey = placesByKey.mapValues { moved[$0] }
            placesByID = placesByID.mapValues { moved[$0] }
        }
    }

    private let state = Mutex(State())
    /// For those who read where nothing is pending, which is most of the time.
    @usableFromInline let count = Atomic(0)

    /// Whether nothing is pending.
    @inlinable var isEmpty: Bool { count.load(ordering: .acquiring) == 0 }

    /// What is pending now.
    var snapshot: Snapshot { state.withLock { Snapshot(places: $0.places, version: $0.version) } }

    /// The entity of an identity that is pending now; `nil` if there is none.
    func entity(_ id: Entity.ID) -> Entity? {
        state.withLock { state in state.placesByID[id].flatMap { state.places[$0] } }
    }

    /// Whether nothing has become of what was pending, nor anything come to it.
    func isCurrent(_ snapshot: Snapshot) -> Bool {
        state.withLock { $0.version == snapshot.version && $0.replacing == 0 }
    }

    /// Shows an entity from now on.
    func add(_ entity: Entity, for key: String) {
        change { $0.add(entity, for: key) }
    }

    /// Shows these entities from now on, in their order, and no others.
    func reset(to entities: [(key: String, entity: Entity)]) {
        change { state in
            (state.places, state.placesByKey, state.placesByID) = ([], [:], [:])
            for (key, entity) in entities { state.add(entity, for: key) }
        }
    }

    /// Shows an entity no more, and does meanwhile what takes its place.
    func remove(_ key: String, _ replace: () -> Void = {}) {
        // Before it goes, so that nobody finds neither. Who may have found both looks again.
        state.withLock { $0.replacing += 1 }
        replace()
        change { $0.remove(key) }
        state.withLock { $0.replacing -= 1 }
    }

    private func change(_ change: (inout State) -> Void) {
        state.withLock { state in
            change(&state)
            state.version += 1
            count.store(state.placesByKey.count, ordering: .releasing)
        }
    }
}
