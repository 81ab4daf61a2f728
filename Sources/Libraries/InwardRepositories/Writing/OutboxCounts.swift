/// What an ``Outbox`` has done since it was opened.
public struct OutboxCounts: Hashable, Sendable {
    /// How many writes it has accepted.
    public internal(set) var accepted = 0
    /// How often it has sent one, and the upstream has answered or may have seen it. It counts twice where credentials had to be
    /// renewed for it, and not at all where a limit or an open circuit stopped it on its way.
    public internal(set) var attempts = 0
    /// How often it had to put one off, to send it again.
    public internal(set) var postponed = 0
    /// How many were done.
    public internal(set) var delivered = 0
    /// How many were refused for good.
    public internal(set) var refused = 0
}
