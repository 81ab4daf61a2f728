import Synchronization

/// Tells the time, and calls back when a moment has come, for as many as want to be called: all of them together are one
/// sleeping task.
///
/// Share one, and hold it as long as its timers are to run. What it schedules is done in the task of the service, one after the
/// other, so it has to return soon.
public final class TimerService: Sendable {
    /// Something that is to be done at a moment.
    public struct Timer: Hashable, Sendable {
        fileprivate let id: PriorityQueue<Duration, @Sendable () -> Void>.ID
    }

    private struct Watcher {
        let count: Int
        let continuation: CheckedContinuation<Void, Never>
    }

    private struct State {
        var queue = PriorityQueue<Duration, @Sendable () -> Void>()
        /// The moment that the service sleeps until; `nil` while it does not.
        var alarm: Duration?
        /// Which of the service's sleeps is the one that counts.
        var generation = 0
        var sleep: Task<Void, Never>?
        var watchers: [Watcher] = []
    }

    /// The service that tells the time by `ContinuousClock`.
    public static let continuous = TimerService(ContinuousClock())

    private let state = Mutex(State())
    private let time: @Sendable () -> Duration
    private let sleep: @Sendable (Duration) async throws -> Void
    /// Where it calls back, and where work that it may end is done.
    @usableFromInline package let executor: (any TaskExecutor)?

    /// Makes a service that tells the time by a clock.
    ///
    /// - Parameters:
    ///   - clock: What tells the time.
    ///   - executor: Where the service sleeps and calls back, and where work is done that a deadline on it ends; `nil` for
    ///     wherever there is room.
    public init<C: Clock<Duration>>(_ clock: C, executor: (any TaskExecutor)? = nil) {
        let start = clock.now
        time = { start.duration(to: clock.now) }
        // No clock counts on for ever: a century is as good as never.
        sleep = { try await clock.sleep(until: start.advanced(by: min($0, .seconds(3_155_760_000))), tolerance: nil) }
        self.executor = executor
    }

    deinit { state.withLock(\.sleep)?.cancel() }

    /// How much time has passed since the service was made.
    public var now: Duration { time() }

    /// How many timers run.
    public var count: Int { state.withLock(\.queue.count) }

    /// Has something done when a moment has come; soon, if it has already.
    ///
    /// - Parameters:
    ///   - moment: When, as ``now`` tells it. A century is as good as never.
    ///   - action: What is done then, once, unless the timer is cancelled before. It returns soon.
    /// - Returns: the timer, for whoever wants to cancel it.
    /// - Complexity: O(log n) in the number of timers, and O(1) for the latest of them.
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

    /// Takes a timer back.
    ///
    /// - Parameter timer: One of this service.
    /// - Returns: whether that came in time: what was to be done is not done then. Otherwise it was, or is being done.
    /// - Complexity: O(log n) in the number of timers.
    @discardableResult
    public func cancel(_ timer: Timer) -> Bool {
        // What the action holds is let go outside of the lock.
        state.withLock { $0.queue.remove(timer.id) } != nil
    }

    /// Sleeps for so long; not at all for zero or less.
    ///
    /// - Throws: a `CancellationError` as soon as the task is cancelled.
    public func sleep(for duration: Duration) async throws(CancellationError) {
        try await sleep(until: now + duration)
    }

    /// Sleeps until a moment, as ``now`` tells it.
    ///
    /// - Throws: a `CancellationError` as soon as the task is cancelled.
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

    /// Waits until at least so many timers run. For tests, which move a clock on behind that. Who is cancelled goes on waiting.
    public func timers(_ count: Int) async {
        // Resumed by whoever schedules the last of the timers, or here if they run already.
        await withCheckedContinuation { continuation in
            let runs = state.withLock { state in
                if state.queue.count >= count { return true }
                state.watchers.append(Watcher(count: count, continuation: continuation))
                return false
            }
            if runs { continuation.resume() }
        }
    }

    /// The moment that the service has to sleep until now, if it sleeps too long or not at all.
    private static func earlierAlarm(_ state: inout State) -> (moment: Duration, generation: Int)? {
        guard let earliest = state.queue.firstPriority else { return nil }
        if let alarm = state.alarm, alarm <= earliest { return nil }
        state.alarm = earliest
        state.generation += 1
        return (earliest, state.generation)
    }

    /// Sleeps until a moment, and on from there as long as there are timers.
    private func arm(_ moment: Duration, generation: Int) {
        // Detached, because it works for everybody, and has neither the priority nor anything else of whoever was the first to
        // need it. There is one that counts at a time, which the generation sees to. It ends when there are no timers, when an
        // earlier one is scheduled, and with the service, which it does not hold while it sleeps.
        let task = Task.detached(executorPreference: executor, priority: .high) { [weak self, sleep] in
            var next: Duration? = moment
            while let moment = next {
                // Cancelled is who is outdated, and the generation tells so.
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

    /// Calls back whatever is due, and says until when to sleep then; `nil` if another sleep counts, or none is needed.
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
