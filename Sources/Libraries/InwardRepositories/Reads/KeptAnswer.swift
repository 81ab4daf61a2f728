public import InwardCore
public import Synchronization

/// An answer that is kept, and how long it is of use, by the clock of the repository.
///
/// It does not change, and is an object so that whoever looks for it takes hold of one thing, however much an entity consists of.
@usableFromInline
final class KeptAnswer<Value: Sendable>: Sendable {
    /// What may be done with an answer that is kept.
    @usableFromInline
    enum Use: Equatable {
        /// It is given.
        case given(isStale: Bool)
        /// It is given, and asked for anew for those who come later.
        case givenWhileRevalidating
        /// It is not given.
        case notGiven
    }

    @usableFromInline let value: Value
    /// When it was asked for.
    @usableFromInline let time: Duration
    /// From when on it is stale.
    @usableFromInline let staleTime: Duration

    @usableFromInline
    init(value: Value, time: Duration, staleTime: Duration) {
        self.value = value
        self.time = time
        self.staleTime = staleTime
    }

    /// How old it is.
    @inlinable
    func age(at now: Duration) -> Duration { max(.zero, now - time) }

    /// What may be done with it.
    ///
    /// - Parameters:
    ///   - policy: How far the read may go.
    ///   - now: What time it is.
    ///   - lifetimes: For how long stale answers are of use.
    ///   - hasFailed: Whether the upstream was asked before, and failed.
    /// - Returns: what may be done.
    @inlinable
    func use(_ policy: ReadPolicy, at now: Duration, _ lifetimes: Lifetimes, hasFailed: Bool = false) -> Use {
        let age = age(at: now)
        if age > lifetimes.expiresAfter { return .notGiven }
        if let largest = policy.maximumAge, age > largest { return .notGiven }
        let isStale = now >= staleTime
        guard policy.asksUpstream else { return .given(isStale: isStale) }
        if policy.fallsBackToCache { return hasFailed ? .given(isStale: isStale) : .notGiven }
        guard policy.allowsCopies else { return .notGiven }
        if !isStale { return .given(isStale: false) }
        if hasFailed { return now < staleTime + lifetimes.staleIfError ? .given(isStale: true) : .notGiven }
        return now < staleTime + lifetimes.staleWhileRevalidate ? .givenWhileRevalidating : .notGiven
    }
}

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
