/// An entry that an outbox found and cannot deliver. It is kept as it is, and so are those of its subject that were accepted
/// later.
public struct HeldEntryError: Error, Hashable, Sendable, CustomStringConvertible {
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
        /// Nobody settles the writes of this endpoint: hand a settler of it to the outbox.
        case unsettled(endpoint: String)
        /// The settler of its endpoint does not declare such an operation: a damaged or foreign record, or one of another version.
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
                "is for the endpoint “\(endpoint)”, which nobody settles: open the outbox with a settler of it"
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
