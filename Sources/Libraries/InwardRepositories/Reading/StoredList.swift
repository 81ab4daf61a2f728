import InwardCore

/// A list as a store keeps it: the identities, whose entities are kept each by itself, and what was left out.
struct StoredList: Codable {
    private struct Rejected: Codable {
        let list: String
        let position: Int
        let field: String?
        let reason: String
    }

    /// The identities, as keys have them.
    let ids: [String]
    private let rejected: [Rejected]

    init(ids: [String], rejected: [RejectedRecord]) {
        self.ids = ids
        self.rejected = rejected.map {
            Rejected(list: $0.list, position: $0.position, field: $0.field, reason: $0.reason)
        }
    }

    /// The records that were left out of the list.
    var rejectedRecords: [RejectedRecord] {
        rejected.map { RejectedRecord(list: $0.list, position: $0.position, field: $0.field, reason: $0.reason) }
    }
}
