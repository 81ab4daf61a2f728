/// How a ``SharedOutbox`` delivers the writes of an endpoint.
///
/// ```swift
/// // All writes of a user in the order in which they were accepted. After 20 failed attempts, go on without the write.
/// let terms = OutboxTerms(order: .partition, attemptLimit: 20, afterLimit: .goOn)
/// ```
public struct OutboxTerms: Hashable, Sendable {
    /// Which writes are delivered one after another.
    public enum Order: Hashable, Sendable {
        /// The writes of a subject.
        case subject
        /// All writes of a partition, such as those of a user, whose endpoints ask for this order. A write that cannot be
        /// delivered delays all later ones.
        case partition
    }

    /// What happens to a write after too many failed attempts, and to the later writes of its subject.
    public enum Exhaustion: Hashable, Sendable {
        /// The write becomes a dead letter, and the later ones are sent. If an attempt got no answer, the upstream may have done
        /// the write.
        case goOn
        /// The write and the later ones are held until somebody calls ``SharedOutbox/resend(_:in:)`` or
        /// ``SharedOutbox/discard(_:in:)``.
        case hold
    }

    /// Which writes are delivered one after another.
    public var order: Order
    /// The number of failed attempts after which no more follow, or `nil` to send a write until the upstream gives a final response.
    public var attemptLimit: Int?
    /// What happens after the last attempt.
    public var afterLimit: Exhaustion
    /// Whether the upstream stores refusals, such as 422, under the idempotency key, and repeats them. Then a refusal is final
    /// even if an earlier attempt got no answer. Otherwise it is not, because that attempt may still be in progress, and the
    /// write is sent again. With an upstream that stores refusals, it would be sent until the resend limit.
    public var storesRefusals: Bool

    /// Creates terms.
    ///
    /// - Parameters:
    ///   - order: Which writes are delivered one after another.
    ///   - attemptLimit: The number of failed attempts after which no more follow, at least 1, or `nil` for no limit.
    ///   - afterLimit: What happens after the last attempt.
    ///   - storesRefusals: Whether the upstream stores refusals under the idempotency key.
    public init(
        order: Order = .subject,
        attemptLimit: Int? = nil,
        afterLimit: Exhaustion = .hold,
        storesRefusals: Bool = false
    ) {
        self.order = order
        self.attemptLimit = attemptLimit.map { max(1, $0) }
        self.afterLimit = afterLimit
        self.storesRefusals = storesRefusals
    }
}
