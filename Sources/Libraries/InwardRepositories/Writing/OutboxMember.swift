/// Whoever has joined an ``Outbox`` with settlers, for leaving it.
public struct OutboxMember: Hashable, Sendable {
    let number: Int
}
