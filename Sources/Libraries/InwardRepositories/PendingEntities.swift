public import Synchronization

/// Entities that the outbox has accepted and the upstream has not. Reads add them to cached entities; they are never cached.
///
/// - Complexity: Every operation is O(1), except for those on all entities. A change is O(n) while a snapshot exists.
@usableFromInline
final class PendingEntities<Entity: Identifiable & Sendable>: Sendable
where Entity.ID: Sendable & LosslessStringConvertible {
    /// The pending entities at one time.
    struct Snapshot {
        let places: [Entity?]
        fileprivate let version: Int

        /// The entities, in the order they were accepted.
        var entities: [Entity] { places.compactMap(\.self) }
    }

    private struct State {
        /// The entities in the order they were accepted, with `nil` in the place of removed ones.
        var places: [Entity?] = []
        /// The places by idempotency key.
        var placesByKey: [String: Int] = [:]
        /// The last place of each identifier.
        var placesByID: [Entity.ID: Int] = [:]
        var version = 0
        /// The number of replacements in progress.
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

        /// Removes the empty places, which are the majority.
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
    /// Lets readers skip the lock when nothing is pending, which is the usual case.
    @usableFromInline let count = Atomic(0)

    /// Whether nothing is pending.
    @inlinable var isEmpty: Bool { count.load(ordering: .acquiring) == 0 }

    /// The entities that are pending now.
    var snapshot: Snapshot { state.withLock { Snapshot(places: $0.places, version: $0.version) } }

    /// Returns the pending entity with an identifier; `nil` if there is none.
    func entity(_ id: Entity.ID) -> Entity? {
        state.withLock { state in state.placesByID[id].flatMap { state.places[$0] } }
    }

    /// The entity that a write creates, by the write's idempotency key; `nil` if the write is not pending.
    subscript(key: String) -> Entity? {
        state.withLock { state in state.placesByKey[key].flatMap { state.places[$0] } }
    }

    /// Returns whether nothing has changed since a snapshot.
    func isCurrent(_ snapshot: Snapshot) -> Bool {
        state.withLock { $0.version == snapshot.version && $0.replacing == 0 }
    }

    /// Adds a pending entity.
    func add(_ entity: Entity, for key: String) {
        change { $0.add(entity, for: key) }
    }

    /// Replaces all pending entities, in order.
    func reset(to entities: [(key: String, entity: Entity)]) {
        change { state in
            (state.places, state.placesByKey, state.placesByID) = ([], [:], [:])
            for (key, entity) in entities { state.add(entity, for: key) }
        }
    }

    /// Removes a pending entity, after running a closure that puts its replacement into the cache.
    func remove(_ key: String, _ replace: () -> Void = {}) {
        // The replacement comes first, so that no reader finds neither. A reader that may have found both looks again.
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
