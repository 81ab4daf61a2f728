import Synchronization

/// Which requests are tried again, how often, and after how long.
///
/// A wait is as long as chance has it, up to a limit that doubles with each attempt (exponential backoff with full jitter). Where
/// the upstream says when to ask again (`Retry-After`), that long is waited first.
public struct RetryPolicy: Sendable {
    /// The policy with every default, and a retry budget of its own each time it is asked for.
    public static var standard: Self { Self() }

    /// The failures that are retried by default: nobody was reached, or the answer did not come in time or not whole.
    public static let standardReasons: Set<FetchError.Reason> = [.unreachable, .timedOut, .interrupted]

    /// The statuses that are retried by default: 408, 425, 429, 500, 502, 503 and 504.
    public static let standardStatuses: Set<DataResponse.Status> = [408, 425, 429, 500, 502, 503, 504]

    /// What a retry is no help against, or what says that there shall be none.
    private static let finalReasons: Set<FetchError.Reason> = [.cancelled, .closed, .rejected, .invalidRequest]

    /// The most attempts that are made, the first included; at least 1.
    public let attempts: Int
    /// The longest wait that a `Retry-After` is honoured for.
    public let maximumRetryAfter: Duration
    /// What the retries are paid from; `nil` for as many as there are attempts.
    public let budget: RetryBudget?

    private let backoff: Backoff
    let jitter: Jitter
    private let reasons: Set<FetchError.Reason>
    private let statuses: Set<DataResponse.Status>
    private let isRepeatable: @Sendable (DataRequest) -> Bool

    /// Makes a policy. A duration below zero counts as zero, and one of more than a year as a year.
    ///
    /// - Parameters:
    ///   - attempts: The most attempts that are made, the first included; less than 1 counts as 1.
    ///   - baseDelay: The longest wait before the second attempt, unless the upstream asks for more.
    ///   - maximumDelay: The longest wait before any attempt, likewise.
    ///   - maximumRetryAfter: The longest wait that a `Retry-After` is honoured for. If the upstream asks for a longer one,
    ///     there is no other attempt.
    ///   - budget: What the retries are paid from: share it among all who ask one upstream. `nil` for no limit but that of
    ///     the attempts.
    ///   - jitter: The chance by which a wait is shorter than its limit.
    ///   - reasons: The failures that are retried. ``FetchError/Reason/cancelled``, ``FetchError/Reason/closed``,
    ///     ``FetchError/Reason/rejected`` and ``FetchError/Reason/invalidRequest`` never are.
    ///   - statuses: The statuses that are retried; one of success never is.
    ///   - isRepeatable: Whether a request may be done more than once. Where nobody was reached, it is not asked.
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
        self.attempts = max(1, attempts)
        self.maximumRetryAfter = min(max(.zero, maximumRetryAfter), Backoff.longest)
        self.budget = budget
        self.jitter = jitter
        self.reasons = reasons.subtracting(Self.finalReasons)
        self.statuses = statuses
        self.isRepeatable = isRepeatable
        backoff = Backoff(base: baseDelay, maximum: maximumDelay)
    }

    /// Why a request is not to be tried again, whatever the time; `nil` if it may be.
    func objection(
        to request: DataRequest,
        after attempts: Int,
        because outcome: Result<DataResponse, FetchError>
    ) -> RetryEnding? {
        guard isRetried(outcome) else { return .unsuited }
        if case .failure(let error) = outcome, error.reason == .unreachable || !error.wasSent {
            // Nothing was done by it.
        } else if !isRepeatable(request) {
            return .unrepeatable
        }
        return attempts < self.attempts ? nil : .attemptsExhausted
    }

    /// Decides when a request that may be tried again is.
    ///
    /// - Parameters:
    ///   - attempts: How many attempts were made.
    ///   - retryAfter: How long the upstream asked to wait, if it did.
    ///   - remaining: How much time the deadline leaves; `nil` without one.
    ///   - fraction: Chance, from 0 up to but not including 1.
    /// - Returns: after how long, or why not.
    func decision(
        after attempts: Int,
        retryAfter: Duration?,
        remaining: Duration?,
        fraction: Double
    ) -> RetryDecision {
        if let retryAfter, retryAfter > maximumRetryAfter { return .end(.retryAfterTooLong(retryAfter)) }
        // On top of what was asked for, because everybody was asked for the same.
        let delay = (retryAfter ?? .zero) + backoff.delay(after: attempts, fraction: fraction)
        // When the wait is over there is to be some time for the attempt.
        if let remaining, remaining <= delay { return .end(.deadline) }
        return .retry(after: delay)
    }

    private func isRetried(_ outcome: Result<DataResponse, FetchError>) -> Bool {
        switch outcome {
        case .success(let response): !response.status.isSuccess && statuses.contains(response.status)
        case .failure(let error): reasons.contains(error.reason) || error.status.map(statuses.contains) ?? false
        }
    }
}

/// Whether a request is tried again.
enum RetryDecision: Hashable, Sendable {
    /// It is, after a while.
    case retry(after: Duration)
    /// It is not.
    case end(RetryEnding)
}

extension DataRequest {
    /// Whether it makes no difference if the request is done once or more than once.
    ///
    /// So it is for the idempotent methods of RFC 9110 section 9.2.2, and for a request of any method that has a key in
    /// ``HeaderField/Name/idempotencyKey``, which its source knows the repeats by.
    public var isIdempotent: Bool {
        Self.idempotentMethods.contains(method.rawValue)
            || headerFields.contains { $0.name == .idempotencyKey && !$0.value.isEmpty }
    }

    private static let idempotentMethods: Set<String> = ["DELETE", "GET", "HEAD", "OPTIONS", "PUT", "TRACE"]
}

/// How long to wait before a request is tried again: a while by chance, up to a limit that doubles with each attempt.
package struct Backoff: Hashable, Sendable {
    /// No wait is longer, so that none is too long for a number.
    package static let longest = Duration.seconds(31_536_000)

    private let base: Duration
    private let factor: Double
    private let maximum: Duration

    /// Creates a backoff whose limit is `base` after the first attempt, grows by `factor` with each further one, and ends at
    /// `maximum`.
    package init(base: Duration, factor: Double = 2, maximum: Duration) {
        self.base = min(max(.zero, base), Self.longest)
        self.factor = factor
        self.maximum = min(max(.zero, maximum), Self.longest)
    }

    /// Tells how long to wait behind so many attempts.
    ///
    /// - Parameters:
    ///   - attempts: How many attempts were made, at least 1.
    ///   - fraction: From 0 up to but not including 1.
    /// - Returns: that fraction of the most the wait can be.
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

/// Where chance comes from, so that those who fail together do not come back together.
public struct Jitter: Sendable {
    private final class Source<Generator: RandomNumberGenerator & Sendable>: Sendable {
        private let generator: Mutex<Generator>

        init(_ generator: Generator) {
            self.generator = Mutex(generator)
        }

        package func fraction() -> Double { generator.withLock { Double.random(in: 0..<1, using: &$0) } }
    }

    /// Chance that nobody can tell in advance: the system's generator.
    public static let random = Self { Double.random(in: 0..<1) }

    private let draw: @Sendable () -> Double

    /// Makes jitter of a function that gives another number from 0 up to but not including 1 each time.
    ///
    /// A number below counts as 0, one above as the largest below 1, and what is no number as 0.
    public init(_ draw: @escaping @Sendable () -> Double) {
        self.draw = draw
    }

    /// Makes jitter that follows from a generator, such as one with a seed in a test.
    public init(_ generator: some RandomNumberGenerator & Sendable) {
        self.init(Source(generator).fraction)
    }

    /// Another number from 0 up to but not including 1.
    package func fraction() -> Double {
        let fraction = draw()
        return fraction > 0 ? min(fraction, 1.0.nextDown) : 0
    }
}
