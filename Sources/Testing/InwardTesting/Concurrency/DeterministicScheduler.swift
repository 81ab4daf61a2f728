public import InwardCore
import Synchronization

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

/// Why a ``DeterministicScheduler`` gave a piece of work up. A run with the same seed comes to the same.
public enum DeterministicSchedulerError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The work is not done, and nothing of it is ready, sleeps, or is outside: it waits for what nobody will give.
    case stalled(seed: UInt64, SchedulerTrace)
    /// The work is not done after as many steps as are allowed, such as one that yields until something happens which needs time.
    case exhausted(seed: UInt64, SchedulerTrace)
    /// The scheduler runs something else already.
    case busy(seed: UInt64)

    /// What happened, with the seed, as a sentence without its full stop.
    public var description: String {
        switch self {
        case .stalled(let seed, let trace):
            "The work waits for what nobody will give: nothing is ready or asleep after \(trace), with the seed \(seed)"
        case .exhausted(let seed, let trace):
            "The work is not done after the most steps allowed: \(trace), with the seed \(seed)"
        case .busy(let seed): "The scheduler with the seed \(seed) runs something else already"
        }
    }
}

/// The way that a run of a ``DeterministicScheduler`` went, in short: runs with equal traces made the same choices out of as
/// many, at the same moments.
public struct SchedulerTrace: Hashable, Sendable, CustomStringConvertible {
    /// How many steps were taken: pieces of work that were run, and moves of the clock.
    public private(set) var steps = 0
    private var digest: UInt64 = 0

    /// Adds that one of the pieces of work that were ready was run.
    mutating func addChoice(_ index: Int, of count: Int) {
        add(UInt64(truncatingIfNeeded: index))
        add(UInt64(truncatingIfNeeded: count))
        steps += 1
    }

    /// Adds that the clock was moved on to a moment.
    mutating func addMove(to offset: Duration) {
        add(UInt64(bitPattern: offset.components.seconds))
        add(UInt64(bitPattern: offset.components.attoseconds))
        steps += 1
    }

    private mutating func add(_ number: UInt64) {
        var mixer = SplitMix64(seed: digest ^ number)
        digest = mixer.next()
    }

    /// The number of steps and a digest of them, such as `12 steps (9a3f)`.
    public var description: String { "\(steps) steps (\(String(digest, radix: 16)))" }
}

/// Keeps what is ready until it is told to run one piece of it, which a seed chooses.
///
/// Apart from the scheduler, so that a timer service which sleeps here does not hold its owner.
final class SeededJobQueue: TaskExecutor {
    /// What came of running something.
    enum Step {
        case ran
        /// Nothing is ready before something comes back from elsewhere.
        case isOutside
        /// Nothing is ready.
        case isIdle
    }

    private struct State {
        var random: SplitMix64
        var trace = SchedulerTrace()
        var ready: [UnownedJob] = []
        /// How many pieces of work go on elsewhere, and will come back.
        var outside = 0
        var isDriven = false
        var isDone = false
        /// Whoever drives, while all that there is goes on elsewhere.
        var driver: CheckedContinuation<Void, Never>?
    }

    private let state: Mutex<State>

    init(seed: UInt64) {
        state = Mutex(State(random: SplitMix64(seed: seed)))
    }

    var trace: SchedulerTrace { state.withLock(\.trace) }

    /// Whether the work that is driven is done.
    var isDone: Bool { state.withLock(\.isDone) }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let driver = state.withLock { state in
            state.ready.append(job)
            return state.driver.take()
        }
        driver?.resume()
    }

    /// Runs one piece of what is ready, on this thread, or tells why it cannot.
    func runNext() -> Step {
        let (job, step) = state.withLock { state -> (UnownedJob?, Step) in
            guard !state.ready.isEmpty else { return (nil, state.outside > 0 ? .isOutside : .isIdle) }
            let index = Int.random(in: state.ready.indices, using: &state.random)
            state.trace.addChoice(index, of: state.ready.count)
            state.ready.swapAt(index, state.ready.endIndex - 1)
            return (state.ready.removeLast(), .ran)
        }
        if let job {
            // `unsafe`: it was handed over once, and taken out under the lock, and so is run once; and on the executor that its
            // task prefers, which lives as long as this call.
            unsafe job.runSynchronously(on: asUnownedTaskExecutor())
        }
        return step
    }

    /// Takes down that the clock moves on.
    func traceMove(to offset: Duration) { state.withLock { $0.trace.addMove(to: offset) } }

    /// Begins to drive; `false` if somebody does already.
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

    /// Waits until something is ready, or nothing is outside. Only who drives may wait.
    func arrival() async {
        // Resumed by whoever takes it out under the lock, once; or here, if there is nothing to wait for.
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
