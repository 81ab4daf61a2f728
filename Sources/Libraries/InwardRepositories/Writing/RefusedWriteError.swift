public import InwardCore

/// A write that was accepted, and that the upstream has refused for good. What readers saw of it is undone.
public struct RefusedWriteError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What was refused.
    public let entry: OutboxEntry
    /// Why.
    public let cause: RepositoryError

    /// Names what was refused, and why.
    public init(_ entry: OutboxEntry, because cause: RepositoryError) {
        self.entry = entry
        self.cause = cause
    }

    /// What was refused and why, as a sentence without its full stop.
    public var description: String {
        "The write \(entry) was refused for good and is undone: \(cause)"
    }
}
