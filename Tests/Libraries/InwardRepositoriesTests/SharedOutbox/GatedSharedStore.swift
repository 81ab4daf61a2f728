import InwardRepositories

/// A shared store that calls a closure before and after each operation. The closure can delay the operation, let it fail, or hide
/// its result.
struct GatedSharedStore: SharedRecordStore {
    enum Operation: Hashable {
        case read
        case commit([RecordChange])
        case lease
        case extend
    }

    enum Moment {
        case before, after
    }

    typealias Gate = @Sendable (Operation, Moment) async throws(RecordStoreError) -> Void

    let base: any SharedRecordStore
    let gate: Gate

    init(_ base: any SharedRecordStore, gate: @escaping Gate) {
        self.base = base
        self.gate = gate
    }

    private func passing<Value>(
        _ operation: Operation,
        _ work: () async throws(RecordStoreError) -> Value
    ) async throws(RecordStoreError) -> Value {
        try await gate(operation, .before)
        let value = try await work()
        try await gate(operation, .after)
        return value
    }

    func record(for key: RecordKey) async throws(RecordStoreError) -> StoredRecord? {
        try await passing(.read) { () async throws(RecordStoreError) in try await base.record(for: key) }
    }

    func records(for keys: [RecordKey]) async throws(RecordStoreError) -> [StoredRecord?] {
        try await passing(.read) { () async throws(RecordStoreError) in try await base.records(for: keys) }
    }

    func records(
        under key: RecordKey
    ) async throws(RecordStoreError) -> [(key: RecordKey, record: StoredRecord)] {
        try await passing(.read) { () async throws(RecordStoreError) in try await base.records(under: key) }
    }

    func losses(under key: RecordKey) async throws(RecordStoreError) -> RecordLosses {
        try await base.losses(under: key)
    }

    func claim(_ key: RecordKey) async throws(RecordStoreError) -> RecordClaimResult { try await base.claim(key) }

    func snapshots(for keys: [RecordKey]) async throws(RecordStoreError) -> [RecordSnapshot?] {
        try await passing(.read) { () async throws(RecordStoreError) in try await base.snapshots(for: keys) }
    }

    func commit(_ changes: [RecordChange]) async throws(RecordStoreError) { try await commit(changes, if: []) }

    func commit(_ changes: [RecordChange], if conditions: [RecordCondition]) async throws(RecordStoreError) {
        try await passing(.commit(changes)) { () async throws(RecordStoreError) in
            try await base.commit(changes, if: conditions)
        }
    }

    func announcements(under key: RecordKey) -> RecordAnnouncements { base.announcements(under: key) }

    func lease(
        under key: RecordKey,
        limit: Int,
        for duration: Duration
    ) async throws(RecordStoreError) -> [(lease: RecordLease, snapshot: RecordSnapshot)] {
        try await passing(.lease) { () async throws(RecordStoreError) in
            try await base.lease(under: key, limit: limit, for: duration)
        }
    }

    func extend(_ lease: RecordLease, for duration: Duration) async throws(RecordStoreError) -> Bool {
        try await passing(.extend) { () async throws(RecordStoreError) in
            try await base.extend(lease, for: duration)
        }
    }
}

extension GatedSharedStore.Operation {
    /// Whether the operation notes an attempt.
    var isNote: Bool {
        guard case .commit(let changes) = self, changes.count == 1, case .keep(_, let key)? = changes.first else {
            return false
        }
        return key.components.starts(with: ["outbox", "notes"])
    }

    /// Whether the operation settles an entry.
    var isSettlement: Bool {
        guard case .commit(let changes) = self else { return false }
        return changes.contains {
            if case .remove(let key) = $0 { key.components.starts(with: ["outbox", "notes"]) } else { false }
        }
    }
}
