import InwardCore
import InwardFetching

extension UpstreamPolicy {
    /// What stops asking an upstream that fails.
    func makeCircuitBreaker(_ name: String, timer: TimerService) -> CircuitBreaker {
        CircuitBreaker(
            name,
            policy: CircuitBreakerPolicy(failureShare: failureShare, openDuration: openDuration),
            timer: timer
        )
    }

    /// A client in the layers that spare its upstream, and those who wait for it.
    ///
    /// Every layer is there once for all sessions, whose credentials and caches go around it.
    ///
    /// - Parameters:
    ///   - client: What sends the requests.
    ///   - breaker: What stops asking the upstream when it fails.
    ///   - timer: What tells the time.
    /// - Returns: the outermost layer.
    func pipeline(_ client: any DataFetcher, breaker: CircuitBreaker, timer: TimerService) -> any DataFetcher {
        let source: any DataFetcher = if let deadlineField { client.tellingDeadline(in: deadlineField) } else { client }
        let attempts =
            source
            .timingOut(after: attemptTimeLimit, timer: timer)
            .limitingConcurrency(to: ConcurrencyLimiter(.fixed(concurrency), waiting: queue, timer: timer))
        let limited: any DataFetcher =
            if let requestsPerSecond {
                attempts.limitingRate(
                    to: RateLimiter(
                        requestsPerSecond,
                        per: .seconds(1),
                        burst: requestsPerSecond,
                        waitingAtMost: requestTimeLimit,
                        timer: timer
                    )
                )
            } else {
                attempts
            }
        // A share of nothing is nothing, also for a client with few requests.
        let budget = RetryBudget(share: retryShare, reserve: retryShare > 0 ? 10 : 0, timer: timer)
        // The breaker is around the limits, so that nobody waits for a turn to be told that the circuit is open.
        return
            limited
            .breakingCircuit(breaker)
            .retrying(RetryPolicy(attempts: self.attempts, budget: budget), timer: timer)
            .timingOut(after: requestTimeLimit, timer: timer)
            .coalescing()
    }
}
