public import InwardFetching

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
    public let maximumWait: Duration
    /// The longest wait that a `Retry-After` is honoured for: behind it, the upstream is asked again.
    public let maximumRetryAfter: Duration
    /// How many writes are under way at most, each of another subject.
    public let concurrency: Int
    /// How long one attempt may take before it is given up.
    public let attemptLimit: Duration
    /// After how many attempts in vain a write that is still not delivered is told to the error handler, once.
    public let reportedAttempts: Int

    /// How many writes may be pending, beyond which none is accepted: what is pending is in memory, too.
    public let maximumPending: Int
    /// How many bytes one write may have.
    public let maximumWriteBytes: Int
    /// How many bytes all pending writes may have together, beyond which none is accepted.
    public let maximumPendingBytes: Int
    /// How many refused writes are kept. Beyond that no write is accepted, so that none has to be dropped.
    public let maximumDeadLetters: Int
    /// How many bytes the refused writes may have, likewise.
    public let maximumDeadLetterBytes: Int
    /// After how many refusals of different subjects in a row delivery is paused.
    public let refusalsBeforePause: Int
    /// How long the first pause is. Each refused probe doubles it.
    public let initialPause: Duration
    /// The longest pause.
    public let maximumPause: Duration

    private let jitter: Jitter

    /// Makes a policy. A duration below zero counts as zero, and one of more than a year as a year.
    ///
    /// - Parameters:
    ///   - initialWait: The longest wait before the second attempt.
    ///   - factor: By how much that grows with each attempt, from 1 to 100. Another number counts as the nearest.
    ///   - maximumWait: The longest wait before any attempt.
    ///   - maximumRetryAfter: The longest wait that a `Retry-After` is honoured for.
    ///   - concurrency: How many writes are under way at most; at least 1.
    ///   - attemptLimit: How long one attempt may take.
    ///   - reportedAttempts: After how many attempts in vain a write is told to the error handler; at least 1.
    ///   - maximumPending: How many writes may be pending; at least 1.
    ///   - maximumWriteBytes: How many bytes one write may have; at least 1.
    ///   - maximumPendingBytes: How many bytes all pending writes may have together; at least 1.
    ///   - maximumDeadLetters: How many refused writes are kept before no more writes are accepted; at least 1.
    ///   - maximumDeadLetterBytes: How many bytes the refused writes may have, likewise; at least 1.
    ///   - refusalsBeforePause: After how many refusals of different subjects in a row delivery is paused; at least 1.
    ///   - initialPause: How long the first pause is.
    ///   - maximumPause: The longest pause.
    ///   - jitter: The chance by which a wait is shorter than its limit.
    public init(
        initialWait: Duration = .seconds(1),
        factor: Double = 2,
        maximumWait: Duration = .seconds(300),
        maximumRetryAfter: Duration = .seconds(86_400),
        concurrency: Int = 4,
        attemptLimit: Duration = .seconds(60),
        reportedAttempts: Int = 10,
        maximumPending: Int = 100_000,
        maximumWriteBytes: Int = 1 << 20,
        maximumPendingBytes: Int = 64 << 20,
        maximumDeadLetters: Int = 10_000,
        maximumDeadLetterBytes: Int = 64 << 20,
        refusalsBeforePause: Int = 5,
        initialPause: Duration = .seconds(60),
        maximumPause: Duration = .seconds(3_600),
        jitter: Jitter = .random
    ) {
        self.initialWait = Self.clamped(initialWait)
        self.factor = factor >= 1 ? min(factor, 100) : 1
        self.maximumWait = Self.clamped(maximumWait)
        self.maximumRetryAfter = Self.clamped(maximumRetryAfter)
        self.concurrency = max(1, concurrency)
        self.attemptLimit = Self.clamped(attemptLimit)
        self.reportedAttempts = max(1, reportedAttempts)
        self.maximumPending = max(1, maximumPending)
        self.maximumWriteBytes = max(1, maximumWriteBytes)
        self.maximumPendingBytes = max(1, maximumPendingBytes)
        self.maximumDeadLetters = max(1, maximumDeadLetters)
        self.maximumDeadLetterBytes = max(1, maximumDeadLetterBytes)
        self.refusalsBeforePause = max(1, refusalsBeforePause)
        self.initialPause = Self.clamped(initialPause)
        self.maximumPause = Self.clamped(maximumPause)
        self.jitter = jitter
    }

    /// How long to wait behind so many attempts in vain, at least 1, of which the upstream may have said how long.
    func wait(after attempts: Int, retryAfter: Duration?) -> Duration {
        let backoff = Backoff(base: initialWait, factor: factor, maximum: maximumWait)
        let wait = backoff.delay(after: attempts, fraction: jitter.fraction())
        return max(wait, min(Self.clamped(retryAfter ?? .zero), maximumRetryAfter))
    }

    /// How much of a wait is left that an earlier process began, whatever the clock says.
    func rest(of seconds: Double) -> Duration {
        let longest = max(maximumWait, maximumRetryAfter)
        // NaN counts as zero. What is kept of a time is its milliseconds.
        let milliseconds = (max(0, min(seconds, 31_536_000)) * 1_000).rounded()
        return min(.milliseconds(Int64(milliseconds)), longest)
    }

    private static func clamped(_ duration: Duration) -> Duration { min(max(.zero, duration), Backoff.longest) }
}
