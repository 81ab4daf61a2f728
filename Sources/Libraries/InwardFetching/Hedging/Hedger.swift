import InwardCore
import Synchronization

/// The engine of hedging, which makes a second attempt when an operation takes unusually long.
///
/// Operations that share a hedger share the latencies that it has learned and its budget of second attempts.
final class Hedger: Sendable {
    private let policy: Mutex<HedgingPolicy>
    private let learns: Bool
    private let timer: TimerService

    init(_ delay: HedgingDelay, upTo share: Double, timer: TimerService) {
        policy = Mutex(HedgingPolicy(delay, share: share))
        learns = delay.percent != nil
        self.timer = timer
    }

    /// Performs an operation, with a second attempt if the first is slow.
    ///
    /// - Parameters:
    ///   - operation: The operation.
    ///   - noteSecond: Called when the second attempt begins.
    /// - Returns: The first decisive outcome, or the outcome of the first attempt if there is none.
    func outcome<Operation: HedgedOperation>(
        of operation: Operation,
        noteSecond: () -> Void = {}
    ) async -> Operation.Outcome {
        let start = timer.now
        let outcome: Operation.Outcome
        if let delay = policy.withLock({ $0.begin() }), isAffordable(delay) {
            outcome = await HedgingRace(operation).outcome(until: start + delay, on: timer) {
                guard policy.withLock({ $0.hedge() }) else { return false }
                noteSecond()
                return true
            }
        } else {
            outcome = await operation.attempt(isFirst: true)
        }
        // If the second attempt won, this is less than the first would have taken.
        if operation.isDecisive(outcome) { remember(since: start) }
        return outcome
    }

    private func isAffordable(_ delay: Duration) -> Bool {
        Deadline.current.map { delay < $0.remaining } ?? true
    }

    private func remember(since start: Duration) {
        guard learns else { return }
        let duration = timer.now - start
        policy.withLock { $0.record(duration) }
    }
}

/// An operation that may have a second attempt.
protocol HedgedOperation: Sendable {
    /// The outcome of an attempt.
    associatedtype Outcome: Sendable

    /// Makes an attempt.
    func attempt(isFirst: Bool) async -> Outcome

    /// Returns whether an outcome decides the race, so that another attempt is pointless.
    func isDecisive(_ outcome: Outcome) -> Bool
}

/// A race between two attempts at one operation, won by the first with a decisive outcome.
struct HedgingRace<Operation: HedgedOperation>: Sendable {
    /// The progress of the first attempt, which its task reports to the task that waits for it.
    private final class Progress: Sendable {
        enum Event {
            case ended
            case isLate
        }

        let event = Promise<Event>()
        let hasEnded = Atomic(false)
    }

    private struct Attempt: Sendable {
        let isFirst: Bool
        let outcome: Operation.Outcome
    }

    private let operation: Operation

    init(_ operation: Operation) {
        self.operation = operation
    }

    /// Begins the first attempt, and the second one if the first has not ended in time.
    ///
    /// - Parameters:
    ///   - moment: The time at which the first attempt is late, by the clock of the timer service.
    ///   - timer: The source of time.
    ///   - admit: Returns whether to begin the second attempt.
    /// - Returns: The first decisive outcome, or the outcome of the original attempt if there is none.
    func outcome(
        until moment: Duration,
        on timer: TimerService,
        admit: () -> Bool
    ) async -> Operation.Outcome {
        await withTaskGroup(of: Attempt.self) { group in
            let progress = Progress()
            begin(in: &group) { [operation] in
                let outcome = await operation.attempt(isFirst: true)
                progress.hasEnded.store(true, ordering: .releasing)
                progress.event.fulfill(.ended)
                return Attempt(isFirst: true, outcome: outcome)
            }
            guard await isLate(progress, at: moment, on: timer), admit() else { return await outcome(of: &group) }
            begin(in: &group) { [operation] in
                Attempt(isFirst: false, outcome: await operation.attempt(isFirst: false))
            }
            return await outcome(of: &group)
        }
    }

    /// Waits for the end of the first attempt, up to a point in time.
    private func isLate(_ progress: Progress, at moment: Duration, on timer: TimerService) async -> Bool {
        // A response from memory has usually arrived by now.
        guard !progress.hasEnded.load(ordering: .acquiring) else { return false }
        let alarm = timer.schedule(at: moment) { progress.event.fulfill(.isLate) }
        // This wait needs no deadline: the task's deadline ends the attempt, which ends the wait.
        let outcome = await progress.event.value(until: nil)
        timer.cancel(alarm)
        guard case .fulfilled(.isLate) = outcome, !Task.isCancelled else { return false }
        return !progress.hasEnded.load(ordering: .acquiring)
    }

    /// Returns the first decisive outcome of the attempts under way. The losing attempt is cancelled, and the group awaits it.
    private func outcome(of group: inout TaskGroup<Attempt>) async -> Operation.Outcome {
        var failed: Attempt?
        while let attempt = await group.next() {
            if operation.isDecisive(attempt.outcome) {
                group.cancelAll()
                return attempt.outcome
            }
            if attempt.isFirst || failed == nil { failed = attempt }
        }
        // `failed` is always set: the group began with the first attempt.
        guard let failed else { return await operation.attempt(isFirst: true) }
        return failed.outcome
    }

    private func begin(
        in group: inout TaskGroup<Attempt>,
        _ operation: @escaping @Sendable @concurrent () async -> Attempt
    ) {
        if #available(macOS 26, iOS 26, watchOS 26, tvOS 26, *) {
            // Starts on the current thread, so that an attempt that does not have to wait needs no thread hop.
            group.addImmediateTask(operation: operation)
        } else {
            group.addTask(operation: operation)
        }
    }
}
