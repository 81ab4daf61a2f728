import InwardRepositories
import Synchronization

/// A store with limited room, 4 MiB by default. If a test asks for it, a commit that does not fit is made in part.
final class LimitedRecordStore: RecordStore {
    private let base = InMemoryRecordStore()
    private let free: Mutex<Int>
    private let makesHalf: Bool

    init(makesHalf: Bool, free: Int = 4 << 20) {
        self.makesHalf = makesHalf
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
                if makesHalf { try await base.commit(made) }
                throw RecordStoreError(.full, explanation: "There is no room.")
            }
            made.append(change)
        }
        free.withLock { [left] in $0 = left }
        try await base.commit(changes)
    }
}
