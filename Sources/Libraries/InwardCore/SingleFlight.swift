public import Synchronization

/// A choice of what happens to shared work when the last caller stops waiting for it.
///
/// ```swift
/// let users = SingleFlight<Int, User, RepositoryError>(whenAbandoned: .finish)  // Fills a cache even if callers leave.
/// let searches = SingleFlight<String, [User], RepositoryError>(whenAbandoned: .cancel)  // Avoids useless work.
/// ```
@frozen
public enum AbandonmentPolicy: Hashable, Sendable {
    /// The work is cancelled.
    case cancel
    /// The work continues. Callers that join before it ends receive its answer.
    case finish
}

/// A coalescer of concurrent calls: calls for the same key share one piece of work.
///
/// ```swift
/// let flights = SingleFlight<Int, User, RepositoryError>(whenAbandoned: .cancel)
/// let outcome = await flights.outcome(for: 7) { id throws(RepositoryError) in try await users.user(id) }
/// if case .fulfilled(let answer) = outcome { print(try answer.get().name) }
/// ```
///
/// If a caller is cancelled or its deadline passes, only that caller stops waiting. The work continues for the others.
public final class SingleFlight<Key: Hashable & Sendable, Value: Sendable, Failure: Error>: Sendable {
    /// The value that the work returned, or the error that it threw.
    public typealias Answer = Result<Value, Failure>
    /// The work for a key.
    public typealias Work = @Sendable (Key) async throws(Failure) -> Value

    @usableFromInline let table: Mutex<FlightTable<Key, Answer>>
    @usableFromInline let abandonment: AbandonmentPolicy
    @usableFromInline let executor: (any TaskExecutor)?

    /// Creates an instance without work in flight.
    ///
    /// - Parameters:
    ///   - abandonment: What happens to work that no caller waits for any longer.
    ///   - executor: The executor for the work. `nil` selects the default executor.
    @inlinable
    public init(whenAbandoned abandonment: AbandonmentPolicy, executor: (any TaskExecutor)? = nil) {
        table = Mutex(FlightTable())
        self.abandonment = abandonment
        self.executor = executor
    }

    /// The number of keys with work in flight that callers can join.
    public var count: Int { table.withLock { $0.flights.count } }

    /// Prevents callers from joining the work that is in flight.
    ///
    /// Current waiters still receive its answer. Later callers start new work.
    public func detachAll() {
        table.withLock { $0.detachAll() }
    }

    /// Cancels all work in flight, including detached work, and prevents callers from joining it.
    ///
    /// Current waiters receive the result of the cancelled work.
    public func cancelAll() {
        let flights = table.withLock { table in
            table.detachAll()
            defer { table = FlightTable() }
            return table.detached
        }
        for flight in flights.values { flight.state.withLock { $0.cancel() }?.cancel() }
    }

    /// Returns whether a caller can join work in flight for a key.
    public func isUnderWay(_ key: Key) -> Bool {
        table.withLock { $0.flights[key.hashValue]?.key == key }
    }

    /// Waits for the work in flight for a key, or starts it.
    ///
    /// The work does not inherit the deadline of the caller that starts it.
    ///
    /// - Parameters:
    ///   - key: The key. Calls with equal keys share their work.
    ///   - noteJoining: Called if the work is already in flight.
    ///   - work: The work for the key.
    /// - Returns: `fulfilled` with what the work returned or threw, `cancelled` if the calling task was cancelled, or
    ///   `deadlinePassed` if its deadline passed.
    @inlinable
    public func outcome(
        for key: Key,
        noteJoining: () -> Void = {},
        _ work: @escaping Work
    ) async -> Promise<Answer>.Outcome {
        if Task.isCancelled { return .cancelled }
        if let deadline = Deadline.current, deadline.hasPassed { return .deadlinePassed }
        let hash = key.hashValue
        while true {
            let (flight, isFirst) = table.withLock { $0.join(key, hash: hash) }
            let joining = isFirst ? begin(flight, work) : flight.state.withLock { $0.join(Promise()) }
            switch joining {
            case .completed(let answer):
                if !isFirst { noteJoining() }
                return .fulfilled(answer)
            case .waits(let promise, let slot):
                if !isFirst { noteJoining() }
                let outcome = await promise.value()
                if case .fulfilled = outcome { return outcome }
                leave(slot, of: flight)
                return outcome
            case .abandoned:
                // All waiters have left. Removes the flight and tries again, in case the last waiter has not removed it yet.
                table.withLock { $0.remove(flight) }
            }
        }
    }

    /// Starts the work for a key without waiting for it, unless the work is already in flight.
    ///
    /// Work that this method starts continues without waiters, whatever the policy. Only ``cancelAll()`` cancels it.
    ///
    /// - Parameters:
    ///   - key: The key. Calls with equal keys share their work.
    ///   - work: The work for the key.
    public func start(for key: Key, _ work: @escaping Work) {
        let hash = key.hashValue
        let (flight, isFirst) = table.withLock { $0.join(key, hash: hash) }
        // Adds a waiter that never leaves, so the work is never abandoned. Nobody reads its promise.
        if isFirst { _ = begin(flight, work) }
    }

    @inlinable
    func leave(_ slot: Int, of flight: Flight<Key, Answer>) {
        guard let task = flight.state.withLock({ $0.leave(slot: slot, goesOn: abandonment == .finish) }) else { return }
        table.withLock { $0.remove(flight) }
        task.cancel()
    }

    /// Starts the work and adds its first waiter.
    @inlinable
    func begin(
        _ flight: Flight<Key, Answer>,
        _ work: @escaping Work
    ) -> FlightState<Answer, Promise<Answer>>.Joining {
        // Unstructured, because the task can outlive the caller that starts it. The task ends with the work, which is
        // cancelled when the last waiter leaves, unless the policy is to finish.
        let task = Deadline.lifted { Task.startingHere(on: executor) { [self] in await run(flight, work) } }
        let (joining, isCancelled) = flight.state.withLock { ($0.joinFirst(Promise(), of: task), $0.isCancelled) }
        // `cancelAll()` may have run between the start of the task and the time it was recorded. Cancelled outside the
        // lock, because that runs cancellation handlers.
        if isCancelled { task.cancel() }
        return joining
    }

    // Inlined into the task, so that it needs no allocation of its own.
    @inlinable
    @inline(__always)
    func run(_ flight: Flight<Key, Answer>, _ work: Work) async {
        do throws(Failure) {
            land(flight, .success(try await work(flight.key)))
        } catch {
            land(flight, .failure(error))
        }
    }

    // A synchronous function, so that what it needs is on the stack of the thread instead of in memory of the task, which the
    // task would have to allocate.
    @inlinable
    @inline(never)
    func land(_ flight: Flight<Key, Answer>, _ answer: Answer) {
        let waiters = flight.state.withLock { $0.complete(answer) }
        table.withLock { $0.remove(flight) }
        for waiter in waiters { waiter.fulfill(answer) }
    }
}

/// A piece of work in flight for a key, shared by its waiters.
@usableFromInline
final class Flight<Key: Sendable, Answer: Sendable>: Sendable {
    @usableFromInline let key: Key
    @usableFromInline let hash: Int
    @usableFromInline let state: Mutex<FlightState<Answer, Promise<Answer>>>

    @inlinable
    init(for key: Key, hash: Int) {
        self.key = key
        self.hash = hash
        state = Mutex(FlightState())
    }
}

/// The flights that callers can join.
///
/// Each key is hashed once, by the caller that looks up its flight, and is stored once, in the flight. If two keys have
/// the same hash value, the later flight replaces the earlier one, which callers can then no longer join.
@usableFromInline
struct FlightTable<Key: Hashable & Sendable, Answer: Sendable> {
    @usableFromInline var flights: [Int: Flight<Key, Answer>]
    /// The flights that are still running, but that callers can no longer join.
    @usableFromInline var detached: [ObjectIdentifier: Flight<Key, Answer>]

    @inlinable
    init() {
        flights = [:]
        detached = [:]
    }

    /// Prevents callers from joining any current flight.
    mutating func detachAll() {
        for flight in flights.values { detached[ObjectIdentifier(flight)] = flight }
        flights = [:]
    }

    /// Returns the flight for a key, or inserts a new one, with a single lookup.
    @inlinable
    mutating func join(_ key: Key, hash: Int) -> (Flight<Key, Answer>, isFirst: Bool) {
        func join(_ place: inout Flight<Key, Answer>?) -> (Flight<Key, Answer>, isFirst: Bool) {
            if let flight = place, flight.key == key { return (flight, false) }
            let flight = Flight<Key, Answer>(for: key, hash: hash)
            place = flight
            return (flight, true)
        }
        return join(&flights[hash])
    }

    /// Removes a flight.
    @inlinable
    mutating func remove(_ flight: Flight<Key, Answer>) {
        func remove(_ place: inout Flight<Key, Answer>?) {
            if place === flight { place = nil }
        }
        remove(&flights[flight.hash])
        if !detached.isEmpty { detached[ObjectIdentifier(flight)] = nil }
    }
}

/// The waiters of a flight, and its answer once there is one.
///
/// The state starts with a count of one waiter, the caller that starts the work. The flight is abandoned when the last waiter
/// has left. The type is inlinable, like the types that use it, so that the compiler can specialize it. Otherwise each call
/// would look up type metadata.
@usableFromInline
struct FlightState<Answer, Waiter> {
    /// The result of joining a flight.
    @usableFromInline
    enum Joining {
        case waits(Waiter, slot: Int)
        case completed(Answer)
        case abandoned
    }

    @usableFromInline var waiters: [Waiter?]
    @usableFromInline var freeSlots: [Int]
    @usableFromInline var waiterCount: Int
    /// The answer, or `nil` while the work is running.
    @usableFromInline var completed: Answer?
    /// The task that does the work. It is set when the first waiter starts to wait.
    @usableFromInline var task: Task<Void, Never>?
    /// Whether the work is cancelled. It can be set before the task is known.
    @usableFromInline var isCancelled: Bool

    @inlinable
    init() {
        waiters = []
        freeSlots = []
        waiterCount = 1
        completed = nil
        task = nil
        isCancelled = false
    }

    /// Marks the work as cancelled.
    ///
    /// - Returns: The task to cancel, or `nil` if it is not known yet. The call that sets the task cancels it in that
    ///   case.
    mutating func cancel() -> Task<Void, Never>? {
        isCancelled = true
        return task
    }

    /// Adds a waiter in a slot, unless the answer is available.
    @inlinable
    mutating func join(_ waiter: @autoclosure () -> Waiter) -> Joining {
        if let completed { return .completed(completed) }
        guard waiterCount > 0 else { return .abandoned }
        waiterCount += 1
        return wait(waiter())
    }

    /// Puts the first waiter in a slot and records the task, unless the answer is available.
    @inlinable
    mutating func joinFirst(_ waiter: @autoclosure () -> Waiter, of task: Task<Void, Never>) -> Joining {
        if let completed { return .completed(completed) }
        self.task = task
        return wait(waiter())
    }

    /// Removes a waiter from a slot. It receives no answer.
    ///
    /// - Parameters:
    ///   - slot: The slot of the waiter.
    ///   - goesOn: Whether the work continues without waiters.
    /// - Returns: The task to cancel if the flight is now abandoned, or `nil` otherwise.
    @inlinable
    mutating func leave(slot: Int, goesOn: Bool) -> Task<Void, Never>? {
        guard completed == nil, waiters[slot] != nil else { return nil }
        waiters[slot] = nil
        freeSlots.append(slot)
        guard !goesOn else { return nil }
        waiterCount -= 1
        return waiterCount == 0 ? task : nil
    }

    @inlinable
    mutating func wait(_ waiter: Waiter) -> Joining {
        if let free = freeSlots.popLast() {
            waiters[free] = waiter
            return .waits(waiter, slot: free)
        }
        waiters.append(waiter)
        return .waits(waiter, slot: waiters.count - 1)
    }

    /// Completes the flight with an answer.
    ///
    /// - Returns: The waiters, in slot order.
    @inlinable
    mutating func complete(_ answer: Answer) -> [Waiter] {
        completed = answer
        guard !waiters.isEmpty else { return [] }
        defer { waiters = [] }
        // Not a key path, because unspecialized code would create it again on each use.
        return waiters.compactMap { $0 }
    }
}
