public import Synchronization

/// Makes one piece of work of all that are asked for under the same key while it is under way.
///
/// Nobody's cancellation ends the work for the others: whoever is cancelled, or has no time left, ends its own wait.
@usableFromInline
package final class SingleFlight<Key: Hashable & Sendable, Value: Sendable, Failure: Error>: Sendable {
    @usableFromInline
    package typealias Answer = Result<Value, Failure>

    /// What becomes of work that nobody waits for any more.
    @usableFromInline
    package enum Abandonment: Sendable {
        /// It is cancelled.
        case cancels
        /// It goes on, and whoever comes before it ends has its answer.
        case goesOn
    }

    @usableFromInline
    final class Shared: Sendable {
        @usableFromInline
        struct State {
            @usableFromInline var flight: Flight<Answer, Promise<Answer>>
            @usableFromInline var task: Task<Void, Never>?

            @inlinable
            init() {
                flight = Flight()
                task = nil
            }
        }

        @usableFromInline let state: Mutex<State>

        // What a property begins with is not compiled for the types at hand, but what this says is.
        @inlinable
        init() {
            state = Mutex(State())
        }
    }

    @usableFromInline let flights = Mutex<[Key: Shared]>([:])
    @usableFromInline let abandonment: Abandonment
    @usableFromInline let executor: (any TaskExecutor)?

    /// Makes it without any work under way.
    ///
    /// - Parameters:
    ///   - abandonment: What becomes of work that nobody waits for any more.
    ///   - executor: Where work is done; `nil` for wherever there is room.
    @inlinable
    package init(whenAbandoned abandonment: Abandonment, executor: (any TaskExecutor)? = nil) {
        self.abandonment = abandonment
        self.executor = executor
    }

    /// How many pieces of work are under way.
    package var count: Int { flights.withLock(\.count) }

    /// Has nobody join what is under way now: those who wait for it have its answer, and who comes later begins anew.
    package func detachAll() {
        // What the table held is let go outside of the lock.
        _ = flights.withLock { flights in
            defer { flights = [:] }
            return flights
        }
    }

    /// What comes of the work that is under way for a key, or is begun for it now.
    ///
    /// The work has nothing to do with the deadline of whoever begins it.
    ///
    /// - Parameters:
    ///   - key: What makes pieces of work the same.
    ///   - noteJoining: Called if the work is under way already.
    ///   - work: What is done.
    /// - Returns: what the work gave or threw; or that the caller was cancelled, or its deadline has passed.
    @inlinable
    package func outcome(
        for key: Key,
        noteJoining: () -> Void = {},
        _ work: @escaping @Sendable () async throws(Failure) -> Value
    ) async -> Promise<Answer>.Outcome {
        if Task.isCancelled { return .cancelled }
        if let deadline = Deadline.current, deadline.hasPassed { return .deadlinePassed }
        while true {
            let (shared, isFirst) = flights.withLock { flights in Self.join(&flights[key]) }
            if isFirst { begin(shared, for: key, work) }
            let outcome = await wait(aboard: shared, key, isFirst: isFirst, noteJoining: noteJoining)
            if let outcome { return outcome }
            // Everybody had left it. Whoever was the last takes it away, unless this is sooner.
            remove(shared, for: key)
        }
    }

    /// Waits for the answer; `nil` if the work was abandoned before.
    @inlinable
    func wait(
        aboard shared: Shared,
        _ key: Key,
        isFirst: Bool,
        noteJoining: () -> Void
    ) async -> Promise<Answer>.Outcome? {
        if isFirst, let answer = shared.state.withLock({ $0.flight.landed }) { return .kept(answer) }
        let promise = Promise<Answer>()
        let boarding = shared.state.withLock { isFirst ? $0.flight.seatFirst(promise) : $0.flight.board(promise) }
        switch boarding {
        case .abandoned: return nil
        case .landed(let answer):
            if !isFirst { noteJoining() }
            return .kept(answer)
        case .waits(let seat):
            if !isFirst { noteJoining() }
            let outcome = await promise.value()
            if case .kept = outcome { return outcome }
            leave(seat, of: shared, key)
            return outcome
        }
    }

    @inlinable
    func leave(_ seat: Int, of shared: Shared, _ key: Key) {
        let goesOn = if case .goesOn = abandonment { true } else { false }
        let task = shared.state.withLock { state in
            state.flight.leave(seat: seat, goesOn: goesOn) ? state.task : nil
        }
        guard let task else { return }
        remove(shared, for: key)
        task.cancel()
    }

    @inlinable
    func begin(
        _ shared: Shared,
        for key: Key,
        _ work: @escaping @Sendable () async throws(Failure) -> Value
    ) {
        // Unstructured, because it outlives whoever begins it. It ends with its work, which is cancelled when nobody waits for
        // it, unless it is to go on.
        let task = Deadline.lifted {
            begin { [self] in
                let answer = await Answer(awaiting: work)
                let waiters = shared.state.withLock { $0.flight.land(answer) }
                remove(shared, for: key)
                for waiter in waiters { waiter.keep(answer) }
            }
        }
        shared.state.withLock { $0.task = task }
    }

    @inlinable
    func begin(_ operation: @escaping @Sendable @concurrent () async -> Void) -> Task<Void, Never> {
        if #available(macOS 26, iOS 26, watchOS 26, tvOS 26, *) {
            return Task.immediate(executorPreference: executor, operation: operation)
        }
        return Task(executorPreference: executor, operation: operation)
    }

    @inlinable
    func remove(_ shared: Shared, for key: Key) {
        flights.withLock { Self.clear(&$0[key], of: shared) }
    }

    /// What is under way in a place of the table, or begins there now. The place is looked up once for both.
    @inlinable
    static func join(_ place: inout Shared?) -> (Shared, isFirst: Bool) {
        if let shared = place { return (shared, false) }
        let shared = Shared()
        place = shared
        return (shared, true)
    }

    @inlinable
    static func clear(_ place: inout Shared?, of shared: Shared) {
        if place === shared { place = nil }
    }
}
