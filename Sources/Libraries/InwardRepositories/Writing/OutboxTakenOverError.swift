/// Another process has taken over the records of an outbox, and delivers what is pending. The outbox opens itself again with its next
/// write.
public struct OutboxTakenOverError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What the records of the outbox are kept under.
    public let prefix: RecordKey

    /// Names an outbox by what its records are kept under.
    public init(prefix: RecordKey) {
        self.prefix = prefix
    }

    /// What happened and what to do, as a sentence without its full stop.
    public var description: String {
        """
        The outbox \(prefix) was taken over by another process, which delivers what is pending; the next write takes it back when that \
        process has released it
        """
    }
}
