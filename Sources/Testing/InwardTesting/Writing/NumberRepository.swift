package import InwardCore
package import InwardFetching
package import InwardRepositories
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A repository of numbers by their names, with a memory in front of its store and an outbox behind: an example of one, and what
/// units of work over outboxes are checked with.
package final class NumberRepository: OutboxSettler {
    package let endpoint: String
    package let operations: [OutboxOperation]
    private let store: any RecordStore
    private let memory: Mutex<[String: Int]>

    /// Reads what a store keeps of a repository.
    package init(_ endpoint: String, store: any RecordStore) async throws(RecordStoreError) {
        self.endpoint = endpoint
        operations = [OutboxOperation(.put, "\(endpoint)/*"), OutboxOperation(.delete, "\(endpoint)/*")]
        self.store = store
        var numbers: [String: Int] = [:]
        for (key, record) in try await store.records(under: [endpoint]) {
            numbers[key.components[1...].joined()] = Int(String(decoding: record.bytes, as: UTF8.self))
        }
        memory = Mutex(numbers)
    }

    /// What readers find: what was committed last, whether or not it is delivered.
    package func number(_ name: String) -> Int? { memory.withLock { $0[name] } }

    /// Prepares the change by which the number of a name becomes another.
    package func change(_ name: String, to number: Int?, in outbox: Outbox) -> PreparedRecordChange {
        let bytes = number.map { Array(String($0).utf8) }
        return PreparedRecordChange(
            "the change of \(name)",
            for: outbox,
            writes: [
                OutboxWrite(
                    endpoint: endpoint,
                    subject: [endpoint, name],
                    method: number == nil ? .delete : .put,
                    path: "\(endpoint)/\(name)",
                    body: bytes
                )
            ],
            changes: [bytes.map { .keep(StoredRecord($0), [endpoint, name]) } ?? .remove([endpoint, name])]
        ) { _ in
            self.memory.withLock { $0[name] = number }
        }
    }

    package func reset(to entries: [OutboxEntry]) {}

    package func accepted(_ entries: [OutboxEntry]) {}

    /// Nothing: the value is there already.
    package func delivered(
        _ entry: OutboxEntry,
        answer: DataResponse,
        before later: LaterEntries
    ) async throws(RecordStoreError) -> OutboxSettlement {
        OutboxSettlement()
    }

    /// Nothing: no number is refused.
    package func refused(
        _ entry: OutboxEntry,
        because error: RepositoryError,
        before later: LaterEntries
    ) async throws(RecordStoreError) -> OutboxSettlement {
        OutboxSettlement()
    }
}
