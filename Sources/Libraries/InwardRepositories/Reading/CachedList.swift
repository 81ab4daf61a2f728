public import Synchronization

/// A list in the memory of a repository, which is changed in place: adding n entities to it costs O(n) altogether.
@usableFromInline
final class CachedList<Entity: Identifiable & Sendable>: Sendable where Entity.ID: Sendable {
    @usableFromInline typealias Answer = KeptAnswer<EntityList<Entity>>

    @usableFromInline
    struct State: Sendable {
        @usableFromInline var list: EntityList<Entity>
        /// The list as readers have it, from the first read after a change until the next change. Nothing else holds the list, so
        /// that a change need not copy it.
        @usableFromInline var answer: Answer?
        /// Whether the store has been given the list since it forgot all lists.
        @usableFromInline var isStored: Bool
    }

    /// When the upstream was asked for it.
    @usableFromInline let time: Duration
    @usableFromInline let staleTime: Duration
    @usableFromInline let state: Mutex<State>

    init(_ list: EntityList<Entity>, time: Duration, staleTime: Duration) {
        self.time = time
        self.staleTime = staleTime
        state = Mutex(State(list: list, isStored: true))
    }

    /// The list as it is now, and whether the store has been given it since it forgot all lists.
    @inlinable var current: (answer: Answer, isStored: Bool) {
        state.withLock { state in
            if let answer = state.answer { return (answer, state.isStored) }
            let answer = Answer(value: state.list, time: time, staleTime: staleTime)
            state.answer = answer
            return (answer, state.isStored)
        }
    }

    /// Changes the list.
    ///
    /// - Parameter change: Changes it, unless it returns `false`.
    /// - Returns: the size of the list then; `nil` if it was not changed.
    func update(_ change: (inout EntityList<Entity>) -> Bool) -> Int? {
        state.withLock { state in
            state.answer = nil
            guard change(&state.list) else { return nil }
            return state.list.byteCount
        }
    }

    /// Notes that the store is given the list, or forgets it.
    func noteStored(_ isStored: Bool) { state.withLock { $0.isStored = isStored } }
}
