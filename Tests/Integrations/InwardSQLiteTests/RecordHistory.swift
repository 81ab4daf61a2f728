#if SQLite
import InwardRepositories

/// A sequence of commits, and the records that exist after each of them.
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

    /// The records before the first commit, after the first commit, and so on.
    var states: [[RecordKey: [UInt8]]] {
        commits.reduce(into: [[:]]) { states, changes in
            var state = states.last ?? [:]
            for change in changes {
                switch change {
                case .keep(let record, let key): state[key] = record.bytes
                case .remove(let key): state[key] = nil
                case .removeAll(let key): state = state.filter { !key.contains($0.key) }
                case .announce: break
                }
            }
            states.append(state)
        }
    }

    /// The records after all commits.
    var last: [RecordKey: [UInt8]] { states.last ?? [:] }

    /// All keys that ever had a record.
    var keys: Set<RecordKey> { Set(states.flatMap(\.keys)) }
}
#endif
