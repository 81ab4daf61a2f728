import InwardCore

extension ResilientOperation {
    /// Returns this operation with a circuit breaker, which rejects calls for a while after too many failures.
    ///
    /// A call that the circuit rejects fails with ``ResilienceError/Reason/rejected`` and is not started.
    ///
    ///     let breaker = CircuitBreaker("database")
    ///     let lookUp = operation.breakingCircuit(breaker) { error in if case .busy = error { true } else { false } }
    ///
    /// - Parameters:
    ///   - breaker: The circuit breaker. Share one among everything that asks the same upstream, data fetchers included. The
    ///     ``CircuitBreakerPolicy/failures`` of its policy apply to data fetchers only.
    ///   - isFailure: Returns whether an error is a failure of the upstream; `false` if the upstream works, such as for a
    ///     record that does not exist; `nil` if the error says nothing about the upstream. A timeout of an operation that was
    ///     started is a failure; rejections and cancellations say nothing. It is not asked about those.
    /// - Returns: The operation with the circuit breaker.
    public func breakingCircuit(
        _ breaker: CircuitBreaker,
        countingFailures isFailure: @escaping @Sendable (Failure) -> Bool?
    ) -> Self {
        wrapped { input, observers async throws(AttemptError) in
            let permit = try permit(of: breaker, observers)
            let output: Output
            do throws(AttemptError) {
                output = try await attempt(input, observers)
            } catch {
                observers.tell(breaker.settle(permit, isFailure: error.isFailure(isFailure)), of: breaker)
                throw error
            }
            observers.tell(breaker.settle(permit, isFailure: false), of: breaker)
            return output
        }
    }

    private func permit(
        of breaker: CircuitBreaker,
        _ observers: CallObservers
    ) throws(AttemptError) -> ScopedPermit {
        do throws(CircuitRejection) {
            let permit = try breaker.permit()
            observers.tell(permit.permit.change, of: breaker)
            return permit
        } catch {
            let retryAfter: Duration? = if case .delay(let delay) = error.retryAfter { delay } else { nil }
            throw observers.told(
                failed(.rejected, error.explanation, retryAfter: retryAfter, wasStarted: false),
                of: self
            )
        }
    }
}

extension AttemptFailure {
    /// Returns whether the upstream failed; `nil` if the error says nothing about it.
    fileprivate func isFailure(_ isFailure: (Failure) -> Bool?) -> Bool? {
        guard wasStarted else { return nil }
        // A timeout cancels the operation when the deadline passes, so this cancellation counts as the upstream's timeout.
        guard !isCancellation else { return Deadline.current?.hasPassed == true ? true : nil }
        return switch self {
        case .operation(let error): isFailure(error)
        case .resilience(let error): error.reason == .timedOut ? true : nil
        }
    }
}
