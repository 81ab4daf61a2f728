#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A write in an outbox as ``OutboxContents`` lists it: pending, or refused and kept as a dead letter.
public struct OutboxItem: Hashable, Sendable, Identifiable {
    /// What has become of the write so far.
    public enum State: Hashable, Sendable, CustomStringConvertible {
        /// It waits to be sent. Nothing has been done at the upstream.
        case waiting
        /// An attempt is under way, or was when the process that made it ended.
        case sending
        /// An attempt may have been done, but its answer is not known. It is sent again, with the same idempotency key.
        case outcomeUnknown
        /// It is not sent, and neither are the later writes of its subject.
        case held(HeldEntryError.Reason)
        /// The upstream refused it, and no attempt was done. It is a dead letter until somebody retries or discards it.
        case refused(at: Date)

        /// The state in one or two words.
        public var description: String {
            switch self {
            case .waiting: "waiting"
            case .sending: "sending"
            case .outcomeUnknown: "outcome unknown"
            case .held: "held"
            case .refused: "refused"
            }
        }
    }

    /// The ``id`` of the item that stands for the records that the store lost and cannot name. ``Outbox/discard(_:)`` acknowledges
    /// the loss: the writes that are held because of it are sent.
    public static let unknownLossesID = "lost-records"

    /// Names the write for ``Outbox/retry(_:)`` and ``Outbox/discard(_:)``.
    public let id: String
    /// What has become of it so far.
    public var state: State
    /// What is to be done; `nil` if the record cannot be read.
    public let write: OutboxWrite?
    /// When it was accepted; `nil` if the record cannot be read.
    public let acceptedAt: Date?
    /// How often it was tried in vain, as far as that is known.
    public var attempts: Int
    /// When it is sent next; `nil` if that is now, or never.
    public var nextAttempt: Date?
    /// Why it was not delivered, as a sentence; `nil` if nothing is known.
    public var cause: String?
    /// How many bytes of the outbox's limits it takes up.
    public let byteCount: Int

    /// Makes an item, for the tests of what shows it.
    public init(
        id: String,
        state: State,
        write: OutboxWrite? = nil,
        acceptedAt: Date? = nil,
        attempts: Int = 0,
        nextAttempt: Date? = nil,
        cause: String? = nil,
        byteCount: Int
    ) {
        self.id = id
        self.state = state
        self.write = write
        self.acceptedAt = acceptedAt
        self.attempts = attempts
        self.nextAttempt = nextAttempt
        self.cause = cause
        self.byteCount = byteCount
    }

    /// The name of the endpoint that the write is for; `nil` if the record cannot be read.
    public var endpoint: String? { write?.endpoint }
}
