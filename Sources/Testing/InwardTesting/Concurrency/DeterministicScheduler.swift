public import InwardCore
import Synchronization

/// Runs concurrent work deterministically: one job at a time, in an order that follows from a seed, on a manual clock.
///
/// Whenever several jobs are ready, the seed chooses the next one. Different seeds try interleavings that rarely happen on a
/// real machine, and the seed of a failure reproduces it. When no job is ready, the clock advances to the earliest deadline.
///
/// ```swift
/// let scheduler = DeterministicScheduler(seed: 7)
/// let response = try await scheduler.run {
///     try await scheduler.timer.sleep(for: .seconds(3_600))
///     return try await StubDataFetcher(DataResponse()).fetch(DataRequest(url: CommentClient.baseURL))
/// }
/// #expect(response.status == .ok)
/// #expect(scheduler.clock.now.offset == .seconds(3_600))
/// ```
///
/// Child tasks of the work also run on the scheduler, and so do actors without a custom executor. An unstructured task runs on
/// it if it is created with the ``executor`` or by the ``timer``. Other code runs elsewhere, for example on the main actor, or
/// in a task that another timer service creates. The scheduler waits for it only if you await it in ``outside(_:)``.
public struct DeterministicScheduler: Sendable, CustomStringConvertible {
    /// The seed that determines the order.
    public let seed: UInt64
    /// The clock, which advances when no job is ready.
    public let clock: ManualClock
    /// A timer service of the ``clock`` that calls back on the scheduler.
    public let timer: TimerService
    private let queue: SeededJobQueue
    private let stepLimit: Int

    private enum Ending { case done, stalled, exhausted }

    /// Creates a scheduler whose clock is at zero.
    ///
    /// - Parameters:
    ///   - seed: The seed that determines the order. Print it when a test fails.
    ///   - stepLimit: The maximum number of steps in a run, at least 1. A step is one job or one advance of the clock.
    public init(seed: UInt64 = .random(in: 0 ... .max), stepLimit: Int = 10_000_000) {
        self.seed = seed
        self.stepLimit = max(1, stepLimit)
        queue = SeededJobQueue(seed: seed)
        clock = ManualClock()
        timer = TimerService(clock, executor: queue)
    }

    /// The executor, for tasks that are not children of the work: `Task(executorPreference: scheduler.executor)`.
    public var executor: any TaskExecutor { queue }

    /// The trace of all steps so far.
    public var trace: SchedulerTrace { queue.trace }

    /// The scheduler with its seed, such as `the scheduler with the seed 7`.
    public var description: String { "the scheduler with the seed \(seed)" }

    /// Runs work to completion, one job at a time, in the calling task.
    ///
    /// Tasks that the work started but did not await stay suspended until the next run or until ``drain()``. The work is
    /// cancelled if the caller is cancelled or if the scheduler gives up.
    ///
    /// - Parameter work: The work. A scheduler runs one piece of work at a time.
    /// - Returns: The result of the work.
    /// - Throws: The error of the work, or a ``DeterministicSchedulerError`` if the work cannot be completed.
    public func run<Value: Sendable>(_ work: @escaping @Sendable () async throws -> Value) async throws -> Value {
        guard queue.beginDriving() else { throw DeterministicSchedulerError.busy(seed: seed) }
        defer { queue.endDriving() }
        // An unstructured task, because a child that stalls would keep its parent waiting forever. It is awaited here, and
        // abandoned only if nothing can end it.
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

    /// Continues unfinished work, such as timers, until no job is ready, no task sleeps on the clock, and no code runs outside.
    ///
    /// - Throws: A ``DeterministicSchedulerError`` if the work does not end, or if the scheduler is already running.
    public func drain() async throws(DeterministicSchedulerError) {
        guard queue.beginDriving() else { throw .busy(seed: seed) }
        defer { queue.endDriving() }
        let ending = await drive()
        if ending == .exhausted { throw error(for: ending) }
    }

    /// Waits for work that runs elsewhere, such as on the main actor or in another process.
    ///
    /// Until that work is done, the clock does not advance and the scheduler does not give up. Afterwards, the order no longer
    /// depends on the seed alone.
    ///
    /// - Parameter work: A closure that awaits the work. It must not sleep on the ``clock``.
    /// - Returns: The closure's result.
    /// - Throws: The closure's error.
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

/// The reason why a ``DeterministicScheduler`` gave up. A run with the same seed ends the same way.
///
/// ```swift
/// func run(_ work: @escaping @Sendable () async throws -> Void) async throws {
///     do {
///         try await DeterministicScheduler().run(work)
///     } catch DeterministicSchedulerError.stalled(let seed, _) {
///         Issue.record("The work waits forever. Reproduce it with DeterministicScheduler(seed: \(seed)).")
///     }
/// }
/// ```
public enum DeterministicSchedulerError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The work waits for something that never happens: no job is ready, no task sleeps on the clock, and no code runs outside.
    case stalled(seed: UInt64, SchedulerTrace)
    /// The work exceeded the step limit, for example because it yields in a loop while it waits for time to pass.
    case exhausted(seed: UInt64, SchedulerTrace)
    /// The scheduler is already running something else.
    case busy(seed: UInt64)

    /// A description that includes the seed, as a sentence without a period.
    public var description: String {
        switch self {
        case .stalled(let seed, let trace):
            "The work is stalled: no job is ready and no task sleeps on the clock after \(trace), with the seed \(seed)"
        case .exhausted(let seed, let trace):
            "The work is not done after the maximum number of steps: \(trace), with the seed \(seed)"
        case .busy(let seed): "The scheduler with the seed \(seed) is already running other work"
        }
    }
}

/// A summary of a ``DeterministicScheduler`` run. If two traces are equal, the runs made the same choices among the same
/// numbers of jobs at the same times.
///
/// ```swift
/// let (first, second) = (DeterministicScheduler(seed: 7), DeterministicScheduler(seed: 7))
/// for scheduler in [first, second] {
///     try await scheduler.run { try await scheduler.timer.sleep(for: .seconds(5)) }
/// }
/// #expect(first.trace == second.trace)
/// ```
public struct SchedulerTrace: Hashable, Sendable, CustomStringConvertible {
    /// The number of steps: jobs that were run, and advances of the clock.
    public private(set) var steps = 0
    private var digest: UInt64 = 0

    /// Records which of the ready jobs was run.
    mutating func addChoice(_ index: Int, of count: Int) {
        add(UInt64(truncatingIfNeeded: index))
        add(UInt64(truncatingIfNeeded: count))
        steps += 1
    }

    /// Records an advance of the clock.
    mutating func addMove(to offset: Duration) {
        add(UInt64(bitPattern: offset.components.seconds))
        add(UInt64(bitPattern: offset.components.attoseconds))
        steps += 1
    }

    private mutating func add(_ number: UInt64) {
        var mixer = SplitMix64(seed: digest ^ number)
        digest = mixer.next()
    }

    /// The number of steps and their digest, such as `12 steps (9a3f)`.
    public var description: String { "\(steps) steps (\(String(digest, radix: 16)))" }
}

/// Holds ready jobs and, on request, runs one that a seed chooses.
///
/// It is separate from the scheduler, so that a timer service that uses it as its executor does not retain the scheduler.
final class SeededJobQueue: TaskExecutor {
    /// The result of trying to run a job.
    enum Step {
        case ran
        /// Nothing is ready until outside work comes back.
        case isOutside
        /// Nothing is ready.
        case isIdle
    }

    private struct State {
        var random: SplitMix64
        var trace = SchedulerTrace()
        var ready: [UnownedJob] = []
        /// The number of pieces of work that run elsewhere and will come back.
        var outside = 0
        var isDriven = false
        var isDone = false
        /// The driving task, while it waits for outside work.
        var driver: CheckedContinuation<Void, Never>?
    }

    private let state: Mutex<State>

    init(seed: UInt64) {
        state = Mutex(State(random: SplitMix64(seed: seed)))
    }

    var trace: SchedulerTrace { state.withLock(\.trace) }

    /// Whether the driven work is done.
    var isDone: Bool { state.withLock(\.isDone) }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let driver = state.withLock { state in
            state.ready.append(job)
            return state.driver.take()
        }
        driver?.resume()
    }

    /// Runs one ready job on this thread, or returns why it cannot.
    func runNext() -> Step {
        let (job, step) = state.withLock { state -> (UnownedJob?, Step) in
            guard !state.ready.isEmpty else { return (nil, state.outside > 0 ? .isOutside : .isIdle) }
            let index = Int.random(in: state.ready.indices, using: &state.random)
            state.trace.addChoice(index, of: state.ready.count)
            state.ready.swapAt(index, state.ready.endIndex - 1)
            return (state.ready.removeLast(), .ran)
        }
        if let job {
            // `unsafe`: The job was enqueued once and is removed under the lock, so it runs once. It runs on the executor that
            // its task prefers, which lives as long as this call.
            unsafe job.runSynchronously(on: asUnownedTaskExecutor())
        }
        return step
    }

    /// Records an advance of the clock.
    func traceMove(to offset: Duration) { state.withLock { $0.trace.addMove(to: offset) } }

    /// Starts driving the queue. Returns `false` if another task is driving it already.
    func beginDriving() -> Bool {
        state.withLock { state in
            guard !state.isDriven else { return false }
            state.isDriven = true
            state.isDone = false
            return true
        }
    }

    func endDriving() { state.withLock { $0.isDriven = false } }

    func finish() { state.withLock { $0.isDone = true } }

    func goOutside() { state.withLock { $0.outside += 1 } }

    func comeBack() {
        let driver = state.withLock { state in
            state.outside -= 1
            return state.driver.take()
        }
        driver?.resume()
    }

    /// Waits until a job is ready or nothing is outside. Only the driving task may call it.
    func arrival() async {
        // Resumed once: here if there is nothing to wait for, otherwise by the code that removes it under the lock.
        await withCheckedContinuation { continuation in
            let waits = state.withLock { state in
                guard state.ready.isEmpty, state.outside > 0 else { return false }
                state.driver = continuation
                return true
            }
            if !waits { continuation.resume() }
        }
    }
}
