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
        case held(UndeliverableEntryError.Reason)
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

/// An entry that an outbox found and cannot deliver. It is kept as it is, and so are those of its subject that were accepted
/// later.
public struct UndeliverableEntryError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Why it cannot be delivered.
    public enum Reason: Hashable, Sendable, CustomStringConvertible {
        /// A newer version of the program wrote it: run that one.
        case newer(version: Int)
        /// It cannot be read; how that shows is the end of a sentence.
        case damaged(String)
        /// The store lost it to damage.
        case lost
        /// The store lost records that it cannot name. One of them may be an earlier write of the same subject.
        case behindLosses
        /// It is no write, but stands for the records that the store lost and cannot name.
        case unknownLosses
        /// Nobody settles the writes of this endpoint: hand a handler of it to the outbox.
        case unsettled(endpoint: String)
        /// The handler of its endpoint does not declare such an operation: a damaged or foreign record, or one of another version.
        case undeclared(endpoint: String, operation: OutboxOperation)

        /// The reason, as the end of a sentence.
        public var description: String {
            switch self {
            case .newer(let version):
                "is of the version \(version), which a newer version of this program wrote: run that one"
            case .damaged(let problem): "is damaged: \(problem)"
            case .lost: "was lost to damage in the store: discard it to have the later writes of its subject sent"
            case .behindLosses:
                """
                may follow a write that the store lost to damage: discard “\(OutboxItem.unknownLossesID)” to have it sent all the \
                same
                """
            case .unknownLosses:
                """
                stands for records that the store lost to damage and cannot name, pending writes perhaps: discard it to have the \
                writes sent that are held because of them
                """
            case .unsettled(let endpoint):
                "is for the endpoint “\(endpoint)”, which nobody settles: open the outbox with a handler of it"
            case .undeclared(let endpoint, let operation):
                """
                asks for “\(operation)”, which the endpoint “\(endpoint)” does not declare: discard it, or run the version of \
                this program that accepted it
                """
            }
        }
    }

    /// What it is kept under.
    public let key: RecordKey
    /// Why it cannot be delivered.
    public let reason: Reason

    /// Names an entry by what it is kept under, and says why it cannot be delivered.
    public init(_ key: RecordKey, _ reason: Reason) {
        self.key = key
        self.reason = reason
    }

    /// Which entry it is and why it is not delivered, as a sentence without its full stop.
    public var description: String {
        guard reason != .unknownLosses else {
            return """
                The store lost records that it cannot name, and some may have been pending writes of \(key): those that are left \
                are held until “\(OutboxItem.unknownLossesID)” is discarded
                """
        }
        return "The write that is kept under \(key) is not delivered: it \(reason)"
    }
}
