public import InwardCore

extension ResilientOperation where Input: Hashable {
    /// Returns this operation with concurrent calls for equal inputs coalesced into one.
    ///
    /// Coalesce only operations without side effects, such as reads. When one caller is cancelled or reaches its deadline, its
    /// own wait ends with ``ResilienceError/Reason/cancelled`` or ``ResilienceError/Reason/timedOut``, and the operation
    /// continues for the others.
    ///
    /// Apply it outside a timeout, because a shared call does not inherit the deadline of any caller.
    ///
    /// ```swift
    /// let findUser = ResilientOperation("the user query") { (id: Int) in "user \(id)" }
    ///     .timingOut(after: .seconds(2))
    ///     .coalescing()
    /// ```
    ///
    /// - Parameters:
    ///   - abandonment: What happens to an operation without waiters.
    ///   - executor: The executor for the operation; `nil` for the default executor.
    /// - Returns: The coalescing operation. Share it, because only calls of the same one are coalesced.
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
    /// Returns this operation with another one as its fallback.
    ///
    /// If the fallback fails too, the error of this operation is thrown.
    ///
    /// ```swift
    /// let replica = ResilientOperation("the replica") { (id: Int) in "user \(id)" }
    /// let primary = ResilientOperation("the primary") { (id: Int) in "user \(id)" }
    /// let read = primary.timingOut(after: .seconds(1)).fallingBack(to: replica) { _ in true }
    /// ```
    ///
    /// - Parameters:
    ///   - fallback: The operation to fall back to.
    ///   - isFailure: Returns whether to fall back after an error, which may be the one that `failure` returned for a
    ///     ``ResilienceError``. It is not called for cancellations.
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

    /// Returns this operation with a fixed result as its fallback.
    ///
    /// - Parameters:
    ///   - fallback: The result.
    ///   - isFailure: Returns whether to fall back after an error, which may be the one that `failure` returned for a
    ///     ``ResilienceError``. It is not called for cancellations.
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
        // A cancelled or late caller does not wait for a fallback.
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
