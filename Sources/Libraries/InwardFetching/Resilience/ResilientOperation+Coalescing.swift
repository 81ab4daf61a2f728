public import InwardCore

extension ResilientOperation where Input: Hashable {
    /// Returns this operation with concurrent calls for equal inputs coalesced into one.
    ///
    /// Coalesce only operations without effects, such as reads. The cancellation or deadline of one caller ends its own wait,
    /// with ``ResilienceError/Reason/cancelled`` or ``ResilienceError/Reason/timedOut``, and not the operation for the others.
    /// Apply it outside decorators that bound the operation, such as a timeout: what several callers wait for has no
    /// deadline of its own.
    ///
    /// - Parameters:
    ///   - abandonment: What happens to an operation that no caller waits for any longer.
    ///   - executor: The executor for the operation; `nil` for the default executor.
    /// - Returns: The coalescing operation. Share it: each one has its own calls in flight.
    public func coalescing(
        whenAbandoned abandonment: AbandonmentPolicy = .cancel,
        executor: (any TaskExecutor)? = nil
    ) -> Self {
        let flights = SingleFlight<Input, Output, AttemptError>(whenAbandoned: abandonment, executor: executor)
        return wrapped { input, observers async throws(AttemptError) in
            let outcome = await flights.outcome(
                for: input,
                noteJoining: { observers.tell(name, .joined) },
                { input async throws(AttemptError) in try await attempt(input, observers) }
            )
            switch outcome {
            case .fulfilled(let answer): return try answer.get()
            case .cancelled: throw failed(.cancelled, "was cancelled before it ended")
            case .deadlinePassed: throw failed(.timedOut, "did not end before the deadline")
            }
        }
    }
}
