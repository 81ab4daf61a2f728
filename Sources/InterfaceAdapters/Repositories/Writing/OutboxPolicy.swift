/// How an ``Outbox`` delivers: how many writes at once, and how long it waits before it sends one again.
///
/// A wait is as long as chance has it, up to a limit that grows with each attempt (exponential backoff with full jitter). Where
/// the upstream says when to ask again (`Retry-After`), at least that long is waited. There is no last attempt: what was accepted
/// is sent until the upstream answers for good.
public struct OutboxPolicy: Sendable {
    /// The policy with every default.
    public static var standard: Self { Self() }

    /// The longest wait before the second attempt, unless the upstream asks for more.
    public let initialWait: Duration
    /// By how much that grows with each attempt.
    public let factor: Double
    /// The longest wait before any attempt, likewise.
    public let largestWait: Duration
    /// The longest wait that a `Retry-After` is honoured for: behind it, the upstream is asked again.
    public let largestRetryAfter: Duration
    /// How many writes are under way at most, each of another subject.
    public let concurrency: Int
    /// How long one attempt may take before it is given up.
    public let attemptLimit: Duration
    /// After how many attempts in vain a write that is still not delivered is told to the error handler, once.
    public let reportedAttempts: Int

    /// How many writes may be pending, beyond which none is accepted: what is pending is in memory, too.
    public let mostPending: Int

    private let jitter: Jitter

    /// Makes a policy. A duration below zero counts as zero, and one of more than a year as a year.
    ///
    /// - Parameters:
    ///   - initialWait: The longest wait before the second attempt.
    ///   - factor: By how much that grows with each attempt, from 1 to 100. Another number counts as the nearest.
    ///   - largestWait: The longest wait before any attempt.
    ///   - largestRetryAfter: The longest wait that a `Retry-After` is honoured for.
    ///   - concurrency: How many writes are under way at most; at least 1.
    ///   - attemptLimit: How long one attempt may take.
    ///   - reportedAttempts: After how many attempts in vain a write is told to the error handler; at least 1.
    ///   - mostPending: How many writes may be pending; at least 1.
    ///   - jitter: The chance by which a wait is shorter than its limit.
    public init(
        initialWait: Duration = .seconds(1),
        factor: Double = 2,
        largestWait: Duration = .seconds(300),
        largestRetryAfter: Duration = .seconds(86_400),
        concurrency: Int = 4,
        attemptLimit: Duration = .seconds(60),
        reportedAttempts: Int = 10,
        mostPending: Int = 100_000,
        jitter: Jitter = .random
    ) {
        self.initialWait = Self.clamped(initialWait)
        self.factor = factor >= 1 ? min(factor, 100) : 1
        self.largestWait = Self.clamped(largestWait)
        self.largestRetryAfter = Self.clamped(largestRetryAfter)
        self.concurrency = max(1, concurrency)
        self.attemptLimit = Self.clamped(attemptLimit)
        self.reportedAttempts = max(1, reportedAttempts)
        self.mostPending = max(1, mostPending)
        self.jitter = jitter
    }

    /// How long to wait behind so many attempts in vain, at least 1, of which the upstream may have said how long.
    func wait(after attempts: Int, retryAfter: Duration?) -> Duration {
        let wait = limit(after: attempts) * jitter.fraction()
        return max(wait, min(Self.clamped(retryAfter ?? .zero), largestRetryAfter))
    }

    private func limit(after attempts: Int) -> Duration {
        var limit = initialWait
        var growths = attempts - 1
        while growths > 0, factor > 1, limit > .zero, limit < largestWait {
            limit = limit * factor
            growths -= 1
        }
        return min(limit, largestWait)
    }

    private static func clamped(_ duration: Duration) -> Duration { min(max(.zero, duration), Backoff.longest) }
}
