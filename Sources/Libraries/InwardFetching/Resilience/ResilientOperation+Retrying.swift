public import InwardCore

extension ResilientOperation {
    /// Returns this operation with retries of the failures that you choose.
    ///
    /// ```swift
    /// enum StoreError: Error { case busy(Duration), disconnected, full }
    /// let save = ResilientOperation("the save") { (text: String) in print(text) }
    ///     .retrying(RetrySchedule(attempts: 5, budget: RetryBudget())) { error in
    ///         switch error as? StoreError {
    ///         case .busy(let wait): .again(after: wait)
    ///         case .disconnected: .again
    ///         default: .never
    ///         }
    ///     }
    /// ```
    ///
    /// If the last attempt fails, its error is thrown. No wait between attempts goes beyond the task's deadline. If the task is
    /// cancelled between attempts, the call fails with ``ResilienceError/Reason/cancelled``.
    ///
    /// - Parameters:
    ///   - schedule: The schedule that decides how often the operation is retried, and after which delay.
    ///   - timer: The timer that measures the delays and ends them.
    ///   - advice: Returns whether to retry after an error. It is also called for timeouts, with the error that `failure` returned,
    ///     because a timed-out operation may have taken effect, and only you know whether it may be repeated. It is not called
    ///     for rejections and cancellations, which are never retried.
    /// - Returns: The operation with retries.
    public func retrying(
        _ schedule: RetrySchedule = .standard,
        timer: TimerService = .continuous,
        _ advice: @escaping @Sendable (Failure) -> RetryAdvice
    ) -> Self {
        wrapped { input, observers async throws(AttemptError) in
            schedule.budget?.deposit()
            do throws(AttemptError) {
                return try await attempt(input, observers)
            } catch {
                return try await retry(input, observers, because: error, by: schedule, timer, advice)
            }
        }
    }

    private func retry(
        _ input: Input,
        _ observers: CallObservers,
        because first: AttemptError,
        by schedule: RetrySchedule,
        _ timer: TimerService,
        _ advice: @escaping @Sendable (Failure) -> RetryAdvice
    ) async throws(AttemptError) -> Output {
        var retried = RetriedCall(
            operation: self,
            input: input,
            observers: observers,
            schedule: schedule,
            advice: advice,
            wasStarted: first.wasStarted
        )
        let (outcome, _, ending) = await schedule.retry(&retried, because: .failure(first), on: timer)
        guard ending != .cancelled else {
            throw failed(.cancelled, "was cancelled between attempts", wasStarted: retried.wasStarted)
        }
        return try outcome.get()
    }
}

/// Whether to retry an operation after an error.
///
/// ```swift
/// func advice(on error: FetchError) -> RetryAdvice {
///     guard error.canRetry else { return .never }
///     if case .delay(let delay) = error.retryAfter { return .again(after: delay) }
///     return .again
/// }
/// ```
public struct RetryAdvice: Hashable, Sendable {
    let isAgain: Bool
    let delay: Duration?

    /// The operation may be retried.
    public static let again = Self(isAgain: true, delay: nil)
    /// The operation must not be retried, because that cannot help or is not safe.
    public static let never = Self(isAgain: false, delay: nil)

    /// Returns the advice to retry the operation after a delay that the upstream asked for.
    ///
    /// - Parameter delay: The delay. The schedule adds its own delay to it. Negative values count as zero.
    /// - Returns: The advice.
    public static func again(after delay: Duration) -> Self { Self(isAgain: true, delay: max(.zero, delay)) }
}

/// A call of an operation that is retried.
private struct RetriedCall<Input: Sendable, Output: Sendable, Failure: Error>: RetriedOperation {
    typealias Outcome = Result<Output, AttemptFailure<Failure>>

    let operation: ResilientOperation<Input, Output, Failure>
    let input: Input
    let observers: CallObservers
    let schedule: RetrySchedule
    let advice: @Sendable (Failure) -> RetryAdvice
    /// Whether any of the attempts may have started the operation.
    private(set) var wasStarted: Bool
    /// The number of the last attempt.
    private(set) var number = 1

    func eligibility(of outcome: Outcome, after attempts: Int) -> RetryEligibility {
        guard case .failure(let error) = outcome, error.mayBeRetried else { return .not(.unsuited) }
        let advice = advice(operation.converted(error))
        guard advice.isAgain else { return .not(.unsuited) }
        return schedule.objection(after: attempts).map { .not($0) } ?? .eligible(retryAfter: advice.delay)
    }

    func noteRetry(after delay: Duration, because outcome: Outcome) {
        guard case .failure(let error) = outcome else { return }
        let cause = operation.converted(error)
        observers.tell(operation.name, .retryScheduled(attempt: number + 1, after: delay, because: cause))
    }

    mutating func attempt() async -> Outcome {
        number += 1
        let (operation, input, observers) = (operation, input, observers)
        let outcome = await Outcome(awaiting: { () async throws(AttemptFailure<Failure>) in
            try await operation.attempt(input, observers)
        })
        if case .failure(let error) = outcome { wasStarted = wasStarted || error.wasStarted }
        return outcome
    }

    func isSuccess(_ outcome: Outcome) -> Bool {
        if case .success = outcome { true } else { false }
    }
}

extension AttemptFailure {
    /// Whether the caller's advice decides about a retry.
    fileprivate var mayBeRetried: Bool {
        switch self {
        case .operation: true
        case .resilience(let error): error.reason == .timedOut
        }
    }
}
