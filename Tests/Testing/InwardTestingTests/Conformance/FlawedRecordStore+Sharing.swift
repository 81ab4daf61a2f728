import InwardRepositories
import Synchronization

/// What goes wrong between two stores at one place.
extension FlawedRecordStore {
    /// Whether a store gives what it remembers where it does not notice that another has removed it.
    var missesRemovals: Bool {
        flaw == .missesWhatTheOtherRemoves || flaw == .missesWhatTheOtherRemovesWithAllOthers
    }

    /// A record as a store gives it that remembers what it has given.
    func remembered(_ record: StoredRecord?, for key: RecordKey) -> StoredRecord? {
        own.records.withLock { remembered in
            if let record { remembered[key] = record }
            let isNoticed =
                place.removals.withLock { $0[key] } != (flaw == .missesWhatTheOtherRemoves ? .alone : .withAllOthers)
            return record ?? (isNoticed ? nil : remembered[key])
        }
    }

    /// Remembers how what a change removes was removed.
    func noteRemovals(by change: RecordChange, of records: [RecordKey: StoredRecord]) {
        place.removals.withLock { removals in
            switch change {
            case .keep(_, let key): removals[key] = nil
            case .remove(let key): removals[key] = .alone
            case .removeAll(let key):
                for gone in records.keys where key.contains(gone) { removals[gone] = .withAllOthers }
            }
        }
    }

    /// Records as a store gives them that looks at each anew where another store has committed them.
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
