import Foundation
import InwardRepositories
import Synchronization

/// An in-memory store whose records a test can damage, with at most one flaw in how it reports losses.
struct LossyRecordStore: RecordStore {
    enum Flaw: CaseIterable {
        case reportsUndamagedRecords
        case reportsExpiringRecords
        case reportsNothing
        case reportsLossesOfOtherKeys
        case forgetsReportedLosses
        case forgetsLossesOnAnyCommit
        case neverForgetsLosses
        case reportsNothingWhenCancelled
        case failsDifferentlyWhenCancelled
    }

    /// The contents of a place, which the stores opened there share.
    final class Place: Sendable {
        let records: InMemoryRecordStore
        let losses = Mutex<Set<RecordKey>>([])

        init(now: Date) {
            records = InMemoryRecordStore(now: { now })
        }
    }

    let flaw: Flaw?
    private let place: Place

    init(flaw: Flaw?, at place: Place) {
        self.flaw = flaw
        self.place = place
    }

    /// Damages the record under a key, so that it is no longer returned.
    func damage(_ key: RecordKey) async throws(RecordStoreError) {
        guard let record = try await place.records.record(for: key) else { return }
        try await place.records.commit([.remove(key)])
        guard record.expiry == nil || flaw == .reportsExpiringRecords else { return }
        place.losses.withLock { _ = $0.insert(key) }
    }

    func record(for key: RecordKey) async throws(RecordStoreError) -> StoredRecord? {
        try await place.records.record(for: key)
    }

    func records(under key: RecordKey) async throws(RecordStoreError) -> [(key: RecordKey, record: StoredRecord)] {
        try await place.records.records(under: key)
    }

    func losses(under key: RecordKey) async throws(RecordStoreError) -> RecordLosses {
        if flaw == .reportsNothing { return RecordLosses() }
        if Task.isCancelled {
            switch flaw {
            case .reportsNothingWhenCancelled: return RecordLosses()
            case .failsDifferentlyWhenCancelled: throw RecordStoreError(.unavailable, explanation: "")
            default: throw RecordStoreError(.cancelled, explanation: "")
            }
        }
        var keys = place.losses.withLock(\.self)
        if flaw == .forgetsReportedLosses { place.losses.withLock { $0 = [] } }
        if flaw == .reportsUndamagedRecords { keys.formUnion(try await place.records.records(under: key).map(\.key)) }
        return RecordLosses(keys: keys.filter { key.contains($0) || flaw == .reportsLossesOfOtherKeys }.sorted())
    }

    func claim(_ key: RecordKey) async throws(RecordStoreError) -> RecordClaimResult {
        try await place.records.claim(key)
    }

    func commit(_ changes: [RecordChange]) async throws(RecordStoreError) {
        try await place.records.commit(changes)
        if flaw == .neverForgetsLosses { return }
        place.losses.withLock { losses in
            if flaw == .forgetsLossesOnAnyCommit { return losses = [] }
            for change in changes {
                switch change {
                case .keep(_, let key), .remove(let key): losses.remove(key)
                case .removeAll(let key): losses = losses.filter { !key.contains($0) }
                case .announce: break
                }
            }
        }
    }
}
