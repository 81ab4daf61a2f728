import InwardRepositories
import Synchronization

/// Flaws that occur between two stores at one place.
extension FlawedRecordStore {
    /// Whether the store returns remembered records because it misses removals by another store.
    var missesOtherRemovals: Bool {
        flaw == .missesRemovalsOfOtherStores || flaw == .missesBulkRemovalsOfOtherStores
    }

    /// Returns a record, or the remembered one if its removal was missed.
    func remembered(_ record: StoredRecord?, for key: RecordKey) -> StoredRecord? {
        own.records.withLock { remembered in
            if let record { remembered[key] = record }
            let isNoticed =
                place.removals.withLock { $0[key] } != (flaw == .missesRemovalsOfOtherStores ? .alone : .withAllOthers)
            return record ?? (isNoticed ? nil : remembered[key])
        }
    }

    /// Remembers how the removed records were removed.
    func noteRemovals(by change: RecordChange, of records: [RecordKey: StoredRecord]) {
        place.removals.withLock { removals in
            switch change {
            case .keep(_, let key): removals[key] = nil
            case .remove(let key): removals[key] = .alone
            case .removeAll(let key):
                for gone in records.keys where key.contains(gone) { removals[gone] = .withAllOthers }
            case .announce: break
            }
        }
    }

    /// Returns the records. If another store made the last commit, reads each of them again, one after the other.
    func readOneByOne(_ found: [RecordKey: StoredRecord]) async -> [(key: RecordKey, record: StoredRecord)] {
        guard place.committer.withLock(\.self) != ObjectIdentifier(own) else {
            return found.map { (key: $0.key, record: $0.value) }
        }
        var records: [(key: RecordKey, record: StoredRecord)] = []
        for key in found.keys {
            await Task.yield()
            guard let record = place.records.withLock({ $0[key] }), isGiven(record) else { continue }
            records.append((key: key, record: record))
        }
        return records
    }
}
