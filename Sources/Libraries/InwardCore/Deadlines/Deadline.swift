public import Synchronization

/// The moment by which a caller needs an answer.
///
///     let outcome = await Deadline(in: .seconds(2)).bound { try await listUsers() }
///     if outcome == nil { print("There was no answer within two seconds.") }
///
/// A deadline propagates to the task and its child tasks as ``current``. Code that waits can ask how much time is left.
/// When the deadline passes, the work that it bounds is cancelled or ends on its own.
public struct Deadline: Sendable {
    /// The deadline of the current task, or `nil` if it has none.
    public static var current: Deadline? { carried.get() }

    // Bound only where the work is also ended, so that code never sees a deadline that is not enforced.
    @usableFromInline static let carried = TaskLocal<Deadline?>(wrappedValue: nil)

    /// The service that measures the remaining time.
    @usableFromInline let timer: TimerService
    /// When the deadline passes, in the time of its timer service.
    private let moment: Duration
    private let start: Duration

    /// Creates a deadline at a distance from now.
    ///
    /// - Parameters:
    ///   - limit: The time until the deadline.
    ///   - timer: The service that measures the time and ends the work.
    public init(in limit: Duration, on timer: TimerService = .continuous) {
        self.timer = timer
        start = timer.now
        moment = start + limit
    }

    /// Creates a deadline at a distance from now, measured by a clock.
    public init(in limit: Duration, on clock: some Clock<Duration>) {
        self.init(in: limit, on: clock is ContinuousClock ? .continuous : TimerService(clock))
    }

    /// A stopwatch that was started when the deadline was created.
    package var stopwatch: Stopwatch { Stopwatch { [timer, start] in timer.now - start } }

    /// The time that is left. Zero or negative once the deadline has passed.
    public var remaining: Duration { moment - timer.now }

    /// Whether the deadline has passed.
    public var hasPassed: Bool { remaining <= .zero }

    /// Runs work that must end by this deadline, or by the current task's deadline if that comes first.
    ///
    /// When the deadline passes, the work is cancelled and waited for, so none of it continues after the call returns.
    ///
    /// - Returns: What the work returned or threw, or `nil` if this deadline passed first, whatever the result of the
    ///   work.
    @inlinable
    public func bound<Value: Sendable, Failure: Error>(
        _ work: @escaping @Sendable () async throws(Failure) -> Value
    ) async -> Result<Value, Failure>? {
        guard !hasPassed else { return nil }
        // An earlier current deadline already ends the work when it passes, and cancelled work does not need to be
        // cancelled again.
        guard isEarlierThanCurrent, !Task.isCancelled else { return await Result(awaiting: work) }
        let revocable = CancellableTask(executor: timer.executor) { () async throws(Failure) in
            try await carried(by: work).get()
        }
        return await revocable.outcome { revoke in whenPassed(revoke) }
    }

    /// Runs work that ends on its own when this deadline passes, or when the current task's deadline passes if that
    /// comes first.
    ///
    /// - Returns: What the work returned or threw.
    @inlinable
    package func carried<Value: Sendable, Failure: Error>(
        by work: () async throws(Failure) -> Value
    ) async -> Result<Value, Failure> {
        guard isEarlierThanCurrent else { return await Result(awaiting: work) }
        return await Self.carried.withValue(self) { await Result(awaiting: work) }
    }

    /// Schedules an action for when this deadline passes.
    ///
    /// - Returns: A function that cancels the action.
    @usableFromInline
    package func whenPassed(_ action: @escaping @Sendable () -> Void) -> () -> Void {
        let scheduled = timer.schedule(at: moment, action)
        return { timer.cancel(scheduled) }
    }

    /// Starts something that outlives its caller, without the current task's deadline.
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

/// An error thrown when there is no answer by the deadline.
public struct DeadlinePassedError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The operation that missed the deadline, such as `interaction 17`.
    public let subject: String

    /// Creates an error for an operation that missed its deadline.
    public init(_ subject: String) {
        self.subject = subject
    }

    /// A sentence, without a final period, that names the operation that missed its deadline.
    public var description: String { "\(subject) was not done before its deadline" }
}

/// Measures the time since its creation, on any clock.
///
/// It hides the clock's type, so that callers do not need a generic parameter for it.
public struct Stopwatch: Sendable {
    private let time: @Sendable () -> Duration

    /// Starts a stopwatch on a clock.
    public init<Time: Clock<Duration>>(_ clock: Time) {
        let start = clock.now
        time = { start.duration(to: clock.now) }
    }

    /// Creates a stopwatch that was started earlier.
    init(_ time: @escaping @Sendable () -> Duration) {
        self.time = time
    }

    /// The time since the stopwatch was started.
    public var elapsed: Duration { time() }
}

/// Work that runs in its own task and is cancelled if it is revoked or its caller is cancelled. The caller always waits
/// for the work to end.
@usableFromInline
package struct CancellableTask<Value: Sendable, Failure: Error>: Sendable {
    /// The state of the work. The first end wins.
    @usableFromInline
    enum Progress: Sendable {
        case underWay
        case ended(Result<Value, Failure>)
        case revoked
    }

    @usableFromInline
    final class Shared: Sendable {
        @usableFromInline let progress: Mutex<Progress>

        @inlinable
        init() {
            progress = Mutex(.underWay)
        }

        @inlinable var now: Progress { progress.withLock { $0 } }

        /// Records an end, unless another one came first.
        @inlinable
        func settle(_ end: Progress) -> Bool {
            progress.withLock { progress in
                guard case .underWay = progress else { return false }
                progress = end
                return true
            }
        }
    }

    @usableFromInline let work: @Sendable () async throws(Failure) -> Value

    @usableFromInline let executor: (any TaskExecutor)?

    /// Creates work that has not started.
    ///
    /// - Parameters:
    ///   - executor: The executor for the work. `nil` selects the default executor.
    ///   - work: The work.
    @inlinable
    package init(
        executor: (any TaskExecutor)? = nil,
        _ work: @escaping @Sendable () async throws(Failure) -> Value
    ) {
        self.executor = executor
        self.work = work
    }

    /// Runs the work and waits for it.
    ///
    /// - Parameter arm: A closure that receives a function that revokes the work, and returns a function that disarms
    ///   it. It is not called if the work completes without suspending.
    /// - Returns: What the work returned or threw, or `nil` if it was revoked first, whatever its result.
    @inlinable
    package func outcome(
        cancelledBy arm: (_ revoke: @escaping @Sendable () -> Void) -> () -> Void
    ) async -> Result<Value, Failure>? {
        let shared = Shared()
        // Unstructured, because a group costs several times as much and only a task can be cancelled. The caller waits
        // for the task and forwards its own cancellation.
        let task = begin { [work] in _ = shared.settle(.ended(await Result(awaiting: work))) }
        // Fast path: work that is answered from memory has usually completed by now.
        if case .ended(let result) = shared.now { return result }
        let disarm = arm { if shared.settle(.revoked) { task.cancel() } }
        await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
        disarm()
        return if case .ended(let result) = shared.now { result } else { nil }
    }

    @inlinable
    func begin(_ operation: @escaping @Sendable @concurrent () async -> Void) -> Task<Void, Never> {
        if #available(macOS 26, iOS 26, watchOS 26, tvOS 26, *) {
            // Starts on the current thread, so that work moves to another thread only if it suspends.
            return Task.immediate(executorPreference: executor, operation: operation)
        }
        return Task(executorPreference: executor, operation: operation)
    }
}

extension Result where Success: Sendable {
    /// Runs asynchronous work and stores its outcome with a typed error.
    ///
    /// Use it with `async let`, which loses the error type: start two operations, then await each result.
    @inlinable
    package init(awaiting work: () async throws(Failure) -> Success) async {
        do {
            self = .success(try await work())
        } catch {
            self = .failure(error)
        }
    }
}
