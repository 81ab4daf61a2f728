public import InwardCore

/// Runs concurrent work one piece at a time, in an order that follows from a seed, on a clock that never makes anybody wait.
///
/// Whichever piece of work is ready next, the seed chooses it: seeds try orders that a machine rarely takes, and a seed that
/// found something finds it again. When nothing is ready the clock moves on to whoever sleeps the shortest.
///
///     let scheduler = DeterministicScheduler(seed: 7)
///     let status = try await scheduler.run {
///         try await fetcher.timingOut(after: .seconds(3_600), timer: scheduler.timer).fetch(request).status
///     }
///
/// The children of the work run here too, and what is on an actor without an executor of its own. A task that is no child does
/// if it is made with the ``executor``, or by the ``timer``. What runs elsewhere, such as on the main actor, is not waited for
/// unless it is awaited in ``outside(_:)``. Elsewhere is also where work goes on that is bound by a deadline on another timer
/// service than the ``timer``.
public struct DeterministicScheduler: Sendable, CustomStringConvertible {
    /// What the order follows from.
    public let seed: UInt64
    /// The clock that moves on when nothing is ready. Its time passes in no time.
    public let clock: ManualClock
    /// A timer service of the ``clock``, which calls back here.
    public let timer: TimerService
    private let queue: SeededJobQueue
    private let stepLimit: Int

    private enum Ending { case done, stalled, exhausted }

    /// Makes a scheduler, whose clock stands at zero.
    ///
    /// - Parameters:
    ///   - seed: What the order follows from. Print it where a test fails.
    ///   - stepLimit: How many steps one run may take, at least 1: pieces of work between two waits, and moves of the clock.
    public init(seed: UInt64 = .random(in: 0 ... .max), stepLimit: Int = 10_000_000) {
        self.seed = seed
        self.stepLimit = max(1, stepLimit)
        queue = SeededJobQueue(seed: seed)
        clock = ManualClock()
        timer = TimerService(clock, executor: queue)
    }

    /// Where the work runs, for tasks that are no children of it: `Task(executorPreference: scheduler.executor)`.
    public var executor: any TaskExecutor { queue }

    /// The way that things went so far.
    public var trace: SchedulerTrace { queue.trace }

    /// The seed, such as `the scheduler with the seed 7`.
    public var description: String { "the scheduler with the seed \(seed)" }

    /// Does a piece of work, on the thread of the caller, until it is done.
    ///
    /// What else was begun then stays as it is until the next run, or until it is drained. The work is cancelled when the caller
    /// is, and when it is given up.
    ///
    /// - Parameter work: What is done. A scheduler does one at a time.
    /// - Returns: what the work gives.
    /// - Throws: what the work throws, or a ``DeterministicSchedulerError`` if it cannot be done.
    public func run<Value: Sendable>(_ work: @escaping @Sendable () async throws -> Value) async throws -> Value {
        guard queue.beginDriving() else { throw DeterministicSchedulerError.busy(seed: seed) }
        defer { queue.endDriving() }
        // Unstructured, because a child that stalls would keep its parent for ever. It is waited for here, and left behind only
        // where nothing can end it.
        let task = Task(executorPreference: queue) { [queue] in
            defer { queue.finish() }
            return try await work()
        }
        let ending = await withTaskCancellationHandler {
            await drive()
        } onCancel: {
            task.cancel()
        }
        guard ending != .done else { return try await task.value }
        let error = error(for: ending)
        task.cancel()
        _ = await drive()
        throw error
    }

    /// Goes on with what was begun and is not done, such as timers, until nothing is ready, asleep or outside.
    ///
    /// - Throws: a ``DeterministicSchedulerError`` if there is no end to it, or something else is being run.
    public func drain() async throws(DeterministicSchedulerError) {
        guard queue.beginDriving() else { throw .busy(seed: seed) }
        defer { queue.endDriving() }
        let ending = await drive()
        if ending == .exhausted { throw error(for: ending) }
    }

    /// Waits for something that is done elsewhere, such as on the main actor or behind a socket. The clock stands still, and the
    /// work is not given up, until it is done. The order is then no longer the seed's alone.
    ///
    /// - Parameter work: What waits. It must not sleep on the ``clock``.
    /// - Returns: what it gives.
    /// - Throws: what it throws.
    public func outside<Value, Failure: Error>(
        _ work: () async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        queue.goOutside()
        defer { queue.comeBack() }
        return try await work()
    }

    private func drive() async -> Ending {
        for _ in 0..<stepLimit {
            if queue.isDone { return .done }
            switch queue.runNext() {
            case .ran: continue
            case .isOutside: await queue.arrival()
            case .isIdle:
                guard let moment = clock.earliestDeadline else { return .stalled }
                queue.traceMove(to: moment.offset)
                clock.advance(by: clock.now.duration(to: moment))
            }
        }
        return queue.isDone ? .done : .exhausted
    }

    private func error(for ending: Ending) -> DeterministicSchedulerError {
        ending == .exhausted ? .exhausted(seed: seed, trace) : .stalled(seed: seed, trace)
    }
}
