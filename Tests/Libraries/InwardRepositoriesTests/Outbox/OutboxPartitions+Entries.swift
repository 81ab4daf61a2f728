@testable import InwardRepositories

extension OutboxPartitions {
    /// Appends an entry to its partition, with the history of its attempts.
    mutating func append(_ entry: OutboxEntry, _ history: DeliveryHistory = DeliveryHistory()) {
        append(OutboxDelivery(entry: entry, history: history))
    }

    /// Appends an unreadable record to a partition.
    mutating func holdUnreadable(_ sequence: Int, in subject: RecordKey) {
        let name = OutboxEntryName(sequence: sequence, idempotencyKey: "k\(sequence)", subject: subject)
        hold(HeldItem(name: name, entry: nil, reason: .damaged("it is"), byteCount: 1))
    }

    /// The readable entries, in the order they were accepted.
    var pending: [OutboxEntry] { entries.sorted { $0.sequence < $1.sequence } }
}
