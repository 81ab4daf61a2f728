import InwardCore
import InwardRepositories

/// A store that takes a second for each operation.
struct SlowRecordStore: RecordStore {
    private let base: any RecordStore
    private let timer: TimerService
    /// Whether a commit takes effect immediately and returns a second later.
    private let answersLate: Bool
    /// Whether a claim takes a second, too.
    private let claimsLate: Bool

    init(_ base: any RecordStore, timer: TimerService, answersLate: Bool = false, claimsLate: Bool = false) {
        self.base = base
        self.timer = timer
        self.answersLate = answersLate
        self.claimsLate = claimsLate
    }

    func record(for key: RecordKey) async throws(RecordStoreError) -> StoredRecord? {
        try await pause()
        return try await base.record(for: key)
    }

    func records(
        under key: RecordKey
    ) async throws(RecordStoreError) -> [(key: RecordKey, record: StoredRecord)] {
        try await pause()
        return try await base.records(under: key)
    }

    func losses(under key: RecordKey) async throws(RecordStoreError) -> RecordLosses {
        try await pause()
        return try await base.losses(under: key)
    }

    func commit(_ changes: [RecordChange]) async throws(RecordStoreError) {
        if answersLate {
            try await base.commit(changes)
            try? await pause()
        } else {
            try await pause()
            try await base.commit(changes)
        }
    }

    func claim(_ key: RecordKey) async throws(RecordStoreError) -> RecordClaimResult {
        if claimsLate { try await pause() }
        return try await base.claim(key)
    }

    private func pause() async throws(RecordStoreError) {
        do { try await timer.sleep(for: .seconds(1)) } catch {
            throw RecordStoreError(.cancelled, explanation: "The task was cancelled.")
        }
    }
}
