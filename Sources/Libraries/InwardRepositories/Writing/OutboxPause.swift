#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Why an outbox sends nothing for now: the upstream refused several writes of different subjects in a row, so that the fault is
/// more likely the upstream's than the writes'.
public struct OutboxPause: Hashable, Sendable {
    /// When one write is sent to find out whether the upstream takes writes again.
    public let until: Date
    /// How many subjects were refused in a row.
    public let refusals: Int
    /// Why the last one was refused, as a sentence without its full stop.
    public let cause: String

    /// Makes a pause, for the tests of what shows it.
    public init(until: Date, refusals: Int, cause: String) {
        self.until = until
        self.refusals = refusals
        self.cause = cause
    }
}

/// An outbox has paused because the upstream refused several writes of different subjects in a row. The refused writes are dead
/// letters; the others stay pending.
public struct OutboxPausedError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What the records of the outbox are kept under.
    public let prefix: RecordKey
    /// Why, and until when.
    public let pause: OutboxPause

    /// What happened and what follows, as a sentence without its full stop.
    public var description: String {
        """
        The upstream refused \(pause.refusals) writes of the outbox \(prefix) in a row, so delivery is paused; one write is tried \
        at \(pause.until). The last refusal: \(pause.cause)
        """
    }
}
