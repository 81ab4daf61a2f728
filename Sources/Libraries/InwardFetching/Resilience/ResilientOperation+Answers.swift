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

extension ResilientOperation {
    /// Returns this operation with another one that is performed in its place when it fails.
    ///
    /// If the fallback fails too, the error of this operation is thrown.
    ///
    ///     let read = primary.fallingBack(to: replica) { error in if case .notFound = error { false } else { true } }
    ///
    /// - Parameters:
    ///   - fallback: The operation to fall back to.
    ///   - isFailure: Returns whether to fall back after an error, which may be one that `failure` made of a
    ///     ``ResilienceError``. It is not asked about cancellations.
    /// - Returns: The operation with the fallback.
    public func fallingBack(to fallback: Self, when isFailure: @escaping @Sendable (Failure) -> Bool) -> Self {
        wrapped { input, observers async throws(AttemptError) in
            do throws(AttemptError) {
                return try await attempt(input, observers)
            } catch {
                guard calls(forFallback: error, isFailure) else { throw error }
                return try await output(of: fallback, input, observers, inPlaceOf: error)
            }
        }
    }

    /// Returns this operation with a fixed result for when it fails.
    ///
    /// - Parameters:
    ///   - fallback: The result.
    ///   - isFailure: Returns whether to fall back after an error, which may be one that `failure` made of a
    ///     ``ResilienceError``. It is not asked about cancellations.
    /// - Returns: The operation with the fallback.
    public func fallingBack(to fallback: Output, when isFailure: @escaping @Sendable (Failure) -> Bool) -> Self {
        wrapped { input, observers async throws(AttemptError) in
            do throws(AttemptError) {
                return try await attempt(input, observers)
            } catch {
                guard calls(forFallback: error, isFailure) else { throw error }
                observers.tell(name, .fellBack(because: converted(error)))
                return fallback
            }
        }
    }

    private func calls(forFallback error: AttemptError, _ isFailure: (Failure) -> Bool) -> Bool {
        // A caller that was cancelled or is late waits for nothing any longer.
        guard !error.isCancellation, !Task.isCancelled else { return false }
        return isFailure(converted(error))
    }

    private func output(
        of fallback: Self,
        _ input: Input,
        _ observers: CallObservers,
        inPlaceOf failure: AttemptError
    ) async throws(AttemptError) -> Output {
        do throws(AttemptError) {
            let output = try await fallback.attempt(input, observers)
            observers.tell(name, .fellBack(because: converted(failure)))
            return output
        } catch {
            // Report the cancellation rather than the earlier failure.
            throw error.isCancellation ? error : failure
        }
    }
}
