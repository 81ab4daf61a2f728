public import Synchronization

/// Entities that were accepted here, and not yet by the upstream: they are shown on top of what is kept, and never kept with it.
@usableFromInline
final class PendingEntities<Entity: Identifiable & Sendable>: Sendable where Entity.ID: Sendable {
    /// What is pending at a moment.
    struct Snapshot {
        let entities: [Entity]
        fileprivate let version: Int
    }

    private struct State {
        var entities: [(key: String, entity: Entity)] = []
        var version = 0
        /// How many are being replaced.
        var replacing = 0
    }

    private let state = Mutex(State())
    /// For those who read where nothing is pending, which is most of the time.
    @usableFromInline let count = Atomic(0)

    /// Whether nothing is pending.
    @inlinable
    var isEmpty: Bool { count.load(ordering: .acquiring) == 0 }

    /// What is pending now, in the order it was accepted.
    var snapshot: Snapshot {
        state.withLock { Snapshot(entities: $0.entities.map(\.entity), version: $0.version) }
    }

    /// Whether nothing has become of what was pending, nor anything come to it.
    func isCurrent(_ snapshot: Snapshot) -> Bool {
        state.withLock { $0.version == snapshot.version && $0.replacing == 0 }
    }

    /// Shows an entity from now on.
    func add(_ entity: Entity, for key: String) {
        change { entities in entities.append((key, entity)) }
    }

    /// Shows an entity no more, and does meanwhile what takes its place.
    func remove(_ key: String, _ replace: () -> Void = {}) {
        // Before it goes, so that nobody finds neither. Who may have found both looks again.
        state.withLock { $0.replacing += 1 }
        replace()
        change { entities in entities.removeAll { $0.key == key } }
        state.withLock { $0.replacing -= 1 }
    }

    private func change(_ change: (inout [(key: String, entity: Entity)]) -> Void) {
        state.withLock { state in
            change(&state.entities)
            state.version += 1
            count.store(state.entities.count, ordering: .releasing)
        }
    }
}
