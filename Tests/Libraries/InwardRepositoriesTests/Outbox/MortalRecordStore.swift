import InwardRepositories

/// A store as seen by a process that can end at any step.
struct MortalRecordStore: RecordStore {
    private static let death = RecordStoreError(.unavailable, explanation: "The process has ended.")

    let base: any RecordStore
    let process: MortalProcess

    func record(for key: RecordKey) async throws(RecordStoreError) -> StoredRecord? {
        guard process.survives() else { throw Self.death }
        let record = try await base.record(for: key)
        guard process.survives() else { throw Self.death }
        return record
    }

    func records(
        under key: RecordKey
    ) async throws(RecordStoreError) -> [(key: RecordKey, record: StoredRecord)] {
        guard process.survives() else { throw Self.death }
        let records = try await base.records(under: key)
        guard process.survives() else { throw Self.death }
        return records
    }

    func losses(under key: RecordKey) async throws(RecordStoreError) -> RecordLosses {
        guard process.survives() else { throw Self.death }
        let losses = try await base.losses(under: key)
        guard process.survives() else { throw Self.death }
        return losses
    }

    func commit(_ changes: [RecordChange]) async throws(RecordStoreError) {
        guard process.survives() else { throw Self.death }
        try await base.commit(changes)
        guard process.survives() else { throw Self.death }
    }

    func claim(_ key: RecordKey) async throws(RecordStoreError) -> RecordClaimResult {
        guard process.survives() else { throw Self.death }
        let result = try await base.claim(key)
        guard case .claimed(let claim) = result else { return result }
        let held = process.hold(claim)
        guard process.survives() else { throw Self.death }
        return .claimed(held)
    }
}
