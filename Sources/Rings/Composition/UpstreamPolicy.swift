import InwardCore
public import InwardFetching

/// How much is expected of an upstream, and how it is spared, in numbers. A policy that exists is valid.
public struct UpstreamPolicy: Hashable, Sendable {
    /// The policy with all numbers as they are by default.
    public static let standard = Self()

    /// How long one attempt may take, from connecting to the end of the body.
    public private(set) var attemptTimeLimit = Duration.seconds(5)
    /// How long all attempts and waits for one request may take together.
    public private(set) var requestTimeLimit = Duration.seconds(20)
    /// The most attempts for one request, the first included.
    public private(set) var attempts = 3
    /// The part of recent requests that may be tried again, from 0 to 1.
    public private(set) var retryShare = 0.2
    /// How many requests are under way at once, of all sessions together.
    public private(set) var concurrency = 64
    /// How many more wait until there is room for them. Later ones are refused.
    public private(set) var queue = 256
    /// How many requests are sent in a second, of all sessions together; `nil` for as many as there are.
    public private(set) var requestsPerSecond: Int?
    /// The share of failures that opens the circuit, from 0.01 to 1.
    public private(set) var failureRateThreshold = 0.5
    /// For how long nothing is sent when the circuit opens.
    public private(set) var openDuration = Duration.seconds(10)
    /// The header field that tells the upstream how many milliseconds are left; `nil` to tell it nothing.
    public private(set) var deadlineField: HeaderField.Name?

    /// Chooses the numbers.
    ///
    /// - Parameters:
    ///   - attemptTimeLimit: How long one attempt may take, from connecting to the end of the body, over zero.
    ///   - requestTimeLimit: How long all attempts and waits for one request may take together, over zero.
    ///   - attempts: The most attempts for one request, the first included, at least 1.
    ///   - retryShare: The part of recent requests that may be tried again, from 0 to 1.
    ///   - concurrency: How many requests are under way at once, of all sessions together, at least 1.
    ///   - queue: How many more wait until there is room for them, at least 0. Later ones are refused.
    ///   - requestsPerSecond: How many requests are sent in a second, of all sessions together, at least 1; `nil` for as many as
    ///     there are.
    ///   - failureRateThreshold: The share of failures that opens the circuit, from 0.01 to 1.
    ///   - openDuration: For how long nothing is sent when the circuit opens, over zero.
    ///   - deadlineField: The header field that tells the upstream how many milliseconds are left; `nil` to tell it nothing.
    /// - Throws: an ``AppConfigurationError`` that says which choice is not possible, and why.
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
    /// What stops asking an upstream that fails.
    func makeCircuitBreaker(_ name: String, timer: TimerService) -> CircuitBreaker {
        CircuitBreaker(
            name,
            policy: CircuitBreakerPolicy(failureRateThreshold: failureRateThreshold, openDuration: openDuration),
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
