import InterfaceAdapters
import UseCases

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
            .breakingCircuit(breaker)
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
        return
            limited
            .retrying(
                RetryPolicy(attempts: self.attempts, budget: RetryBudget(share: retryShare, timer: timer)),
                timer: timer
            )
            .timingOut(after: requestTimeLimit, timer: timer)
            .coalescing()
    }
}
