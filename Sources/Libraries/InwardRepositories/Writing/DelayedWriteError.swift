/// A write that was accepted and cannot be delivered yet, for a reason that somebody may have to mend. It is sent again.
public struct DelayedWriteError: Error, Sendable, CustomStringConvertible {
    /// What is not delivered.
    public let entry: OutboxEntry
    /// Why: a `RepositoryError` of the upstream, or a ``RecordStoreError`` of the store that was to keep what came of it.
    public let cause: any Error

    /// Names what is not delivered, and why.
    public init(_ entry: OutboxEntry, because cause: any Error) {
        self.entry = entry
        self.cause = cause
    }

    /// What is not delivered and why, as a sentence without its full stop.
    public var description: String {
        "The write \(entry) is not delivered yet, after \(entry.attempts) attempts, and is sent again: \(cause)"
    }
}
