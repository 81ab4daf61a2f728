#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A write as an ``Outbox`` has accepted it.
public struct OutboxEntry: Hashable, Sendable, CustomStringConvertible {
    /// Its place in the order in which writes were accepted. Of the entries that are pending no two of one subject have the
    /// same.
    public let sequence: Int
    /// What is to be done.
    public let write: OutboxWrite
    /// What the upstream knows repeats by: 128 random bits in hexadecimal digits. It is the same in each attempt, also in those
    /// of a later process, and no other entry has it.
    public let idempotencyKey: String
    /// When it was accepted, on a wall clock, to a thousandth of a second.
    public let acceptedAt: Date
    /// How often it was sent in vain so far, as far as that is known: a process that is killed does not count its last.
    public internal(set) var attempts: Int

    /// The write, and which one it is.
    public var description: String { "\(write), accepted as number \(sequence)" }
}
