@testable import InwardRepositories

extension OutboxPartitions {
    /// Puts an entry at the end of its partition, with what is known of its attempts.
    mutating func append(_ entry: OutboxEntry, _ history: DeliveryHistory = DeliveryHistory()) {
        append(OutboxDelivery(entry: entry, history: history))
    }

    /// Puts a record that cannot be read at the end of a partition.
    mutating func holdUnreadable(_ sequence: Int, in subject: RecordKey) {
        let name = OutboxEntryName(sequence: sequence, idempotencyKey: "k\(sequence)", subject: subject)
        hold(HeldItem(name: name, entry: nil, reason: .damaged("it is"), byteCount: 1))
    }

    /// The entries that can be read, in the order they were accepted.
    var pending: [OutboxEntry] { entries.sorted { $0.sequence < $1.sequence } }
}
