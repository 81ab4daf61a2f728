#if PostgreSQL
import InwardCore
import InwardFetching
import InwardRepositories

/// The handler of writes to an endpoint of the upstream that stores refusals under the idempotency key, or to one that does not.
struct WriteHandler: OutboxHandler {
    let endpoint: String
    let terms: OutboxTerms

    init(storesRefusals: Bool) {
        endpoint = storesRefusals ? "storing" : "plain"
        terms = OutboxTerms(storesRefusals: storesRefusals)
    }

    var operations: [OutboxOperation] { [OutboxOperation(.post, "\(endpoint)/*")] }

    /// Returns the write of a subject, whose name begins with its endpoint, as in `plain.7`.
    static func write(_ subject: String, _ body: String) -> OutboxWrite {
        let endpoint = String(subject.prefix { $0 != "." })
        return OutboxWrite(
            endpoint: endpoint,
            subject: RecordKey([subject]),
            path: "\(endpoint)/\(subject)",
            body: Array(body.utf8)
        )
    }

    func reset(to entries: [OutboxEntry]) {}

    func accepted(_ entries: [OutboxEntry]) {}

    func delivered(
        _ entry: OutboxEntry,
        answer: DataResponse,
        before later: LaterEntries
    ) async throws(RecordStoreError) -> OutboxSettlement { OutboxSettlement() }

    func refused(
        _ entry: OutboxEntry,
        because error: RepositoryError,
        before later: LaterEntries
    ) async throws(RecordStoreError) -> OutboxSettlement { OutboxSettlement() }
}
#endif
