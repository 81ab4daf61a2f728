public import InwardCore

/// The timeouts, retries and limits for an upstream. The initializer validates them, so every policy is valid.
///
/// ```swift
/// let policy = try UpstreamPolicy(attemptTimeLimit: .seconds(2), attempts: 2)
/// let orders = client.protecting(by: policy, breaker: policy.makeCircuitBreaker("orders"))
/// ```
///
/// Protect each upstream once, with a circuit breaker of its own, and share the protected fetcher among all sessions. To
/// replace the policy at run time, use an ``UpstreamProtection``.
public struct UpstreamPolicy: Hashable, Sendable {
    /// The default policy: up to 3 attempts of 5 seconds each, 20 seconds in total, retries for a fifth of the requests, 64
    /// concurrent and 256 waiting requests, no rate limit, and a circuit that opens for 10 seconds when half of the requests fail.
    public static let standard = Self()

    /// How long one attempt may take, from connecting to the end of the body.
    public private(set) var attemptTimeLimit = Duration.seconds(5)
    /// How long all attempts and waits for one request may take together.
    public private(set) var requestTimeLimit = Duration.seconds(20)
    /// The maximum number of attempts for one request, including the first.
    public private(set) var attempts = 3
    /// The share of recent requests that may be retried, from 0 to 1. With 0, nothing is retried.
    public private(set) var retryShare = 0.2
    /// The maximum number of concurrent requests, for all sessions together.
    public private(set) var concurrency = 64
    /// The maximum number of requests that wait in the queue. Further requests are rejected.
    public private(set) var queue = 256
    /// The maximum number of requests per second, for all sessions together; `nil` for no limit.
    public private(set) var requestsPerSecond: Int?
    /// The failure rate that opens the circuit, from 0.01 to 1.
    public private(set) var failureRateThreshold = 0.5
    /// How long the circuit stays open before it permits a probe.
    public private(set) var openDuration = Duration.seconds(10)
    /// The header field in which the upstream receives the remaining milliseconds; `nil` to send none.
    public private(set) var deadlineField: HeaderField.Name?

    /// Creates a policy.
    ///
    /// - Parameters:
    ///   - attemptTimeLimit: How long one attempt may take, from connecting to the end of the body. Must be greater than zero.
    ///   - requestTimeLimit: How long all attempts and waits for one request may take together. Must be greater than zero.
    ///   - attempts: The maximum number of attempts for one request, including the first, at least 1.
    ///   - retryShare: The share of recent requests that may be retried, from 0 to 1. With 0, nothing is retried.
    ///   - concurrency: The maximum number of concurrent requests, for all sessions together, at least 1.
    ///   - queue: The maximum number of requests that wait in the queue, at least 0. Further requests are rejected.
    ///   - requestsPerSecond: The maximum number of requests per second, for all sessions together, at least 1; `nil` for no
    ///     limit.
    ///   - failureRateThreshold: The failure rate that opens the circuit, from 0.01 to 1.
    ///   - openDuration: How long the circuit stays open before it permits a probe. Must be greater than zero.
    ///   - deadlineField: The header field in which the upstream receives the remaining milliseconds; `nil` to send none.
    /// - Throws: An ``UpstreamPolicyError`` that names the first invalid setting and its valid range.
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
        try Self.check(attemptTimeLimit > .zero, "The time limit of an attempt must be greater than zero.")
        try Self.check(requestTimeLimit > .zero, "The time limit of a request must be greater than zero.")
        try Self.check(attempts >= 1, "The number of attempts must be at least 1.")
        try Self.check((0...1).contains(retryShare), "The retry share must be from 0 to 1.")
        try Self.check(concurrency >= 1, "The concurrency must be at least 1.")
        try Self.check(queue >= 0, "The queue must be at least 0.")
        try Self.check(requestsPerSecond ?? 1 >= 1, "The number of requests per second must be at least 1.")
        try Self.check(
            (0.01...1).contains(failureRateThreshold),
            "The failure rate threshold must be from 0.01 to 1."
        )
        try Self.check(openDuration > .zero, "The open duration must be greater than zero.")
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
    /// Returns a circuit breaker with the failure rate threshold and the open duration of this policy.
    ///
    /// - Parameters:
    ///   - name: The name in messages and for observers.
    ///   - timer: The source of time.
    /// - Returns: The circuit breaker.
    public func makeCircuitBreaker(_ name: String, timer: TimerService = .continuous) -> CircuitBreaker {
        CircuitBreaker(name, policy: circuitBreakerPolicy, timer: timer)
    }
}

extension DataFetcher {
    /// Returns this fetcher inside the layers that protect an upstream and its callers: coalescing, timeouts, retries with a
    /// budget, a circuit breaker, and limits.
    ///
    /// ```swift
    /// let orders = client.protecting(by: .standard)
    /// print(orders.pipeline)
    /// ```
    ///
    /// Share the returned fetcher among all sessions. Each session adds its credentials and its cache around it.
    ///
    /// - Parameters:
    ///   - policy: The configuration of the layers.
    ///   - breaker: The circuit breaker; `nil` to create one for this fetcher alone.
    ///   - timer: The source of time for all limits.
    /// - Returns: The outermost layer.
    public func protecting(
        by policy: UpstreamPolicy,
        breaker: CircuitBreaker? = nil,
        timer: TimerService = .continuous
    ) -> any DataFetcher {
        let breaker = breaker ?? policy.makeCircuitBreaker("upstream", timer: timer)
        return UpstreamProtection.Parts(policy, breaker: breaker, timer: timer).layers(around: self).coalescing()
    }
}

/// An error that describes an invalid setting of an ``UpstreamPolicy``.
///
/// ```swift
/// do throws(UpstreamPolicyError) {
///     _ = try UpstreamPolicy(attempts: 0)
/// } catch {
///     print(error)  // The number of attempts must be at least 1.
/// }
/// ```
public struct UpstreamPolicyError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The setting and its valid range, as a complete sentence.
    public let description: String

    init(_ description: String) {
        self.description = description
    }
}
