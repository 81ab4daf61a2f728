/// Another outbox was opened over the same records, and delivers what is pending. This one does nothing more.
public struct OutboxTakenOverError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What the records of the outbox are kept under.
    public let prefix: RecordKey

    /// Names an outbox by what its records are kept under.
    public init(prefix: RecordKey) {
        self.prefix = prefix
    }

    /// What happened and what to do, as a sentence without its full stop.
    public var description: String {
        "The outbox \(prefix) was opened a second time and is delivered from there: let one process alone have a store"
    }
}
