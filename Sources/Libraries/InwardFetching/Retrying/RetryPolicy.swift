/// A policy that determines which requests are retried, how often, and after which delay.
///
/// The delay is random, up to a limit that doubles with each attempt (exponential backoff with full jitter). If the upstream
/// specifies a `Retry-After`, the delay is added to it.
///
///     let fetcher = base.retrying(RetryPolicy(attempts: 5, baseDelay: .milliseconds(200)))
public struct RetryPolicy: Sendable {
    /// The default policy. Each access creates a retry budget of its own.
    public static var standard: Self { Self() }

    /// The failures that are retried by default: the upstream was unreachable, or the response was late or incomplete.
    public static let standardReasons: Set<FetchError.Reason> = [.unreachable, .timedOut, .interrupted]

    /// The statuses that are retried by default: 408, 425, 429, 500, 502, 503 and 504.
    public static let standardStatuses: Set<DataResponse.Status> = [408, 425, 429, 500, 502, 503, 504]

    /// Failures that are never retried, because a retry cannot help or must not happen.
    private static let finalReasons: Set<FetchError.Reason> = [.cancelled, .closed, .rejected, .invalidRequest]

    /// How often, and after which delay.
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
    ///   - maximumRetryAfter: The longest `Retry-After` that is honoured. If the upstream asks for more, the request is not
    ///     retried.
    ///   - budget: The budget for retries, to share among all policies for the same upstream; `nil` to limit only the number
    ///     of attempts.
    ///   - jitter: The source of randomness for delays.
    ///   - reasons: The failures to retry. ``FetchError/Reason/cancelled``, ``FetchError/Reason/closed``,
    ///     ``FetchError/Reason/rejected`` and ``FetchError/Reason/invalidRequest`` are never retried.
    ///   - statuses: The statuses to retry. Successful ones are never retried.
    ///   - isRepeatable: Returns whether a request may take effect more than once. It is not called if the upstream was not
    ///     reached.
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
    /// The longest `Retry-After` that is honoured.
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
            // The request had no effect.
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
    /// This applies to the idempotent methods of RFC 9110 section 9.2.2, and to requests with any method that have a
    /// ``HeaderField/Name/idempotencyKey``, by which the upstream recognizes repetitions.
    public var isIdempotent: Bool {
        Self.idempotentMethods.contains(method.rawValue)
            || headerFields.contains { $0.name == .idempotencyKey && !$0.value.isEmpty }
    }

    private static let idempotentMethods: Set<String> = ["DELETE", "GET", "HEAD", "OPTIONS", "PUT", "TRACE"]
}
