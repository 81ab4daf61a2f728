/// What a view shows of the writes that an outbox was given, and of those that it was left by an earlier one.
public struct DeliveryViewModel: Hashable, Sendable {
    /// How many the upstream has done, since the outbox was opened.
    public let deliveredCount: Int
    /// How many the upstream has refused for good, since then.
    public let refusedCount: Int
    /// How many are pending, and will be delivered when the program is started again.
    public let waitingCount: Int

    /// Takes the numbers of an outbox as they are now.
    public init(_ outbox: Outbox) {
        // First, so that none is missing that is settled meanwhile.
        waitingCount = outbox.status.pendingCount
        let counts = outbox.counts
        deliveredCount = counts.delivered
        refusedCount = counts.refused
    }

    /// The numbers as a sentence.
    public var line: String {
        "Delivered \(deliveredCount), refused \(refusedCount); \(waitingCount) wait for the next start."
    }
}
