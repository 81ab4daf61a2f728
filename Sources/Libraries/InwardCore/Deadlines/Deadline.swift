/// The moment by which an answer is of use to whoever asked.
///
/// It travels with the task, and with every child of it, as ``current``. Whoever waits for something asks it how much time
/// is left; when none is, what runs under it is cancelled, or ends by itself.
public struct Deadline: Sendable {
    /// The deadline of the task that asks; `nil` if it has all the time there is.
    public static var current: Deadline? { carried.get() }

    // Bound nowhere but where the work ends too, so that nobody sees a deadline which does not hold.
    @usableFromInline static let carried = TaskLocal<Deadline?>(wrappedValue: nil)

    /// What tells how much time is left.
    @usableFromInline let timer: TimerService
    /// When it passes, as its timer service tells the time.
    private let moment: Duration
    private let start: Duration

    /// Makes a deadline that is so far from now.
    ///
    /// - Parameters:
    ///   - limit: How far.
    ///   - timer: What tells the time, and that the deadline has passed.
    public init(in limit: Duration, on timer: TimerService = .continuous) {
        self.timer = timer
        start = timer.now
        moment = start + limit
    }

    /// Makes a deadline that is so far from now, on a clock.
    public init(in limit: Duration, on clock: some Clock<Duration>) {
        self.init(in: limit, on: clock is ContinuousClock ? .continuous : TimerService(clock))
    }

    /// How much time has passed since the deadline was made.
    package var stopwatch: Stopwatch { Stopwatch { [timer, start] in timer.now - start } }

    /// How much time is left; zero or less once the deadline has passed.
    public var remaining: Duration { moment - timer.now }

    /// Whether no time is left.
    public var hasPassed: Bool { remaining <= .zero }

    /// Runs a piece of work that has time until this deadline, or until that of the task if it comes first.
    ///
    /// When the time is up the work is cancelled and waited for, so nothing of it goes on behind the caller's back.
    ///
    /// - Returns: what the work gave or threw; `nil` if this deadline passed first, whatever the work came to then.
    @inlinable
    public func bound<Value: Sendable, Failure: Error>(
        _ work: @escaping @Sendable () async throws(Failure) -> Value
    ) async -> Result<Value, Failure>? {
        guard !hasPassed else { return nil }
        // Whoever bound the task to an earlier one ends the work when it passes, and what is cancelled need not be again.
        guard isEarlierThanCurrent, !Task.isCancelled else { return await Result(awaiting: work) }
        let revocable = CancellableTask(executor: timer.executor) { () async throws(Failure) in
            try await carried(by: work).get()
        }
        return await revocable.outcome { revoke in whenPassed(revoke) }
    }

    /// Runs a piece of work that ends by itself when this deadline passes, or that of the task if it comes first.
    ///
    /// - Returns: what the work gave or threw.
    @inlinable
    package func carried<Value: Sendable, Failure: Error>(
        by work: () async throws(Failure) -> Value
    ) async -> Result<Value, Failure> {
        guard isEarlierThanCurrent else { return await Result(awaiting: work) }
        return await Self.carried.withValue(self) { await Result(awaiting: work) }
    }

    /// Has something done when this deadline passes, unless it is called off before.
    ///
    /// - Returns: what calls it off.
    @usableFromInline
    package func whenPassed(_ action: @escaping @Sendable () -> Void) -> () -> Void {
        let scheduled = timer.schedule(at: moment, action)
        return { timer.cancel(scheduled) }
    }

    /// Begins something that outlives whoever begins it, and so has nothing to do with the deadline of the task.
    @inlinable
    package static func lifted<Value>(_ begin: () -> Value) -> Value {
        guard carried.get() != nil else { return begin() }
        return carried.withValue(nil, operation: begin)
    }

    @usableFromInline var isEarlierThanCurrent: Bool {
        guard let current = Self.current else { return true }
        return current.timer === timer ? moment < current.moment : remaining < current.remaining
    }
}

/// There was no answer by the deadline.
public struct DeadlinePassedError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What was to be done, such as `interaction 17`.
    public let subject: String

    /// Says what was not done in time.
    public init(_ subject: String) {
        self.subject = subject
    }

    /// What was not done in time, as a sentence without its full stop.
    public var description: String { "\(subject) was not done before its deadline" }
}

/// Tells how much time has passed since it was made, on whatever clock that is.
///
/// It stands for a clock where a type parameter would have to be carried through everything.
public struct Stopwatch: Sendable {
    private let time: @Sendable () -> Duration

    /// Starts a stopwatch on a clock.
    public init<Time: Clock<Duration>>(_ clock: Time) {
        let start = clock.now
        time = { start.duration(to: clock.now) }
    }

    /// A stopwatch that was started before.
    init(_ time: @escaping @Sendable () -> Duration) {
        self.time = time
    }

    /// How much time has passed.
    public var elapsed: Duration { time() }
}
