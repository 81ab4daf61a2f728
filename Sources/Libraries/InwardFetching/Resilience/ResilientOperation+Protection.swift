public import InwardCore

extension ResilientOperation {
    /// Returns this operation with a circuit breaker, which rejects calls for a while after too many failures.
    ///
    /// A call that the circuit rejects is not started and fails with ``ResilienceError/Reason/rejected``.
    ///
    /// ```swift
    /// let breaker = CircuitBreaker("database")
    /// let operation = ResilientOperation("the user query") { (id: Int) in "user \(id)" }
    /// let findUser = operation.breakingCircuit(breaker) { error in !(error is CancellationError) }
    /// ```
    ///
    /// - Parameters:
    ///   - breaker: The circuit breaker. Share one among everything that uses the same upstream, data fetchers included. The
    ///     ``CircuitBreakerPolicy/failures`` of its policy apply to data fetchers only.
    ///   - isFailure: Returns `true` if the upstream failed, `false` if the upstream works, for example if a record does not
    ///     exist, and `nil` if the error says nothing about the upstream. It is not called for errors of decorators: a timeout
    ///     of a started operation is a failure, and rejections and cancellations say nothing.
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
        // A timeout cancels the operation when the deadline passes, so this cancellation counts as a timeout of the upstream.
        guard !isCancellation else { return Deadline.current?.hasPassed == true ? true : nil }
        return switch self {
        case .operation(let error): isFailure(error)
        case .resilience(let error): error.reason == .timedOut ? true : nil
        }
    }
}

extension ResilientOperation {
    /// Returns this operation with a fixed concurrency limit of its own, whose queue holds 64 calls.
    ///
    /// - Parameter count: The maximum number of concurrent calls; values below 1 count as 1.
    /// - Returns: The limited operation.
    public func limitingConcurrency(to count: Int) -> Self {
        limitingConcurrency(to: ConcurrencyLimiter(.fixed(count)))
    }

    /// Returns this operation with a concurrency limiter, which others may share, data fetchers included.
    ///
    /// A call without a permit is not started. It fails with ``ResilienceError/Reason/rejected`` if the queue is full or the
    /// wait was too long, with ``ResilienceError/Reason/timedOut`` if the deadline passed, or with
    /// ``ResilienceError/Reason/cancelled`` if the task was cancelled while it waited.
    ///
    /// Apply it inside retries, so that a call holds no permit while it waits for a retry.
    ///
    /// ```swift
    /// let operation = ResilientOperation("the user query") { (id: Int) in "user \(id)" }
    /// let findUser = operation.limitingConcurrency(to: ConcurrencyLimiter(.fixed(8))).retrying { _ in .again }
    /// ```
    ///
    /// - Parameters:
    ///   - limiter: The limiter.
    ///   - isOverload: Returns whether an error means that the upstream is overloaded, which lowers an adaptive limit. Timeouts
    ///     always do.
    /// - Returns: The limited operation.
    public func limitingConcurrency(
        to limiter: ConcurrencyLimiter,
        overloadedIf isOverload: @escaping @Sendable (Failure) -> Bool = { _ in false }
    ) -> Self {
        wrapped { input, observers async throws(AttemptError) in
            if !limiter.admit() { try await wait(for: limiter, observers) }
            guard !limiter.isAdaptive else { return try await timed(input, observers, by: limiter, isOverload) }
            defer { limiter.release() }
            return try await attempt(input, observers)
        }
    }

    private func timed(
        _ input: Input,
        _ observers: CallObservers,
        by limiter: ConcurrencyLimiter,
        _ isOverload: @Sendable (Failure) -> Bool
    ) async throws(AttemptError) -> Output {
        let start = limiter.timer.now
        var outcome = AdaptiveLimit.Outcome.untold
        defer { limiter.release(outcome, from: start) }
        do throws(AttemptError) {
            let output = try await attempt(input, observers)
            outcome = .answered
            return output
        } catch {
            if error.isOverload(isOverload) { outcome = .overloaded }
            throw error
        }
    }

    private func wait(for limiter: ConcurrencyLimiter, _ observers: CallObservers) async throws(AttemptError) {
        do throws(LimitRejection) {
            try await limiter.wait()
        } catch {
            throw observers.told(rejected(error), of: self)
        }
    }
}

extension ResilientOperation {
    /// Returns this operation with a rate limiter of its own.
    ///
    /// - Parameters:
    ///   - count: The number of calls per period, from 1 to 1,000,000,000.
    ///   - period: The period, from a nanosecond to 1,000,000,000 seconds.
    ///   - burst: The number of calls that may be made at once after an idle time, from 1 to 1,000,000,000.
    ///   - patience: The maximum wait. With zero or less, calls that come too early are rejected.
    ///   - timer: The source of time.
    /// - Returns: The limited operation.
    public func limitingRate(
        to count: Int,
        per period: Duration,
        burst: Int = 1,
        waitingAtMost patience: Duration = .seconds(1),
        timer: TimerService = .continuous
    ) -> Self {
        limitingRate(to: RateLimiter(count, per: period, burst: burst, waitingAtMost: patience, timer: timer))
    }

    /// Returns this operation with a rate limiter, which others may share, data fetchers included.
    ///
    /// A call that would have to wait too long or beyond its deadline is not started. It fails with
    /// ``ResilienceError/Reason/rejected``, and the error says when to try again.
    ///
    /// Apply it inside retries, because every attempt counts.
    ///
    /// ```swift
    /// let operation = ResilientOperation("the user query") { (id: Int) in "user \(id)" }
    /// let findUser = operation.limitingRate(to: RateLimiter(100, per: .seconds(1), burst: 10))
    /// ```
    ///
    /// - Parameter limiter: The limiter.
    /// - Returns: The limited operation.
    public func limitingRate(to limiter: RateLimiter) -> Self {
        wrapped { input, observers async throws(AttemptError) in
            let turn: TokenBucket.Turn
            if let free = limiter.admit() { turn = free } else { turn = try await wait(for: limiter, observers) }
            do throws(AttemptError) {
                return try await attempt(input, observers)
            } catch {
                if !error.wasStarted { limiter.putBack(turn) }
                throw error
            }
        }
    }

    private func wait(
        for limiter: RateLimiter,
        _ observers: CallObservers
    ) async throws(AttemptError) -> TokenBucket.Turn {
        do throws(LimitRejection) {
            return try await limiter.wait()
        } catch {
            throw observers.told(rejected(error), of: self)
        }
    }

    private func rejected(_ rejection: LimitRejection) -> AttemptError {
        let reason: ResilienceError.Reason =
            switch rejection.cause {
            case .limit: .rejected
            case .deadline: .timedOut
            case .cancellation: .cancelled
            }
        return failed(reason, rejection.explanation, retryAfter: rejection.retryAfter, wasStarted: false)
    }
}

extension AttemptFailure {
    /// Returns whether the upstream may have failed because of overload.
    fileprivate func isOverload(_ isOverload: (Failure) -> Bool) -> Bool {
        guard wasStarted else { return false }
        // A timeout cancels the operation when the deadline passes.
        guard !isCancellation else { return Deadline.current?.hasPassed ?? false }
        return switch self {
        case .operation(let error): isOverload(error)
        case .resilience(let error): error.reason == .timedOut
        }
    }
}
