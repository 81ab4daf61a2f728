/// The limits of a ``SharedOutbox``: leases, waits, and storage.
///
/// ```swift
/// // The upstream keeps idempotency keys for an hour.
/// let policy = SharedOutboxPolicy(delivery: OutboxPolicy(concurrency: 64), resendLimit: .seconds(3_000))
/// ```
public struct SharedOutboxPolicy: Sendable {
    /// How much longer a lease lasts than an attempt.
    static let margin = Duration.seconds(2)

    /// The number of subjects that one instance delivers at the same time, the waits between attempts, the time limit of an
    /// attempt, and the maximum size of a write. Its limits on the total of pending writes and of dead letters, and on refusals
    /// in a row, do not apply.
    public let delivery: OutboxPolicy
    /// How long an instance has a subject before another one may take it over, unless it renews the lease. This is how long
    /// the writes of a subject wait when their instance dies. It is longer than the time limit of an attempt.
    public let leaseDuration: Duration
    /// How often an instance looks for writes that other instances have accepted or have not delivered.
    public let pollInterval: Duration
    /// How long after its first attempt a write with an unknown outcome may still be sent again. After that, it is held until
    /// somebody decides.
    ///
    /// It must be shorter than the time for which the upstream keeps idempotency keys, by as long as an attempt may take, an
    /// instance may be suspended, a request may stay in the network, and the clocks of two instances may differ. Otherwise, the
    /// upstream may do a write twice.
    public let resendLimit: Duration
    /// How often an instance checks a held subject again.
    public let holdInterval: Duration
    /// How long dead letters are kept. The store removes them after that.
    public let deadLetterRetention: Duration
    /// The maximum number of pending writes of one subject, or of one partition if its endpoints ask for that order. When it is
    /// reached, no more are accepted.
    public let maximumPending: Int

    /// Creates a policy. Durations are clamped to the range from zero to a year.
    ///
    /// - Parameters:
    ///   - delivery: The limits of deliveries.
    ///   - leaseDuration: How long an instance has a subject, at least 2 seconds more than the time limit of an attempt.
    ///   - pollInterval: How often an instance looks for writes, at least 1 millisecond.
    ///   - resendLimit: How long after its first attempt a write with an unknown outcome may still be sent again. The default suits an
    ///     upstream that keeps idempotency keys for 24 hours.
    ///   - holdInterval: How often an instance checks a held subject again, at least 1 second.
    ///   - deadLetterRetention: How long dead letters are kept.
    ///   - maximumPending: The maximum number of pending writes of one subject, clamped to the range from 1 to 1,000,000.
    public init(
        delivery: OutboxPolicy = OutboxPolicy(concurrency: 16, attemptLimit: .seconds(20)),
        leaseDuration: Duration = .seconds(30),
        pollInterval: Duration = .seconds(1),
        resendLimit: Duration = .seconds(23 * 3_600),
        holdInterval: Duration = .seconds(600),
        deadLetterRetention: Duration = .seconds(30 * 86_400),
        maximumPending: Int = 1_000
    ) {
        self.delivery = delivery
        self.leaseDuration = max(OutboxPolicy.clamped(leaseDuration), delivery.attemptLimit + Self.margin)
        self.pollInterval = max(.milliseconds(1), OutboxPolicy.clamped(pollInterval))
        self.resendLimit = OutboxPolicy.clamped(resendLimit)
        self.holdInterval = max(.seconds(1), OutboxPolicy.clamped(holdInterval))
        self.deadLetterRetention = OutboxPolicy.clamped(deadLetterRetention)
        self.maximumPending = min(max(1, maximumPending), 1_000_000)
    }
}
