import InwardCore
import Synchronization

/// The engine of hedging, which makes second attempts at operations that take unusually long.
///
/// Everything that shares it shares the durations that it has learned and the share of second attempts.
final class Hedger: Sendable {
    private let policy: Mutex<HedgingPolicy>
    private let learns: Bool
    private let timer: TimerService

    init(_ delay: HedgingDelay, upTo share: Double, timer: TimerService) {
        policy = Mutex(HedgingPolicy(delay, share: share))
        learns = delay.percent != nil
        self.timer = timer
    }

    /// Performs an operation, with a second attempt if the first takes long.
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
        // If the second attempt won, the first took at least this long.
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
