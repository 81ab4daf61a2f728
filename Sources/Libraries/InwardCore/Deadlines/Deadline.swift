public import Synchronization

/// The moment by which a caller needs an answer.
///
/// ```swift
/// let result = await Deadline(in: .seconds(2)).bound { try await users.list() }
/// if result == nil { print("No answer within two seconds.") }
/// ```
///
/// The bounded work and its child tasks find the deadline in ``current``, and can ask it for the remaining time. When the
/// deadline passes, the work is cancelled.
public struct Deadline: Sendable {
    /// The deadline of the current task, or `nil` if it has none.
    public static var current: Deadline? { carried.get() }

    // Set only where something also ends the work at the deadline, so that every deadline that code can see is enforced.
    @usableFromInline static let carried = TaskLocal<Deadline?>(wrappedValue: nil)

    /// The service that measures the remaining time.
    @usableFromInline let timer: TimerService
    /// When the deadline passes, in the time of its timer service.
    private let moment: Duration
    private let start: Duration

    /// Creates a deadline that passes after a duration.
    ///
    /// - Parameters:
    ///   - limit: The time from now until the deadline.
    ///   - timer: The service that measures the time and cancels the work.
    public init(in limit: Duration, on timer: TimerService = .continuous) {
        self.timer = timer
        start = timer.now
        moment = start + limit
    }

    /// Creates a deadline that passes after a duration, measured by a clock.
    public init(in limit: Duration, on clock: some Clock<Duration>) {
        self.init(in: limit, on: clock is ContinuousClock ? .continuous : TimerService(clock))
    }

    /// A stopwatch that started when the deadline was created.
    package var stopwatch: Stopwatch { Stopwatch { [timer, start] in timer.now - start } }

    /// The executor for work that the deadline cancels, or `nil` for the default executor.
    @inlinable package var executor: (any TaskExecutor)? { timer.executor }

    /// The time until the deadline, zero or negative once it has passed.
    public var remaining: Duration { moment - timer.now }

    /// Whether the deadline has passed.
    public var hasPassed: Bool { remaining <= .zero }

    /// Runs work that must end by this deadline, or by the current task's deadline if that comes first.
    ///
    /// ```swift
    /// let result = await Deadline(in: .milliseconds(500)).bound { () async throws(RepositoryError) in
    ///     try await users.user(7)
    /// }
    /// let user = try result?.get()  // nil if the deadline passed
    /// ```
    ///
    /// When the deadline passes, this method cancels the work and waits until it has ended, so none of it continues after the
    /// call returns. If the deadline has already passed, the work does not start.
    ///
    /// - Returns: What the work returned or threw. `nil` if this deadline passed first, even if the work returned a value after
    ///   that.
    @inlinable
    public func bound<Value: Sendable, Failure: Error>(
        _ work: @escaping @Sendable () async throws(Failure) -> Value
    ) async -> Result<Value, Failure>? {
        guard !hasPassed else { return nil }
        // No timer is needed if an earlier deadline cancels the work, or if the task is already cancelled.
        guard isEarlierThanCurrent, !Task.isCancelled else { return await Result(awaiting: work) }
        let revocable = CancellableTask(executor: timer.executor) { () async throws(Never) in
            let result = await carried(by: work)
            // The work may notice the deadline before it is revoked, and end with an error that says less.
            return hasPassed ? nil : result
        }
        return switch await revocable.outcome(cancelledBy: { revoke in whenPassed(revoke) }) {
        case .success(let result): result
        case nil: nil
        }
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

    /// Calls a closure without the current task's deadline, to start work that outlives its caller.
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

/// An error thrown when an operation misses its deadline.
///
/// ```swift
/// let result = await Deadline(in: .seconds(2)).bound { try await users.list() }
/// guard let result else { throw DeadlinePassedError("the list of users") }
/// ```
public struct DeadlinePassedError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The operation that missed its deadline, such as `interaction 17`.
    public let subject: String

    /// Creates an error for an operation that missed its deadline.
    public init(_ subject: String) {
        self.subject = subject
    }

    /// A sentence, without a final period, that names the operation that missed its deadline.
    public var description: String { "\(subject) missed its deadline" }
}

/// A measurement of the time since its creation, on any clock.
///
/// ```swift
/// let stopwatch = Stopwatch(ContinuousClock())
/// let list = try await users.list()
/// print("Read \(list.value.count) users in \(stopwatch.elapsed).")
/// ```
///
/// It hides the clock's type, so that types that measure time do not need a generic parameter.
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

/// Work that runs in its own task, and that can be cancelled by revoking it or by cancelling its caller. The caller always
/// waits until the work has ended.
@usableFromInline
package struct CancellableTask<Value: Sendable, Failure: Error>: Sendable {
    /// The state of the work. Only the first change counts.
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

        /// Records the end of the work, unless it has already ended or was revoked.
        ///
        /// - Returns: `true` if this call recorded the end.
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
    /// - Parameter arm: Arranges when to call `revoke`, for example with a timer, and returns a function that undoes this. It is
    ///   not called if the work completes without suspending.
    /// - Returns: What the work returned or threw. `nil` if it was revoked first, even if it returned a value after that.
    @inlinable
    package func outcome(
        cancelledBy arm: (_ revoke: @escaping @Sendable () -> Void) -> () -> Void
    ) async -> Result<Value, Failure>? {
        let shared = Shared()
        // Unstructured, because a group costs several times as much, and `revoke` must be able to cancel the work from
        // outside. The caller waits for the task and forwards its own cancellation.
        let task = Task.startingHere(on: executor) { [work] in _ = shared.settle(.ended(await Result(awaiting: work))) }
        // Fast path: work that needs only memory has usually completed by now.
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
}

extension Result where Success: Sendable {
    /// Runs asynchronous work and stores its outcome with a typed error.
    ///
    /// Use it in an `async let`, which does not preserve the type of thrown errors.
    @inlinable
    package init(awaiting work: () async throws(Failure) -> Success) async {
        do {
            self = .success(try await work())
        } catch {
            self = .failure(error)
        }
    }
}
