import InwardCore
public import InwardFetching

/// The timeouts, retries and limits for an upstream. The initializer validates them, so every policy is valid.
///
///     let policy = try UpstreamPolicy(attemptTimeLimit: .seconds(2), attempts: 2)
///     let configuration = try AppConfiguration(upstream: "https://example.org/api", policy: policy)
public struct UpstreamPolicy: Hashable, Sendable {
    /// The default policy.
    public static let standard = Self()

    /// How long one attempt may take, from connecting to the end of the body.
    public private(set) var attemptTimeLimit = Duration.seconds(5)
    /// How long all attempts and waits for one request may take together.
    public private(set) var requestTimeLimit = Duration.seconds(20)
    /// The maximum number of attempts for one request, including the first.
    public private(set) var attempts = 3
    /// The share of recent requests that may be retried, from 0 to 1.
    public private(set) var retryShare = 0.2
    /// The maximum number of concurrent requests, for all sessions together.
    public private(set) var concurrency = 64
    /// How many more requests may wait in the queue. Further requests are rejected.
    public private(set) var queue = 256
    /// The maximum number of requests per second, for all sessions together; `nil` for no limit.
    public private(set) var requestsPerSecond: Int?
    /// The failure rate that opens the circuit, from 0.01 to 1.
    public private(set) var failureRateThreshold = 0.5
    /// How long an open circuit sends no requests.
    public private(set) var openDuration = Duration.seconds(10)
    /// The header field that tells the upstream how many milliseconds are left; `nil` to send none.
    public private(set) var deadlineField: HeaderField.Name?

    /// Creates a policy.
    ///
    /// - Parameters:
    ///   - attemptTimeLimit: How long one attempt may take, from connecting to the end of the body. Must be greater than zero.
    ///   - requestTimeLimit: How long all attempts and waits for one request may take together. Must be greater than zero.
    ///   - attempts: The maximum number of attempts for one request, including the first, at least 1.
    ///   - retryShare: The share of recent requests that may be retried, from 0 to 1.
    ///   - concurrency: The maximum number of concurrent requests, for all sessions together, at least 1.
    ///   - queue: How many more requests may wait in the queue, at least 0. Further requests are rejected.
    ///   - requestsPerSecond: The maximum number of requests per second, for all sessions together, at least 1; `nil` for no
    ///     limit.
    ///   - failureRateThreshold: The failure rate that opens the circuit, from 0.01 to 1.
    ///   - openDuration: How long an open circuit sends no requests. Must be greater than zero.
    ///   - deadlineField: The header field that tells the upstream how many milliseconds are left; `nil` to send none.
    /// - Throws: an ``AppConfigurationError`` that names the invalid setting and the reason.
    public init(
        attemptTimeLimit: Duration = standard.attemptTimeLimit,
        requestTimeLimit: Duration = standard.requestTimeLimit,
        attempts: Int = standard.attempts,
        retryShare: Double = standard.retryShare,
        concurrency: Int = standard.concurrency,
        queue: Int = standard.queue,
        requestsPerSecond: Int? = nil,
        failureRateThreshold: Double = standard.failureRateThreshold,
        openDuration: Duration = standard.openDuration,
        deadlineField: HeaderField.Name? = nil
    ) throws(AppConfigurationError) {
        try Self.check(attemptTimeLimit > .zero, "The time limit of an attempt has to be over zero.")
        try Self.check(requestTimeLimit > .zero, "The time limit of a request has to be over zero.")
        try Self.check(attempts >= 1, "A request needs at least 1 attempt.")
        try Self.check((0...1).contains(retryShare), "The share of requests that are tried again is from 0 to 1.")
        try Self.check(concurrency >= 1, "At least 1 request has to be allowed at once.")
        try Self.check(queue >= 0, "A queue cannot be shorter than 0.")
        try Self.check(requestsPerSecond ?? 1 >= 1, "At least 1 request a second has to be allowed.")
        try Self.check(
            (0.01...1).contains(failureRateThreshold),
            "The share of failures that opens the circuit is from 0.01 to 1."
        )
        try Self.check(openDuration > .zero, "The time that a circuit is open for has to be over zero.")
        self.attemptTimeLimit = attemptTimeLimit
        self.requestTimeLimit = requestTimeLimit
        self.attempts = attempts
        self.retryShare = retryShare
        self.concurrency = concurrency
        self.queue = queue
        self.requestsPerSecond = requestsPerSecond
        self.failureRateThreshold = failureRateThreshold
        self.openDuration = openDuration
        self.deadlineField = deadlineField
    }

    private init() {}

    private static func check(_ holds: Bool, _ complaint: String) throws(AppConfigurationError) {
        guard holds else { throw AppConfigurationError(complaint) }
    }
}

extension UpstreamPolicy {
    /// Returns a circuit breaker that stops requests while the upstream fails.
    func makeCircuitBreaker(_ name: String, timer: TimerService) -> CircuitBreaker {
        CircuitBreaker(
            name,
            policy: CircuitBreakerPolicy(failureRateThreshold: failureRateThreshold, openDuration: openDuration),
            timer: timer
        )
    }

    /// Wraps a client in the layers that protect the upstream and its callers.
    ///
    /// All sessions share these layers. Each session adds its credentials and caches outside of them.
    ///
    /// - Parameters:
    ///   - client: Sends the requests.
    ///   - breaker: Stops requests while the upstream fails.
    ///   - timer: The timer for all limits.
    /// - Returns: the outermost layer.
    func pipeline(_ client: any DataFetcher, breaker: CircuitBreaker, timer: TimerService) -> any DataFetcher {
        let source: any DataFetcher =
            if let deadlineField { client.propagatingDeadline(in: deadlineField) } else { client }
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
        // A share of 0 allows no retries at all, so it gets no reserve either.
        let budget = RetryBudget(share: retryShare, reserve: retryShare > 0 ? 10 : 0, timer: timer)
        // The breaker wraps the limits, so that an open circuit fails requests at once instead of after a wait in the queue.
        return
            limited
            .breakingCircuit(breaker)
            .retrying(RetryPolicy(attempts: self.attempts, budget: budget), timer: timer)
            .timingOut(after: requestTimeLimit, timer: timer)
            .coalescing()
    }
}
