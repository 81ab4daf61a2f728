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
