import InwardRepositories
import Synchronization

/// The reported failures of a store.
final class RecordStoreFailures: Sendable {
    private let noted = Mutex<[RecordStoreError.Reason]>([])

    var all: [RecordStoreError.Reason] { noted.withLock(\.self) }

    func note(_ error: RecordStoreError) { noted.withLock { $0.append(error.reason) } }
}
