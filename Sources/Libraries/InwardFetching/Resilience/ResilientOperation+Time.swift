public import InwardCore

extension ResilientOperation {
    /// Returns this operation with a time limit.
    ///
    /// The limit becomes the task's deadline, unless the task already has an earlier one. When it passes, the operation is
    /// cancelled and awaited, and the call fails with ``ResilienceError/Reason/timedOut``. Apply one timeout outside the
    /// retries to limit all attempts together, and one inside to limit each attempt:
    ///
    /// ```swift
    /// let operation = ResilientOperation("the user query") { (id: Int) in "user \(id)" }
    /// let findUser = operation.timingOut(after: .seconds(2)).retrying { _ in .again }.timingOut(after: .seconds(10))
    /// ```
    ///
    /// - Parameters:
    ///   - limit: The maximum duration. With zero or less, the operation fails without being started.
    ///   - timer: The source of time.
    /// - Returns: The operation with the timeout.
    public func timingOut(after limit: Duration, timer: TimerService = .continuous) -> Self {
        wrapped { input, observers async throws(AttemptError) in try await bounded(input, observers, limit, timer) }
    }

    private func bounded(
        _ input: Input,
        _ observers: CallObservers,
        _ limit: Duration,
        _ timer: TimerService
    ) async throws(AttemptError) -> Output {
        guard limit > .zero else { throw late(limit, wasStarted: false) }
        let result = await Deadline(in: limit, on: timer).bound { [attempt] () async throws(AttemptError) in
            try await attempt(input, observers)
        }
        guard let result else { throw late(limit, wasStarted: true) }
        return try result.get()
    }

    private func late(_ limit: Duration, wasStarted: Bool) -> AttemptError {
        failed(.timedOut, "did not end within \(limit)", wasStarted: wasStarted)
    }
}

extension ResilientOperation {
    /// Returns this operation with a second attempt for calls that take unusually long. The first attempt that succeeds counts,
    /// and the other one is cancelled and awaited.
    ///
    /// Hedge only operations that are safe to repeat, such as reads. Apply it outside the decorators that limit attempts, such
    /// as timeouts and concurrency limits, so that they apply to both attempts.
    ///
    /// ```swift
    /// let operation = ResilientOperation("the user query") { (id: Int) in "user \(id)" }
    /// let read = operation.timingOut(after: .seconds(2)).hedging(after: .percentile(95, atFirst: .milliseconds(500)))
    /// ```
    ///
    /// If no attempt succeeds, the error of the first is thrown.
    ///
    /// - Parameters:
    ///   - delay: The time after which the second attempt begins.
    ///   - share: The maximum fraction of calls with a second attempt, from 0 to 1.
    ///   - timer: The source of time.
    /// - Returns: The hedging operation.
    public func hedging(
        after delay: HedgingDelay,
        upTo share: Double = 0.05,
        timer: TimerService = .continuous
    ) -> Self {
        let hedger = Hedger(delay, upTo: share, timer: timer)
        return wrapped { input, observers async throws(AttemptError) in
            let call = HedgedCall(operation: self, input: input, observers: observers)
            return try await hedger.outcome(of: call) { observers.tell(name, .hedged) }.get()
        }
    }
}

/// A call of an operation that may have a second attempt.
private struct HedgedCall<Input: Sendable, Output: Sendable, Failure: Error>: HedgedOperation {
    let operation: ResilientOperation<Input, Output, Failure>
    let input: Input
    let observers: CallObservers

    func attempt(isFirst: Bool) async -> Result<Output, AttemptFailure<Failure>> {
        await Result(awaiting: { () async throws(AttemptFailure<Failure>) in
            try await operation.attempt(input, observers)
        })
    }

    func isDecisive(_ outcome: Result<Output, AttemptFailure<Failure>>) -> Bool {
        if case .success = outcome { true } else { false }
    }
}
