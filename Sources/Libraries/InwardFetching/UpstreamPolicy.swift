public import InwardCore

/// The timeouts, retries and limits for an upstream. The initializer validates them, so every policy is valid.
///
///     let policy = try UpstreamPolicy(attemptTimeLimit: .seconds(2), attempts: 2)
///     let orders = client.protecting(by: policy, breaker: policy.makeCircuitBreaker("orders"))
///
/// Protect each upstream once, with a breaker of its own, and let all sessions share the result.
/// An ``UpstreamProtection`` replaces its policy at run time.
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
    /// - Throws: an ``UpstreamPolicyError`` that names the invalid setting and the reason.
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
    ) throws(UpstreamPolicyError) {
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

    private static func check(_ holds: Bool, _ complaint: String) throws(UpstreamPolicyError) {
        guard holds else { throw UpstreamPolicyError(complaint) }
    }
}

extension UpstreamPolicy {
    /// Returns a circuit breaker that stops requests while the upstream fails, by the numbers of this policy.
    ///
    /// - Parameters:
    ///   - name: The name in messages and for observers.
    ///   - timer: The source of time.
    /// - Returns: the circuit breaker.
    public func makeCircuitBreaker(_ name: String, timer: TimerService = .continuous) -> CircuitBreaker {
        CircuitBreaker(name, policy: circuitBreakerPolicy, timer: timer)
    }
}

extension DataFetcher {
    /// Returns this fetcher, which sends requests to an upstream, inside of the layers that protect the upstream and its callers:
    /// coalescing, timeouts, retries with a budget, a circuit breaker, and limits.
    ///
    ///     let orders = URLSessionDataFetcher().protecting(by: .standard)
    ///
    /// All sessions share these layers. Each session adds its credentials and caches outside of them. Print the `pipeline` of the
    /// result to see the layers in their order.
    ///
    /// - Parameters:
    ///   - policy: The numbers.
    ///   - breaker: Stops requests while the upstream fails; `nil` for one of this fetcher's own.
    ///   - timer: The source of time for all limits.
    /// - Returns: the outermost layer.
    public func protecting(
        by policy: UpstreamPolicy,
        breaker: CircuitBreaker? = nil,
        timer: TimerService = .continuous
    ) -> any DataFetcher {
        let breaker = breaker ?? policy.makeCircuitBreaker("upstream", timer: timer)
        return UpstreamProtection.Parts(policy, breaker: breaker, timer: timer).layers(around: self).coalescing()
    }
}

/// An error that describes an invalid number in an ``UpstreamPolicy``.
public struct UpstreamPolicyError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The invalid number and the reason, as a complete sentence.
    public let description: String

    init(_ description: String) {
        self.description = description
    }
}
