import Synchronization

/// A policy that decides which requests are retried, how often, and after which delay.
///
/// The delay is random, up to a limit that doubles with each attempt (exponential backoff with full jitter). If the upstream
/// sends `Retry-After`, that is added to the delay.
///
/// ```swift
/// let users = client.retrying(RetryPolicy(attempts: 5, baseDelay: .milliseconds(200)))
/// ```
public struct RetryPolicy: Sendable {
    /// The default policy: up to 3 attempts, after delays of up to 100 and 200 milliseconds. Each access creates a budget.
    public static var standard: Self { Self() }

    /// The failures that are retried by default: the upstream was unreachable, or the response was late or incomplete.
    public static let standardReasons: Set<FetchError.Reason> = [.unreachable, .timedOut, .interrupted]

    /// The statuses that are retried by default: 408, 425, 429, 500, 502, 503 and 504.
    public static let standardStatuses: Set<DataResponse.Status> = [408, 425, 429, 500, 502, 503, 504]

    /// Failures that are never retried, because a retry cannot help or must not happen.
    private static let finalReasons: Set<FetchError.Reason> = [
        .cancelled, .closed, .rejected, .invalidRequest, .addressRefused,
    ]

    /// The number of attempts and the delays.
    let schedule: RetrySchedule
    private let reasons: Set<FetchError.Reason>
    private let statuses: Set<DataResponse.Status>
    private let isRepeatable: @Sendable (DataRequest) -> Bool

    /// Creates a policy. Negative durations count as zero, and durations of more than a year as a year.
    ///
    /// - Parameters:
    ///   - attempts: The maximum number of attempts, including the first; values below 1 count as 1.
    ///   - baseDelay: The maximum delay before the second attempt, not counting a `Retry-After`.
    ///   - maximumDelay: The maximum delay before any attempt, not counting a `Retry-After`.
    ///   - maximumRetryAfter: The longest `Retry-After` that is honored. If the upstream asks for more, the request is not
    ///     retried.
    ///   - budget: The budget for retries, to share among all policies for the same upstream; `nil` to limit only the number
    ///     of attempts.
    ///   - jitter: The source of randomness for delays.
    ///   - reasons: The failures to retry. ``FetchError/Reason/cancelled``, ``FetchError/Reason/closed``,
    ///     ``FetchError/Reason/rejected``, ``FetchError/Reason/invalidRequest`` and ``FetchError/Reason/addressRefused`` are
    ///     never retried.
    ///   - statuses: The statuses to retry. Successful ones are never retried.
    ///   - isRepeatable: Returns whether it is harmless if a request takes effect more than once. It is not called for requests
    ///     that never reached the upstream.
    public init(
        attempts: Int = 3,
        baseDelay: Duration = .milliseconds(100),
        maximumDelay: Duration = .seconds(10),
        maximumRetryAfter: Duration = .seconds(30),
        budget: RetryBudget? = RetryBudget(),
        jitter: Jitter = .random,
        reasons: Set<FetchError.Reason> = standardReasons,
        statuses: Set<DataResponse.Status> = standardStatuses,
        isRepeatable: @escaping @Sendable (DataRequest) -> Bool = { $0.isIdempotent }
    ) {
        schedule = RetrySchedule(
            attempts: attempts,
            baseDelay: baseDelay,
            maximumDelay: maximumDelay,
            maximumRetryAfter: maximumRetryAfter,
            budget: budget,
            jitter: jitter
        )
        self.reasons = reasons.subtracting(Self.finalReasons)
        self.statuses = statuses
        self.isRepeatable = isRepeatable
    }

    /// The maximum number of attempts, including the first; at least 1.
    public var attempts: Int { schedule.attempts }
    /// The longest `Retry-After` that is honored.
    public var maximumRetryAfter: Duration { schedule.maximumRetryAfter }
    /// The budget for retries; `nil` to limit only the number of attempts.
    public var budget: RetryBudget? { schedule.budget }

    /// Returns the reason why a request must not be retried, regardless of timing; `nil` if it may be.
    func objection(
        to request: DataRequest,
        after attempts: Int,
        because outcome: Result<DataResponse, FetchError>
    ) -> RetryEnding? {
        guard isRetried(outcome) else { return .unsuited }
        if case .failure(let error) = outcome, error.reason == .unreachable || !error.wasSent {
            // The upstream did not see the request, so any method can be repeated.
        } else if !isRepeatable(request) {
            return .unrepeatable
        }
        return schedule.objection(after: attempts)
    }

    private func isRetried(_ outcome: Result<DataResponse, FetchError>) -> Bool {
        switch outcome {
        case .success(let response): !response.status.isSuccess && statuses.contains(response.status)
        case .failure(let error): reasons.contains(error.reason) || error.status.map(statuses.contains) ?? false
        }
    }
}

extension DataRequest {
    /// Whether repeating the request has the same effect as sending it once.
    ///
    /// This is true for the idempotent methods of RFC 9110 section 9.2.2, and for any request with an
    /// ``HeaderField/Name/idempotencyKey``, by which the upstream recognizes repetitions.
    public var isIdempotent: Bool {
        Self.idempotentMethods.contains(method.rawValue)
            || headerFields.contains { $0.name == .idempotencyKey && !$0.value.isEmpty }
    }

    private static let idempotentMethods: Set<String> = ["DELETE", "GET", "HEAD", "OPTIONS", "PUT", "TRACE"]
}

/// A schedule that decides how often a failed operation is retried, and after which delay.
///
/// The delay is random, up to a limit that doubles with each attempt (exponential backoff with full jitter). If a failure asks
/// for a wait, that is added to the delay.
///
/// ```swift
/// let countUsers = ResilientOperation("the user count") { (region: String) in region.count }
///     .retrying(RetrySchedule(attempts: 5, baseDelay: .milliseconds(200))) { _ in .again }
/// ```
///
/// A ``RetryPolicy`` is such a schedule for a data fetcher, together with the outcomes that it retries.
public struct RetrySchedule: Sendable {
    /// The default schedule. Each access creates a retry budget of its own.
    public static var standard: Self { Self() }

    /// The maximum number of attempts, including the first; at least 1.
    public let attempts: Int
    /// The longest wait that a failure may ask for.
    public let maximumRetryAfter: Duration
    /// The budget for retries; `nil` to limit only the number of attempts.
    public let budget: RetryBudget?

    private let backoff: Backoff
    let jitter: Jitter

    /// Creates a schedule. Negative durations count as zero, and durations of more than a year as a year.
    ///
    /// - Parameters:
    ///   - attempts: The maximum number of attempts, including the first; values below 1 count as 1.
    ///   - baseDelay: The maximum delay before the second attempt, not counting a wait that the failure asks for.
    ///   - maximumDelay: The maximum delay before any attempt, not counting a wait that the failure asks for.
    ///   - maximumRetryAfter: The longest wait that a failure may ask for. If it asks for more, the operation is not retried.
    ///   - budget: The budget for retries, to share among all retries to the same upstream; `nil` to limit only the number of
    ///     attempts.
    ///   - jitter: The source of randomness for delays.
    public init(
        attempts: Int = 3,
        baseDelay: Duration = .milliseconds(100),
        maximumDelay: Duration = .seconds(10),
        maximumRetryAfter: Duration = .seconds(30),
        budget: RetryBudget? = RetryBudget(),
        jitter: Jitter = .random
    ) {
        self.attempts = max(1, attempts)
        self.maximumRetryAfter = min(max(.zero, maximumRetryAfter), Backoff.longest)
        self.budget = budget
        self.jitter = jitter
        backoff = Backoff(base: baseDelay, maximum: maximumDelay)
    }

    /// Returns the reason why no further attempt may follow, whatever the outcome; `nil` if one may.
    func objection(after attempts: Int) -> RetryEnding? { attempts < self.attempts ? nil : .attemptsExhausted }

    /// Decides when to retry an operation that may be retried.
    ///
    /// - Parameters:
    ///   - attempts: The number of attempts so far.
    ///   - retryAfter: The delay that the upstream asked for, if any.
    ///   - remaining: The time until the deadline; `nil` without one.
    ///   - fraction: A random number from 0 up to but not including 1.
    /// - Returns: The delay, or the reason not to retry.
    func decision(
        after attempts: Int,
        retryAfter: Duration?,
        remaining: Duration?,
        fraction: Double
    ) -> RetryDecision {
        if let retryAfter, retryAfter > maximumRetryAfter { return .end(.retryAfterTooLong(retryAfter)) }
        // The upstream asks all its clients for the same delay. The random part spreads them.
        let delay = (retryAfter ?? .zero) + backoff.delay(after: attempts, fraction: fraction)
        // The attempt needs some time too.
        if let remaining, remaining <= delay { return .end(.deadline) }
        return .retry(after: delay)
    }
}

/// The decision whether to retry an operation.
enum RetryDecision: Hashable, Sendable {
    /// Retry after a delay.
    case retry(after: Duration)
    /// Do not retry.
    case end(RetryEnding)
}

/// An exponential backoff with full jitter: random delays up to a limit that grows with each attempt.
package struct Backoff: Hashable, Sendable {
    /// The maximum delay, so that no calculation overflows.
    package static let longest = Duration.seconds(31_536_000)

    private let base: Duration
    private let factor: Double
    private let maximum: Duration

    /// Creates a backoff whose limit is `base` after the first attempt, and is multiplied by `factor` after each further one,
    /// up to `maximum`.
    package init(base: Duration, factor: Double = 2, maximum: Duration) {
        self.base = min(max(.zero, base), Self.longest)
        self.factor = factor
        self.maximum = min(max(.zero, maximum), Self.longest)
    }

    /// Returns the delay after a number of attempts.
    ///
    /// - Parameters:
    ///   - attempts: The number of attempts so far, at least 1.
    ///   - fraction: A fraction from 0 up to but not including 1.
    /// - Returns: That fraction of the maximum delay.
    package func delay(after attempts: Int, fraction: Double) -> Duration { limit(after: attempts) * fraction }

    private func limit(after attempts: Int) -> Duration {
        var limit = base
        var growths = attempts - 1
        while growths > 0, factor > 1, limit > .zero, limit < maximum {
            limit = limit * factor
            growths -= 1
        }
        return min(limit, maximum)
    }
}

/// A source of random delays, so that clients that fail together do not retry together.
///
/// ```swift
/// let longest = RetryPolicy(jitter: Jitter { 1 })  // Always the maximum delay, for example in a test.
/// ```
public struct Jitter: Sendable {
    private final class Source<Generator: RandomNumberGenerator & Sendable>: Sendable {
        private let generator: Mutex<Generator>

        init(_ generator: Generator) {
            self.generator = Mutex(generator)
        }

        package func fraction() -> Double { generator.withLock { Double.random(in: 0..<1, using: &$0) } }
    }

    /// Unpredictable jitter from the system's random number generator.
    public static let random = Self { Double.random(in: 0..<1) }

    private let draw: @Sendable () -> Double

    /// Creates jitter from a function that returns a new number from 0 up to but not including 1 on each call.
    ///
    /// Numbers below the range and NaN count as 0; numbers above it count as the largest number below 1.
    public init(_ draw: @escaping @Sendable () -> Double) {
        self.draw = draw
    }

    /// Creates jitter from a random number generator, such as a seeded one in a test.
    public init(_ generator: some RandomNumberGenerator & Sendable) {
        self.init(Source(generator).fraction)
    }

    /// Returns a number from 0 up to but not including 1.
    package func fraction() -> Double {
        let fraction = draw()
        return fraction > 0 ? min(fraction, 1.0.nextDown) : 0
    }
}
