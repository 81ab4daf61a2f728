/// What a view shows of the writes that an outbox was given, and of those that it was left by an earlier one.
public struct DeliveryViewModel: Hashable, Sendable {
    /// How many the upstream has done, since the outbox was opened.
    public let deliveredCount: Int
    /// How many the upstream has refused, since then.
    public let refusedCount: Int
    /// How many are pending, and will be delivered when the program is started again, or by their owner.
    public let waitingCount: Int
    /// Which other process owns the outbox, and delivers what is pending; `nil` if none does.
    public let owner: String?

    /// Takes the numbers of an outbox as they are now.
    ///
    /// - Parameters:
    ///   - outbox: The outbox.
    ///   - waitingCount: How many writes are pending, if another process owns the outbox.
    ///   - owner: That process; `nil` if there is none.
    public init(_ outbox: Outbox, waitingCount: Int? = nil, owner: String? = nil) {
        // First, so that none is missing that is settled meanwhile.
        self.waitingCount = waitingCount ?? outbox.status.pendingCount
        let counts = outbox.counts
        deliveredCount = counts.delivered
        refusedCount = counts.refused
        self.owner = owner
    }

    /// The numbers as a sentence.
    public var line: String {
        let end = owner.map { "are delivered by their owner, \($0)" } ?? "wait for the next start"
        return "Delivered \(deliveredCount), refused \(refusedCount); \(waitingCount) \(end)."
    }
}
