#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// How much is in an outbox, and whether it delivers.
public struct OutboxStatus: Hashable, Sendable {
    /// How many writes are pending: accepted, and neither delivered nor refused.
    public internal(set) var pendingCount = 0
    /// How many of them may have been done without an answer.
    public internal(set) var outcomeUnknownCount = 0
    /// How many of them are held: not sent, with an ``HeldEntryError`` that says why.
    public internal(set) var heldCount = 0
    /// How many bytes the pending writes have.
    public internal(set) var pendingBytes = 0
    /// How many refused writes are kept.
    public internal(set) var deadLetterCount = 0
    /// How many bytes the refused writes have.
    public internal(set) var deadLetterBytes = 0
    /// When the oldest pending write was accepted; `nil` if none is pending.
    public internal(set) var oldestAcceptedAt: Date?
    /// Why nothing is sent for now; `nil` if the outbox delivers.
    public internal(set) var pause: OutboxPause?
}
