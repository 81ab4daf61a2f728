import Foundation
import InwardRepositories
import Synchronization

/// A store in memory whose records a test can damage, and that does one thing wrong with its losses, if a test asks for it.
struct LossyRecordStore: RecordStore {
    enum Flaw: CaseIterable {
        case namesWhatIsKept
        case namesWhatExpires
        case namesNothing
        case namesLossesOfOtherKeys
        case forgetsWhatItHasNamed
        case forgetsWithAnyCommit
        case neverForgets
        case namesNothingWhenCancelled
        case failsOtherwiseWhenCancelled
    }

    /// A place that stores are opened at.
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

    /// Damages what is kept under a key, so that it is not given any more.
    func damage(_ key: RecordKey) async throws(RecordStoreError) {
        guard let record = try await place.records.record(for: key) else { return }
        try await place.records.commit([.remove(key)])
        guard record.expiry == nil || flaw == .namesWhatExpires else { return }
        place.losses.withLock { _ = $0.insert(key) }
    }

    func record(for key: RecordKey) async throws(RecordStoreError) -> StoredRecord? {
        try await place.records.record(for: key)
    }

    func records(under key: RecordKey) async throws(RecordStoreError) -> [(key: RecordKey, record: StoredRecord)] {
        try await place.records.records(under: key)
    }

    func losses(under key: RecordKey) async throws(RecordStoreError) -> RecordLosses {
        if flaw == .namesNothing { return RecordLosses() }
        if Task.isCancelled {
            switch flaw {
            case .namesNothingWhenCancelled: return RecordLosses()
            case .failsOtherwiseWhenCancelled: throw RecordStoreError(.unavailable, explanation: "")
            default: throw RecordStoreError(.cancelled, explanation: "")
            }
        }
        var keys = place.losses.withLock(\.self)
        if flaw == .forgetsWhatItHasNamed { place.losses.withLock { $0 = [] } }
        if flaw == .namesWhatIsKept { keys.formUnion(try await place.records.records(under: key).map(\.key)) }
        return RecordLosses(keys: keys.filter { key.contains($0) || flaw == .namesLossesOfOtherKeys }.sorted())
    }

    func claim(_ key: RecordKey) async throws(RecordStoreError) -> RecordClaimResult {
        try await place.records.claim(key)
    }

    func commit(_ changes: [RecordChange]) async throws(RecordStoreError) {
        try await place.records.commit(changes)
        if flaw == .neverForgets { return }
        place.losses.withLock { losses in
            if flaw == .forgetsWithAnyCommit { return losses = [] }
            for change in changes {
                switch change {
                case .keep(_, let key), .remove(let key): losses.remove(key)
                case .removeAll(let key): losses = losses.filter { !key.contains($0) }
                }
            }
        }
    }
}
