import InwardRepositories
import Synchronization

/// A store with limited space, 4 MiB by default. If `commitsPartially` is set, a commit that does not fit takes effect in part.
final class LimitedRecordStore: RecordStore {
    private let base = InMemoryRecordStore()
    private let free: Mutex<Int>
    private let commitsPartially: Bool

    init(commitsPartially: Bool, free: Int = 4 << 20) {
        self.commitsPartially = commitsPartially
        self.free = Mutex(free)
    }

    func record(for key: RecordKey) async throws(RecordStoreError) -> StoredRecord? { try await base.record(for: key) }

    func records(under key: RecordKey) async throws(RecordStoreError) -> [(key: RecordKey, record: StoredRecord)] {
        try await base.records(under: key)
    }

    func losses(under key: RecordKey) async throws(RecordStoreError) -> RecordLosses {
        try await base.losses(under: key)
    }

    func claim(_ key: RecordKey) async throws(RecordStoreError) -> RecordClaimResult { try await base.claim(key) }

    func commit(_ changes: [RecordChange]) async throws(RecordStoreError) {
        var made: [RecordChange] = []
        var left = free.withLock(\.self)
        for change in changes {
            if case .keep(let record, _) = change { left -= record.bytes.count }
            guard left >= 0 else {
                if commitsPartially { try await base.commit(made) }
                throw RecordStoreError(.full, explanation: "There is no room.")
            }
            made.append(change)
        }
        free.withLock { [left] in $0 = left }
        try await base.commit(changes)
    }
}
