/// What an ``Outbox`` has done since it was opened.
public struct OutboxCounts: Hashable, Sendable {
    /// How many writes it has accepted.
    public internal(set) var accepted = 0
    /// How often it has sent one. An attempt that a limit or an open circuit stopped on its way does not count.
    public internal(set) var attempts = 0
    /// How often it had to put one off, to send it again.
    public internal(set) var postponed = 0
    /// How many were done.
    public internal(set) var delivered = 0
    /// How many were refused for good.
    public internal(set) var refused = 0
}
