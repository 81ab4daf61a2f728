import InwardCore

/// An operation that is retried: its attempts, and the meaning of their outcomes.
///
/// The loop around it is ``RetrySchedule/retry(_:because:on:)``, whatever the operation is.
protocol RetriedOperation {
    /// The outcome of an attempt.
    associatedtype Outcome

    /// Returns whether an outcome may be retried, regardless of timing. It is not asked about successes.
    func eligibility(of outcome: Outcome, after attempts: Int) -> RetryEligibility

    /// Called when another attempt is going to be made.
    func noteRetry(after delay: Duration, because outcome: Outcome)

    /// Makes another attempt.
    mutating func attempt() async -> Outcome

    /// Returns whether an outcome needs no further attempt.
    func isSuccess(_ outcome: Outcome) -> Bool
}

/// Whether an outcome may be retried, regardless of timing.
enum RetryEligibility {
    /// It may be, after the delay that the upstream asked for, if any.
    case eligible(retryAfter: Duration?)
    /// It must not be.
    case not(RetryEnding)
}

extension RetrySchedule {
    /// Retries an operation until it succeeds or must not be retried. It waits between attempts, but not beyond the task's
    /// deadline.
    ///
    /// - Parameters:
    ///   - operation: The operation.
    ///   - first: The outcome of the first attempt, which did not succeed.
    ///   - timer: The source of time, which also ends the waits.
    /// - Returns: The last outcome, the number of attempts, and the reason why there were no more; `nil` after a success.
    func retry<Operation: RetriedOperation>(
        _ operation: inout Operation,
        because first: Operation.Outcome,
        on timer: TimerService
    ) async -> (outcome: Operation.Outcome, attempts: Int, ending: RetryEnding?) {
        var outcome = first
        var attempts = 1
        while true {
            if let ending = await waited(for: operation, after: attempts, because: outcome, on: timer) {
                return (outcome, attempts, ending)
            }
            attempts += 1
            outcome = await operation.attempt()
            if operation.isSuccess(outcome) { return (outcome, attempts, nil) }
        }
    }

    /// Waits for the next attempt; returns the reason if no attempt follows.
    private func waited<Operation: RetriedOperation>(
        for operation: Operation,
        after attempts: Int,
        because outcome: Operation.Outcome,
        on timer: TimerService
    ) async -> RetryEnding? {
        switch operation.eligibility(of: outcome, after: attempts) {
        case .not(let ending):
            return ending
        case .eligible(let retryAfter):
            let decision = decision(
                after: attempts,
                retryAfter: retryAfter,
                remaining: Deadline.current?.remaining,
                fraction: jitter.fraction()
            )
            switch decision {
            case .end(let ending):
                return ending
            case .retry(let delay):
                guard !Task.isCancelled else { return .cancelled }
                guard budget?.withdraw() ?? true else { return .budgetExhausted }
                operation.noteRetry(after: delay, because: outcome)
                return await waited(delay, on: timer)
            }
        }
    }

    private func waited(_ delay: Duration, on timer: TimerService) async -> RetryEnding? {
        let promise = Promise<Void>()
        let alarm = timer.schedule(at: timer.now + delay) { promise.fulfill(()) }
        let end = await promise.value()
        timer.cancel(alarm)
        // Whatever woke the task, begin an attempt only if the caller still waits and there is time left.
        if Task.isCancelled { return .cancelled }
        if case .fulfilled = end, Deadline.current?.hasPassed != true { return nil }
        return .deadline
    }
}

/// The reason why an operation is not retried.
enum RetryEnding: Hashable, Sendable, CustomStringConvertible {
    /// The policy does not retry such an outcome.
    case unsuited
    /// It may have taken effect and is not safe to repeat.
    case unrepeatable
    case attemptsExhausted
    case retryAfterTooLong(Duration)
    case deadline
    case budgetExhausted
    case cancelled

    /// The reason as part of a sentence that begins with the number of attempts.
    var description: String {
        switch self {
        case .unsuited: "a retry is no help"
        case .unrepeatable: "it is not safe to repeat"
        case .attemptsExhausted: "the most allowed"
        case .retryAfterTooLong(let delay): "the upstream asked to wait \(Self.seconds(of: delay))"
        case .deadline: "the deadline leaves no time"
        case .budgetExhausted: "the retry budget is used up"
        case .cancelled: "cancelled before the next"
        }
    }

    private static func seconds(of delay: Duration) -> String {
        let (seconds, attoseconds) = delay.components
        let rounded = attoseconds > 0 ? seconds + 1 : seconds
        return rounded == 1 ? "1 second" : "\(rounded) seconds"
    }
}
