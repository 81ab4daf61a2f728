public import InwardFetching

/// The limits of an ``Outbox``: concurrency, waits between attempts, and storage.
///
/// ```swift
/// let policy = OutboxPolicy(initialWait: .seconds(2), concurrency: 8, maximumPending: 1_000)
/// ```
///
/// The wait before an attempt is random, up to a limit that grows with each attempt (exponential backoff with full jitter). It
/// is at least as long as the upstream asks for (`Retry-After`). The number of attempts is not limited: an accepted write is
/// sent until the upstream gives a final response.
public struct OutboxPolicy: Sendable {
    /// The policy with all defaults.
    public static var standard: Self { Self() }

    /// The maximum wait before the second attempt, unless the upstream asks for more.
    public let initialWait: Duration
    /// The factor by which the maximum wait grows with each attempt.
    public let factor: Double
    /// The maximum wait before any attempt, unless the upstream asks for more.
    public let maximumWait: Duration
    /// The longest `Retry-After` that is honored. After that time, the write is sent again regardless.
    public let maximumRetryAfter: Duration
    /// The maximum number of writes that are being sent at a time. They are always of different subjects. A write that the
    /// upstream has answered no longer counts, although it is still being settled. While 64 or more are being settled, none is sent.
    public let concurrency: Int
    /// The time limit of an attempt.
    public let attemptLimit: Duration
    /// The number of failed attempts after which a write is reported to the error handler, once.
    public let reportedAttempts: Int

    /// The maximum number of pending writes. When it is reached, no more are accepted. Pending writes also take up memory.
    public let maximumPending: Int
    /// The maximum size of a write in bytes.
    public let maximumWriteBytes: Int
    /// The maximum total size of the pending writes in bytes. When it is reached, no more are accepted.
    public let maximumPendingBytes: Int
    /// The maximum number of dead letters. When it is reached, no more writes are accepted, so that no dead letter has to be
    /// dropped.
    public let maximumDeadLetters: Int
    /// The maximum total size of the dead letters in bytes. When it is reached, no more writes are accepted.
    public let maximumDeadLetterBytes: Int
    /// The number of consecutive refusals of different subjects after which delivery is paused.
    public let refusalsBeforePause: Int
    /// The length of the first pause. Each refused probe doubles it.
    public let initialPause: Duration
    /// The maximum length of a pause.
    public let maximumPause: Duration

    private let jitter: Jitter

    /// Creates a policy. Durations are clamped to the range from zero to a year.
    ///
    /// - Parameters:
    ///   - initialWait: The maximum wait before the second attempt.
    ///   - factor: The factor by which the maximum wait grows with each attempt, clamped to the range from 1 to 100.
    ///   - maximumWait: The maximum wait before any attempt.
    ///   - maximumRetryAfter: The longest `Retry-After` that is honored.
    ///   - concurrency: The maximum number of writes that are being sent at a time, at least 1.
    ///   - attemptLimit: The time limit of an attempt.
    ///   - reportedAttempts: The number of failed attempts after which a write is reported to the error handler, at least 1.
    ///   - maximumPending: The maximum number of pending writes, at least 1.
    ///   - maximumWriteBytes: The maximum size of a write in bytes, at least 1.
    ///   - maximumPendingBytes: The maximum total size of the pending writes in bytes, at least 1.
    ///   - maximumDeadLetters: The number of dead letters at which no more writes are accepted, at least 1.
    ///   - maximumDeadLetterBytes: The total size of the dead letters in bytes at which no more writes are accepted, at least
    ///     1.
    ///   - refusalsBeforePause: The number of consecutive refusals of different subjects after which delivery is paused, at
    ///     least 1.
    ///   - initialPause: The length of the first pause.
    ///   - maximumPause: The maximum length of a pause.
    ///   - jitter: The source of randomness for waits.
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

    /// Returns the wait after a number of failed attempts, at least 1. It is not shorter than `retryAfter`, up to the maximum.
    func wait(after attempts: Int, retryAfter: Duration?) -> Duration {
        let backoff = Backoff(base: initialWait, factor: factor, maximum: maximumWait)
        let wait = backoff.delay(after: attempts, fraction: jitter.fraction())
        return max(wait, min(Self.clamped(retryAfter ?? .zero), maximumRetryAfter))
    }

    /// Returns the remainder of a wait that an earlier process began, limited in case the clock was changed.
    func rest(of seconds: Double) -> Duration {
        let longest = max(maximumWait, maximumRetryAfter)
        // NaN counts as zero. Times are stored in milliseconds.
        let milliseconds = (max(0, min(seconds, 31_536_000)) * 1_000).rounded()
        return min(.milliseconds(Int64(milliseconds)), longest)
    }

    static func clamped(_ duration: Duration) -> Duration { min(max(.zero, duration), Backoff.longest) }
}
