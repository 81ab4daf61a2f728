public import InwardCore

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A pending write or a dead letter, as ``OutboxContents`` lists it.
///
/// ```swift
/// func line(for item: OutboxItem) -> String {
///     "\(item.state): \(item.write?.path ?? "unreadable"), \(item.attempts) attempts. \(item.cause ?? "")"
/// }
/// ```
public struct OutboxItem: Hashable, Sendable, Identifiable {
    /// The delivery state of a write.
    public enum State: Hashable, Sendable, CustomStringConvertible {
        /// The write waits to be sent. The upstream has not done it.
        case waiting
        /// An attempt is in progress, or was in progress when the process that made it ended.
        case sending
        /// The upstream may have done the write. It is sent again, with the same idempotency key.
        case outcomeUnknown
        /// The write is not sent, and neither are the later writes of its subject.
        case undeliverable(UndeliverableEntryError.Reason)
        /// The write was refused and has not been done. It is a dead letter until it is retried or discarded.
        case refused(at: Date)

        /// The state in one or two words.
        public var description: String {
            switch self {
            case .waiting: "waiting"
            case .sending: "sending"
            case .outcomeUnknown: "outcome unknown"
            case .undeliverable: "undeliverable"
            case .refused: "refused"
            }
        }
    }

    /// The ``id`` of the item that stands for records that the store lost and cannot name. To acknowledge the loss and send the
    /// writes that are held because of it, pass this identifier to ``Outbox/discard(_:)``.
    public static let unknownLossesID = "lost-records"

    /// The identifier to pass to ``Outbox/retry(_:)`` and ``Outbox/discard(_:)``.
    public let id: String
    /// The delivery state.
    public var state: State
    /// The write, or `nil` if the record cannot be read.
    public let write: OutboxWrite?
    /// When the write was accepted, or `nil` if the record cannot be read.
    public let acceptedAt: Date?
    /// The number of failed attempts, as far as known.
    public var attempts: Int
    /// When the next attempt is due, or `nil` if it is due now or there is none.
    public var nextAttempt: Date?
    /// Why the write was not delivered, as a sentence, or `nil` if nothing is known.
    public var cause: String?
    /// Both versions of the resource, if the write is a dead letter because of an undecided conflict, or `nil` otherwise.
    public let conflict: OutboxConflict?
    /// The number of bytes that count toward the outbox's limits.
    public let byteCount: Int

    /// Creates an item, to test code that displays it.
    public init(
        id: String,
        state: State,
        write: OutboxWrite? = nil,
        acceptedAt: Date? = nil,
        attempts: Int = 0,
        nextAttempt: Date? = nil,
        cause: String? = nil,
        conflict: OutboxConflict? = nil,
        byteCount: Int
    ) {
        self.id = id
        self.state = state
        self.write = write
        self.acceptedAt = acceptedAt
        self.attempts = attempts
        self.nextAttempt = nextAttempt
        self.cause = cause
        self.conflict = conflict
        self.byteCount = byteCount
    }

    /// The endpoint of the write, or `nil` if the record cannot be read.
    public var endpoint: String? { write?.endpoint }
}

/// Both versions of a resource in the dead letter of a conflict. ``Repository/conflicts()`` returns them as entities.
///
/// ```swift
/// func theirs(in letter: OutboxItem) throws -> Comment? {
///     guard let record = letter.conflict?.theirs else { return nil }
///     return try JSONDecoder().decode(CommentDTO.self, from: Data(record)).entity()
/// }
/// ```
public struct OutboxConflict: Hashable, Sendable, CustomStringConvertible {
    /// The record that the write would have produced, or `nil` if the write is a deletion or the result is not known.
    public let mine: [UInt8]?
    /// The upstream's record at the time of the refusal, or `nil` if it was deleted.
    public let theirs: [UInt8]?
    /// The strong entity tag of the upstream's record, or `nil` if it has none.
    public let entityTag: String?

    /// Creates a conflict.
    public init(mine: [UInt8]?, theirs: [UInt8]?, entityTag: String? = nil) {
        self.mine = mine
        self.theirs = theirs
        self.entityTag = entityTag
    }

    var byteCount: Int { (mine?.count ?? 0) + (theirs?.count ?? 0) + (entityTag?.utf8.count ?? 0) }

    /// The sizes of both versions, without their contents.
    public var description: String {
        "mine: \(mine.map { "\($0.count) bytes" } ?? "nothing"), theirs: \(theirs.map { "\($0.count) bytes" } ?? "nothing")"
    }
}

/// A report that an outbox cannot deliver an entry. The outbox keeps the entry unchanged, and holds the later entries of its
/// subject.
///
/// ```swift
/// let errorHandler = IgnoringErrorHandler().notifying { error in
///     guard let report = error as? UndeliverableEntryError else { return }
///     switch report.reason {
///     case .newer, .undeclared: print("Run the version of this program that wrote \(report.key).")
///     default: print("\(report).")  // The description says what to do.
///     }
/// }
/// ```
public struct UndeliverableEntryError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Why an entry cannot be delivered.
    public enum Reason: Hashable, Sendable, CustomStringConvertible {
        /// A newer version of the program wrote it. Run that version.
        case newer(version: Int)
        /// It cannot be read. The associated value describes the damage, as the end of a sentence.
        case damaged(String)
        /// The store lost it to damage.
        case lost
        /// The store lost records that it cannot name. One of them may be an earlier write of the same subject.
        case behindLosses
        /// Somebody has to decide whether it is sent again. The associated value says why, as a clause.
        case awaitingDecision(String)
        /// The item is not a write. It stands for the records that the store lost and cannot name.
        case unknownLosses
        /// No handler settles the writes of this endpoint. Open the outbox with one.
        case unsettled(endpoint: String)
        /// The handler of its endpoint does not declare this operation: the record is damaged, foreign, or from another
        /// version.
        case undeclared(endpoint: String, operation: OutboxOperation)

        /// The reason, as the end of a sentence.
        public var description: String {
            switch self {
            case .newer(let version):
                "has the format version \(version), which a newer version of this program wrote: run that version"
            case .damaged(let problem): "is damaged: \(problem)"
            case .lost: "was lost to damage in the store: discard it to send the later writes of its subject"
            case .behindLosses:
                """
                may follow a write that the store lost to damage: discard “\(OutboxItem.unknownLossesID)” to send it anyway
                """
            case .awaitingDecision(let cause): "is held until it is resent or discarded: \(cause)"
            case .unknownLosses:
                """
                represents records that the store lost to damage and cannot name, possibly pending writes: discard it to send the \
                writes that are held because of them
                """
            case .unsettled(let endpoint):
                "is for the endpoint “\(endpoint)”, which has no handler: open the outbox with a handler for it"
            case .undeclared(let endpoint, let operation):
                """
                asks for “\(operation)”, which the endpoint “\(endpoint)” does not declare: discard it, or run the version of \
                this program that accepted it
                """
            }
        }
    }

    /// The key of the entry's record.
    public let key: RecordKey
    /// Why the entry cannot be delivered.
    public let reason: Reason

    /// Creates an error for the entry under a key.
    public init(_ key: RecordKey, _ reason: Reason) {
        self.key = key
        self.reason = reason
    }

    /// The entry and the reason, as a sentence without its full stop.
    public var description: String {
        guard reason != .unknownLosses else {
            return """
                The store lost records that it cannot name, and some may have been pending writes of \(key): the remaining writes \
                are held until “\(OutboxItem.unknownLossesID)” is discarded
                """
        }
        return "The write stored under \(key) is not delivered: it \(reason)"
    }
}

/// A report that an accepted write is still pending after many attempts, or for a reason that may require action. The outbox
/// keeps trying.
///
/// ```swift
/// let errorHandler = IgnoringErrorHandler().notifying { error in
///     guard let delay = error as? DelayedWriteError else { return }
///     let isDenied = (delay.cause as? RepositoryError)?.reason == .denied
///     print(isDenied ? "Sign in again to send your changes." : "Your changes are sent later: \(delay.cause)")
/// }
/// ```
public struct DelayedWriteError: Error, Sendable, CustomStringConvertible {
    /// The pending entry.
    public let entry: OutboxEntry
    /// The cause: a `RepositoryError` of the upstream, or a ``RecordStoreError`` if the store failed before the write was sent or
    /// after it was done.
    public let cause: any Error

    /// Creates an error from a pending entry and the cause.
    public init(_ entry: OutboxEntry, because cause: any Error) {
        self.entry = entry
        self.cause = cause
    }

    /// The entry and the cause, as a sentence without its full stop. It contains the number of attempts unless the store failed,
    /// because a failure of the store is not an attempt of the upstream.
    public var description: String {
        let count = cause is RecordStoreError ? 0 : entry.attempts
        let attempts = count == 0 ? "" : " after \(count) failed \(count == 1 ? "attempt" : "attempts")"
        return "The write \(entry.name) is still pending\(attempts), and the outbox keeps trying: \(cause)"
    }
}

/// A report that an accepted write was refused for good. Readers see the previous value again.
///
/// ```swift
/// let errorHandler = IgnoringErrorHandler().notifying { error in
///     guard let refusal = error as? RefusedWriteError else { return }
///     print("Your change of \(refusal.entry.write.path) was not accepted: \(refusal.cause)")
/// }
/// ```
public struct RefusedWriteError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The refused entry.
    public let entry: OutboxEntry
    /// The refusal.
    public let cause: RepositoryError

    /// Creates an error from a refused entry and the refusal.
    public init(_ entry: OutboxEntry, because cause: RepositoryError) {
        self.entry = entry
        self.cause = cause
    }

    /// The entry and the refusal, as a sentence without its full stop.
    public var description: String {
        "The write \(entry.name) was refused for good and is undone: \(cause)"
    }
}

/// A report that a write was done, but its response cannot be used.
///
/// ```swift
/// let errorHandler = IgnoringErrorHandler().notifying { error in
///     guard let report = error as? UnusableAnswerError else { return }
///     print("The API did \(report.entry.write), but its response \(report.problem).")
/// }
/// ```
///
/// A repository reads the result again. The report shows that the upstream breaks its contract.
public struct UnusableAnswerError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The delivered entry.
    public let entry: OutboxEntry
    /// Why the response cannot be used, as the end of a sentence.
    public let problem: String

    /// Creates an error from a delivered entry and the problem with its response.
    public init(_ entry: OutboxEntry, problem: String) {
        self.entry = entry
        self.problem = problem
    }

    /// The entry and the problem, as a sentence without its full stop.
    public var description: String { "The write \(entry.name) was done, but the response to it \(problem)" }
}
