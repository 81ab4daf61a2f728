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
