public import InwardCore

extension ResilientOperation {
    /// Returns this operation with a time limit.
    ///
    /// The limit becomes the task's deadline, unless an earlier one exists. When it passes, the operation is cancelled, and
    /// awaited. Apply one timeout outside the retries to limit all attempts together, and one inside to limit each attempt:
    ///
    ///     let lookUp = operation.timingOut(after: .seconds(2)).retrying { _ in .again }.timingOut(after: .seconds(10))
    ///
    /// If the limit passes, the operation fails with ``ResilienceError/Reason/timedOut``.
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
