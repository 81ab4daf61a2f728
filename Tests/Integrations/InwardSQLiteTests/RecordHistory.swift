#if SQLite
import InwardRepositories

/// Commits that tests make one after the other, and what is kept behind each.
struct RecordHistory {
    let commits: [[RecordChange]] = [
        [.keep(StoredRecord([1]), ["a"]), .keep(StoredRecord([1, 1]), ["b"])],
        [.keep(StoredRecord([2]), ["a"]), .keep(StoredRecord(Array("a record of some length".utf8)), ["c", "1"])],
        [.remove(["b"])],
        [
            .keep(StoredRecord([]), ["empty"]), .keep(StoredRecord(Array(0...99)), ["c", "2"]),
            .keep(StoredRecord([7]), []),
        ],
        [.removeAll(["c"]), .keep(StoredRecord([3, 3, 3]), ["c", "3"])],
        [.keep(StoredRecord([4, 4]), ["a"]), .keep(StoredRecord([4, 4]), ["é"])],
    ]

    /// What is kept behind none of the commits, the first, and so on.
    var states: [[RecordKey: [UInt8]]] {
        commits.reduce(into: [[:]]) { states, changes in
            var state = states.last ?? [:]
            for change in changes {
                switch change {
                case .keep(let record, let key): state[key] = record.bytes
                case .remove(let key): state[key] = nil
                case .removeAll(let key): state = state.filter { !key.contains($0.key) }
                }
            }
            states.append(state)
        }
    }

    /// What is kept behind all.
    var last: [RecordKey: [UInt8]] { states.last ?? [:] }

    /// Every key that was ever kept.
    var keys: Set<RecordKey> { Set(states.flatMap(\.keys)) }
}
#endif
