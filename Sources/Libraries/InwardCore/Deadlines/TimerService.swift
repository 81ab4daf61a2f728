import Synchronization

/// A clock with timers. One sleeping task serves all timers of a service.
///
/// ```swift
/// let timers = TimerService(ContinuousClock())
/// let timer = timers.schedule(at: timers.now + .seconds(5)) { print("Five seconds have passed.") }
/// timers.cancel(timer)
/// ```
///
/// Share one service, and keep a reference to it for as long as its timers must run. The service calls actions one after
/// another in its own task, so each action must return quickly.
public final class TimerService: Sendable {
    /// A scheduled action.
    public struct Timer: Hashable, Sendable {
        fileprivate let id: PriorityQueue<Duration, @Sendable () -> Void>.ID
    }

    private struct Watcher {
        let count: Int
        let continuation: CheckedContinuation<Void, Never>
    }

    private struct State {
        var queue = PriorityQueue<Duration, @Sendable () -> Void>()
        /// The moment that the service sleeps until, or `nil` if it is not sleeping.
        var alarm: Duration?
        /// Identifies the current sleep. Earlier sleeps are outdated.
        var generation = 0
        var sleep: Task<Void, Never>?
        var watchers: [Watcher] = []
    }

    /// A shared service on `ContinuousClock`.
    public static let continuous = TimerService(ContinuousClock())

    private let state = Mutex(State())
    private let time: @Sendable () -> Duration
    private let sleep: @Sendable (Duration) async throws -> Void
    /// The executor for callbacks, and for work that a deadline can cancel.
    @usableFromInline package let executor: (any TaskExecutor)?

    /// Creates a service that uses a clock.
    ///
    /// - Parameters:
    ///   - clock: The clock that tells the time.
    ///   - executor: The executor for the service's sleeps and callbacks, and for work that a deadline on this service
    ///     can cancel. `nil` selects the default executor.
    public init<C: Clock<Duration>>(_ clock: C, executor: (any TaskExecutor)? = nil) {
        let start = clock.now
        time = { start.duration(to: clock.now) }
        // Clocks cannot add arbitrarily long durations, so a sleep is at most a century.
        sleep = { try await clock.sleep(until: start.advanced(by: min($0, .seconds(3_155_760_000))), tolerance: nil) }
        self.executor = executor
    }

    deinit { state.withLock(\.sleep)?.cancel() }

    /// The time since the service was created.
    public var now: Duration { time() }

    /// The number of scheduled timers.
    public var count: Int { state.withLock(\.queue.count) }

    /// Schedules an action for a moment. If the moment has passed, the action runs as soon as possible.
    ///
    /// - Parameters:
    ///   - moment: The due time, on the scale of ``now``. A moment more than a century away counts as never.
    ///   - action: The action, which runs once unless the timer is cancelled first. It must return quickly.
    /// - Returns: The timer, which you can pass to `cancel(_:)`.
    /// - Complexity: O(log n) in the number of timers, or O(1) if it is due after all others.
    @discardableResult
    public func schedule(at moment: Duration, _ action: @escaping @Sendable () -> Void) -> Timer {
        let (timer, alarm, watchers) = state.withLock { state in
            let timer = Timer(id: state.queue.insert(action, at: moment))
            let count = state.queue.count
            let watchers = state.watchers.filter { $0.count <= count }
            if !watchers.isEmpty { state.watchers.removeAll { $0.count <= count } }
            return (timer, Self.earlierAlarm(&state), watchers)
        }
        if let alarm { arm(alarm.moment, generation: alarm.generation) }
        for watcher in watchers { watcher.continuation.resume() }
        return timer
    }

    /// Cancels a timer.
    ///
    /// - Parameter timer: A timer of this service.
    /// - Returns: `true` if the action will not run, or `false` if it has run, is running, or was cancelled before.
    /// - Complexity: O(log n) in the number of timers.
    @discardableResult
    public func cancel(_ timer: Timer) -> Bool {
        // The removed action is released outside the lock.
        state.withLock { $0.queue.remove(timer.id) } != nil
    }

    /// Sleeps for a duration, or returns at once if the duration is zero or negative.
    ///
    /// ```swift
    /// try await TimerService.continuous.sleep(for: .milliseconds(100))
    /// ```
    ///
    /// - Throws: `CancellationError` as soon as the task is cancelled.
    public func sleep(for duration: Duration) async throws(CancellationError) {
        try await sleep(until: now + duration)
    }

    /// Sleeps until a moment on the scale of ``now``.
    ///
    /// - Throws: `CancellationError` as soon as the task is cancelled.
    public func sleep(until moment: Duration) async throws(CancellationError) {
        guard !Task.isCancelled else { throw CancellationError() }
        guard moment > now else { return }
        let promise = Promise<Void>()
        let timer = schedule(at: moment) { promise.fulfill(()) }
        guard case .fulfilled = await promise.value(until: nil) else {
            cancel(timer)
            throw CancellationError()
        }
    }

    /// Waits until at least `count` timers are scheduled. Cancelling the task does not end the wait.
    ///
    /// Use it in a test before you advance a manual clock.
    public func timers(_ count: Int) async {
        // Resumed by the call that schedules the last of the timers, or here if they are scheduled already.
        await withCheckedContinuation { continuation in
            let runs = state.withLock { state in
                if state.queue.count >= count { return true }
                state.watchers.append(Watcher(count: count, continuation: continuation))
                return false
            }
            if runs { continuation.resume() }
        }
    }

    /// Returns the due time of the first timer if the service must wake up earlier than planned, or `nil` otherwise.
    private static func earlierAlarm(_ state: inout State) -> (moment: Duration, generation: Int)? {
        guard let earliest = state.queue.firstPriority else { return nil }
        if let alarm = state.alarm, alarm <= earliest { return nil }
        state.alarm = earliest
        state.generation += 1
        return (earliest, state.generation)
    }

    /// Sleeps until a moment, then keeps serving timers until none are left.
    private func arm(_ moment: Duration, generation: Int) {
        // Detached, because the task serves all callers and must not inherit the priority or task-local values of the
        // first. The generation makes sure that only one such task is current. The task ends when no timers are left,
        // when an earlier timer is scheduled, or when the service is released. It does not retain the service while it
        // sleeps.
        let task = Task.detached(executorPreference: executor, priority: .high) { [weak self, sleep] in
            var next: Duration? = moment
            while let moment = next {
                // Only outdated sleeps are cancelled, and the generation detects those.
                try? await sleep(moment)
                next = self?.callBack(generation)
            }
        }
        let outdated = state.withLock { state in
            guard state.generation == generation else { return Optional(task) }
            defer { state.sleep = state.alarm == nil ? nil : task }
            return state.sleep
        }
        outdated?.cancel()
    }

    /// Runs the actions that are due. Returns the moment of the next sleep, or `nil` if this sleep is outdated or no
    /// timers are left.
    private func callBack(_ generation: Int) -> Duration? {
        while true {
            let now = now
            let (action, next) = state.withLock { state -> ((@Sendable () -> Void)?, Duration?) in
                guard state.generation == generation else { return (nil, nil) }
                if let action = state.queue.popFirst(through: now) { return (action, nil) }
                state.alarm = state.queue.firstPriority
                if state.alarm == nil { state.sleep = nil }
                return (nil, state.alarm)
            }
            guard let action else { return next }
            action()
        }
    }
}
