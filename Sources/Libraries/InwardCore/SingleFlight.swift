public import Synchronization

/// What happens to shared work when the last caller stops waiting for it.
@frozen
public enum AbandonmentPolicy: Hashable, Sendable {
    /// The work is cancelled.
    case cancel
    /// The work is finished. Callers that join before it ends receive its answer.
    case finish
}

/// Shares one piece of work among all callers that ask for the same key while it is in flight.
///
///     let flights = SingleFlight<User.ID, User, LoadError>(whenAbandoned: .cancel)
///     let outcome = await flights.outcome(for: id) { id throws(LoadError) in try await load(id) }
///
/// A caller's cancellation or deadline ends only its own wait, not the work of the others.
public final class SingleFlight<Key: Hashable & Sendable, Value: Sendable, Failure: Error>: Sendable {
    /// What the work returned or threw.
    public typealias Answer = Result<Value, Failure>
    /// The work for a key.
    public typealias Work = @Sendable (Key) async throws(Failure) -> Value

    @usableFromInline let table: Mutex<FlightTable<Key, Answer>>
    @usableFromInline let abandonment: AbandonmentPolicy
    @usableFromInline let executor: (any TaskExecutor)?

    /// Makes it without any work under way.
    ///
    /// - Parameters:
    ///   - abandonment: What becomes of work that nobody waits for any more.
    ///   - executor: Where work is done; `nil` for wherever there is room.
    @inlinable
    public init(whenAbandoned abandonment: AbandonmentPolicy, executor: (any TaskExecutor)? = nil) {
        table = Mutex(FlightTable())
        self.abandonment = abandonment
        self.executor = executor
    }

    /// How many pieces of work are under way.
    public var count: Int { table.withLock { $0.flights.count } }

    /// Has nobody join what is under way now: those who wait for it have its answer, and who comes later begins anew.
    public func detachAll() {
        table.withLock { $0.detachAll() }
    }

    /// Cancels what is under way, also what nobody can join, and has nobody join it any more: those who wait for it have what it
    /// comes to.
    public func cancelAll() {
        let flights = table.withLock { table in
            table.detachAll()
            defer { table = FlightTable() }
            return table.detached
        }
        for flight in flights.values { flight.state.withLock { $0.cancel() }?.cancel() }
    }

    /// Whether work is under way for a key that can be joined.
    public func isUnderWay(_ key: Key) -> Bool {
        table.withLock { $0.flights[key.hashValue]?.key == key }
    }

    /// What comes of the work that is under way for a key, or is begun for it now.
    ///
    /// The work has nothing to do with the deadline of whoever begins it.
    ///
    /// - Parameters:
    ///   - key: What makes pieces of work the same.
    ///   - noteJoining: Called if the work is under way already.
    ///   - work: What is done for the key.
    /// - Returns: what the work gave or threw; or that the caller was cancelled, or its deadline has passed.
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
                // Everybody had left it. Whoever was the last takes it away, unless this is sooner.
                table.withLock { $0.remove(flight) }
            }
        }
    }

    @inlinable
    func leave(_ slot: Int, of flight: Flight<Key, Answer>) {
        guard let task = flight.state.withLock({ $0.leave(slot: slot, goesOn: abandonment == .finish) }) else { return }
        table.withLock { $0.remove(flight) }
        task.cancel()
    }

    /// Begins the work, and has whoever does so wait for it.
    @inlinable
    func begin(
        _ flight: Flight<Key, Answer>,
        _ work: @escaping Work
    ) -> FlightState<Answer, Promise<Answer>>.Joining {
        // Unstructured, because it outlives whoever begins it. It ends with its work, which is cancelled when nobody waits for
        // it, unless it is to go on.
        let task = Deadline.lifted {
            if #available(macOS 26, iOS 26, watchOS 26, tvOS 26, *) {
                return Task.immediate(executorPreference: executor) { [self] in await run(flight, work) }
            }
            return Task(executorPreference: executor) { [self] in await run(flight, work) }
        }
        let (joining, isCancelled) = flight.state.withLock { ($0.joinFirst(Promise(), of: task), $0.isCancelled) }
        // All work may have been cancelled after this task began and before anybody knew of it. Outside of the lock, because
        // handlers of the cancellation run here.
        if isCancelled { task.cancel() }
        return joining
    }

    // Part of the task, and so of what is allocated for it.
    @inlinable
    @inline(__always)
    func run(_ flight: Flight<Key, Answer>, _ work: Work) async {
        let answer: Answer
        do throws(Failure) { answer = .success(try await work(flight.key)) } catch { answer = .failure(error) }
        let waiters = flight.state.withLock { $0.complete(answer) }
        table.withLock { $0.remove(flight) }
        for waiter in waiters { waiter.fulfill(answer) }
    }
}

/// A piece of work for a key that is under way, shared by those who wait for it.
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

/// The flights that can be joined.
///
/// A key is hashed once, by whoever looks for its flight, and kept once, in the flight. Of two keys with the same hash value
/// the later one has the place, and the flight of the earlier one is not joined any more.
@usableFromInline
struct FlightTable<Key: Hashable & Sendable, Answer: Sendable> {
    @usableFromInline var flights: [Int: Flight<Key, Answer>]
    /// Those that nobody is to join any more, and that are under way still.
    @usableFromInline var detached: [ObjectIdentifier: Flight<Key, Answer>]

    @inlinable
    init() {
        flights = [:]
        detached = [:]
    }

    /// Has nobody join any of them any more.
    mutating func detachAll() {
        for flight in flights.values { detached[ObjectIdentifier(flight)] = flight }
        flights = [:]
    }

    /// The flight for a key, or a new one. The place is looked up once for both.
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

    /// Has nobody join a flight any more, and forgets it.
    @inlinable
    mutating func remove(_ flight: Flight<Key, Answer>) {
        func remove(_ place: inout Flight<Key, Answer>?) {
            if place === flight { place = nil }
        }
        remove(&flights[flight.hash])
        if !detached.isEmpty { detached[ObjectIdentifier(flight)] = nil }
    }
}

/// Who waits for a piece of work that is under way, and its answer once it is there.
///
/// It begins with one who has not begun to wait, and is abandoned when the last of them has left. It is inlinable, like all that
/// it is used by, so that it is compiled for the types that it is used with: otherwise they are looked up at each call.
@usableFromInline
struct FlightState<Answer, Waiter> {
    /// How a caller joins.
    @usableFromInline
    enum Joining {
        case waits(Waiter, slot: Int)
        case completed(Answer)
        case abandoned
    }

    @usableFromInline var waiters: [Waiter?]
    @usableFromInline var freeSlots: [Int]
    @usableFromInline var waiterCount: Int
    /// The answer, once there is one.
    @usableFromInline var completed: Answer?
    /// What does the work, from when the one who began it waits for it.
    @usableFromInline var task: Task<Void, Never>?
    /// Whether the work is cancelled, which may be before it is known what does it.
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

    /// Cancels the work.
    ///
    /// - Returns: the task to cancel; `nil` if it is not known yet. Whoever makes it known then cancels it.
    mutating func cancel() -> Task<Void, Never>? {
        isCancelled = true
        return task
    }

    /// Takes on somebody else, who waits in a slot unless the answer is there.
    @inlinable
    mutating func join(_ waiter: @autoclosure () -> Waiter) -> Joining {
        if let completed { return .completed(completed) }
        guard waiterCount > 0 else { return .abandoned }
        waiterCount += 1
        return wait(waiter())
    }

    /// Lets the one who began it take a slot too, unless the answer is there.
    @inlinable
    mutating func joinFirst(_ waiter: @autoclosure () -> Waiter, of task: Task<Void, Never>) -> Joining {
        if let completed { return .completed(completed) }
        self.task = task
        return wait(waiter())
    }

    /// Lets somebody leave a slot, who is told nothing any more.
    ///
    /// - Parameters:
    ///   - slot: Its slot.
    ///   - goesOn: Whether the work goes on although nobody is left.
    /// - Returns: what does the work, if it is abandoned now.
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

    /// Ends it with an answer.
    ///
    /// - Returns: those who wait for it, in the order they came.
    @inlinable
    mutating func complete(_ answer: Answer) -> [Waiter] {
        completed = answer
        guard !waiters.isEmpty else { return [] }
        defer { waiters = [] }
        // No key path: where the types are not known, each use of one makes it anew.
        return waiters.compactMap { $0 }
    }
}
