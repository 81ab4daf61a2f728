import Synchronization

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
