/// The policy of a circuit breaker: when the circuit opens, for how long, and what closes it.
///
/// Values outside their range are clamped to it.
///
/// ```swift
/// let policy = CircuitBreakerPolicy(window: .time(.seconds(30)), failureRateThreshold: 0.25)
/// let breaker = CircuitBreaker("users", policy: policy)
/// ```
public struct CircuitBreakerPolicy: Hashable, Sendable {
    /// The standard policy: the circuit opens if half of the last 20 requests failed, once it has counted at least 10. It stays
    /// open for 10 seconds at first, and twice as long after each failed probe, up to a minute. It closes after 3 successful
    /// probes. Slowness does not count.
    public static let standard = Self()

    /// The window of recent requests that the policy evaluates.
    public let window: Window
    /// The minimum number of requests in the window before rates are evaluated, at most the capacity of the window.
    public let minimumCalls: Int
    /// The failure rate that opens the circuit, from 0.01 to 1.
    public let failureRateThreshold: Double
    /// The definition of slow requests and the rate that opens the circuit; `nil` to ignore slowness.
    public let slowCalls: SlowCalls?
    /// How long the circuit stays open at first.
    public let openDuration: Duration
    /// How long the circuit stays open at most, after repeated probe failures.
    public let maximumOpenDuration: Duration
    /// The number of concurrent probes, all of which must succeed to close the circuit.
    public let probes: Int
    /// The criteria for failures of data fetchers. The decorator of a ``ResilientOperation`` has criteria of its own.
    public let failures: FailureCriteria

    /// Creates a policy.
    ///
    /// - Parameters:
    ///   - window: The window of recent requests that the policy evaluates.
    ///   - minimumCalls: The minimum number of requests in the window before rates are evaluated, at least 1.
    ///   - failureRateThreshold: The failure rate that opens the circuit, from 0.01 to 1.
    ///   - slowCalls: The definition of slow requests and the rate that opens the circuit; `nil` to ignore slowness. It costs
    ///     two clock reads per request. Without it, a closed circuit with a window of calls reads the clock only for failures.
    ///   - openDuration: How long the circuit stays open at first, from a millisecond to a day. A probe that takes longer loses
    ///     its permit to another request.
    ///   - maximumOpenDuration: The limit up to which the open duration doubles with each failed probe, at most a day.
    ///   - probes: The number of concurrent probes, all of which must succeed to close the circuit, from 1 to 1,000.
    ///   - failures: The criteria for failures.
    public init(
        window: Window = .calls(20),
        minimumCalls: Int = 10,
        failureRateThreshold: Double = 0.5,
        slowCalls: SlowCalls? = nil,
        openDuration: Duration = .seconds(10),
        maximumOpenDuration: Duration = .seconds(60),
        probes: Int = 3,
        failures: FailureCriteria = .standard
    ) {
        self.window = window.clamped
        self.minimumCalls = min(max(minimumCalls, 1), self.window.capacity)
        self.failureRateThreshold = Self.clamped(failureRateThreshold)
        self.slowCalls = slowCalls
        self.openDuration = Self.clamped(openDuration)
        self.maximumOpenDuration = max(self.openDuration, Self.clamped(maximumOpenDuration))
        self.probes = min(max(probes, 1), 1_000)
        self.failures = failures
    }

    /// Returns whether a response is a failure; `nil` if it did not come from the upstream and says nothing about it.
    func isFailure(_ response: DataResponse) -> Bool? {
        response.isOfSource ? failures.isFailure(response) : nil
    }

    /// Returns whether an error is a failure; `nil` if the upstream was not involved.
    func isFailure(_ error: FetchError) -> Bool? {
        guard error.wasSent || error.reason == .invalidRequest else { return nil }
        return switch error.reason.code {
        case .cancelled, .closed, .rejected, .addressRefused: nil
        case .invalidRequest: failures.isFailure(error) ? true : nil
        case .unreachable, .untrusted, .timedOut, .interrupted, .tooLarge, .tooManyRedirects, .unsuccessful,
            .unreadable:
            failures.isFailure(error)
        }
    }

    /// Returns a rate clamped to the valid range; NaN becomes 1.
    static func clamped(_ share: Double) -> Double { share <= 1 ? max(share, 0.01) : 1 }

    /// Returns a duration clamped to the valid range.
    static func clamped(_ duration: Duration) -> Duration { min(max(duration, .milliseconds(1)), .seconds(86_400)) }
}

extension CircuitBreakerPolicy {
    /// A window of recent requests.
    public enum Window: Hashable, Sendable {
        /// The given number of most recent requests, from 1 to 10,000.
        case calls(Int)
        /// Requests that ended within the given time, from a millisecond to a day. The window advances in steps of a tenth, so
        /// a request counts for 90 to 100 percent of the time.
        case time(Duration)

        /// This window, clamped to the valid range.
        var clamped: Self {
            switch self {
            case .calls(let count): .calls(min(max(count, 1), 10_000))
            case .time(let duration): .time(CircuitBreakerPolicy.clamped(duration))
            }
        }

        /// The maximum number of requests that the window counts.
        var capacity: Int {
            switch self {
            case .calls(let count): count
            case .time: .max
            }
        }

        /// Whether the window advances by time.
        var isTimed: Bool {
            switch self {
            case .calls: false
            case .time: true
            }
        }

        /// Returns the given number of requests as part of a sentence: `the last 20 requests`.
        func words(for count: Int) -> String {
            switch self {
            case .calls: "the last \(count) requests"
            case .time(let duration): "\(count) requests within \(duration)"
            }
        }
    }
}

extension CircuitBreakerPolicy {
    /// A rule that opens the circuit when too many requests are slow.
    ///
    /// ```swift
    /// let policy = CircuitBreakerPolicy(slowCalls: CircuitBreakerPolicy.SlowCalls(.seconds(2), share: 0.8))
    /// ```
    public struct SlowCalls: Hashable, Sendable {
        /// The duration from which a request counts as slow.
        public let duration: Duration
        /// The rate of slow requests that opens the circuit, from 0.01 to 1.
        public let share: Double

        /// Creates a rule for slow requests.
        ///
        /// - Parameters:
        ///   - duration: The duration from which a request counts as slow, clamped to the range from a millisecond to a day.
        ///   - share: The rate of slow requests that opens the circuit, clamped to the range from 0.01 to 1.
        public init(_ duration: Duration, share: Double = 0.5) {
            self.duration = CircuitBreakerPolicy.clamped(duration)
            self.share = CircuitBreakerPolicy.clamped(share)
        }
    }
}

/// The criteria by which circuit breakers and fallbacks recognize failures of the upstream.
///
/// Successful statuses (200 to 299) are never failures, even if you list them.
///
/// ```swift
/// let criteria = FailureCriteria(reasons: [.unreachable, .timedOut], statuses: 500...599)
/// let policy = CircuitBreakerPolicy(failures: criteria)
/// ```
public struct FailureCriteria: Hashable, Sendable {
    /// The upstream could not be reached or trusted, the response was late or incomplete, or the status is a server error (500
    /// to 599).
    public static let standard = Self(
        reasons: [.unreachable, .untrusted, .timedOut, .interrupted],
        statuses: 500...599
    )

    /// The failures of ``standard``, and requests that a limit or an open circuit rejected.
    public static let unavailable = Self(
        reasons: standard.reasons.union([.rejected]),
        statuses: standard.statuses
    )

    /// The error reasons that count as failures.
    public var reasons: Set<FetchError.Reason>
    /// The statuses that count as failures, in responses and in errors created from responses.
    public var statuses: Set<DataResponse.Status>

    /// Creates criteria from error reasons and statuses.
    public init(reasons: Set<FetchError.Reason> = [], statuses: Set<DataResponse.Status> = []) {
        self.reasons = reasons
        self.statuses = statuses
    }

    /// Creates criteria from error reasons and a range of status codes.
    ///
    /// - Parameters:
    ///   - reasons: The error reasons that count as failures.
    ///   - codes: The status codes that count as failures. Codes outside 0 to 999 are ignored.
    public init(reasons: Set<FetchError.Reason> = [], statuses codes: ClosedRange<Int>) {
        self.init(reasons: reasons, statuses: Set(codes.clamped(to: 0...999).map { DataResponse.Status($0) }))
    }

    /// Returns whether a status is a failure.
    ///
    /// - Complexity: O(1).
    public func isFailure(_ status: DataResponse.Status) -> Bool {
        !status.isSuccess && statuses.contains(status)
    }

    /// Returns whether a response is a failure, judging by its status.
    ///
    /// - Complexity: O(1).
    public func isFailure(_ response: DataResponse) -> Bool { isFailure(response.status) }

    /// Returns whether an error is a failure, judging by its reason or by the status of the response it was created from.
    ///
    /// - Complexity: O(1).
    public func isFailure(_ error: FetchError) -> Bool {
        if reasons.contains(error.reason) { return true }
        return error.status.map { isFailure($0) } ?? false
    }
}
