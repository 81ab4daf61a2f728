import InwardCore
import InwardRepositories

extension SharedRecordStoreConformance {
    /// A cancelled commit whose condition is met succeeds completely, or fails as cancelled and changes nothing. Commits of other
    /// clients are not affected.
    func cancelledCommitViolations(_ stores: [any SharedRecordStore]) async throws(RecordStoreError) -> [String] {
        var violations: Set<String> = []
        try await CancellationSweep.run(CancellationMoment.Order.allCases) { round, moment throws(RecordStoreError) in
            let prefix: RecordKey = ["cancelled", String(round)]
            let keys = (0..<3).map { prefix.appending(String($0)) }
            let other: RecordKey = ["other", String(round)]
            let (ending, otherEnding) = await moment.result {
                await Result(awaiting: { () async throws(RecordStoreError) in
                    let changes = keys.map { RecordChange.keep(StoredRecord([1]), $0) }
                    try await stores[0].commit(changes, if: keys.map { .isAbsent($0) })
                })
            } beside: {
                await Result(awaiting: { () async throws(RecordStoreError) in
                    try await stores[1].commit([.keep(StoredRecord([2]), other)], if: [.isAbsent(other)])
                })
            }
            let count = try await stores[1].records(under: prefix).count
            switch ending {
            case .success where count < keys.count:
                violations.insert("A cancelled commit that succeeds must take effect completely, but does not.")
            case .failure(let error) where error.reason != .cancelled:
                violations.insert("A cancelled commit must fail as cancelled, but failed as \(error.reason).")
            case .failure where count > 0:
                violations.insert("A commit that fails as cancelled must change nothing, but does.")
            case .success, .failure: break
            }
            try otherEnding?.get()
            if otherEnding != nil, try await stores[0].record(for: other) == nil {
                violations.insert("A commit beside a cancelled one must take effect, but does not.")
            }
            return count == keys.count
        }
        return violations.sorted()
    }

    /// A cancelled commit whose condition is not met changes nothing.
    func cancelledRefusalViolations(_ stores: [any SharedRecordStore]) async throws(RecordStoreError) -> [String] {
        let keys: [RecordKey] = [["refused", "1"], ["refused", "2"]]
        let record = StoredRecord([1])
        try await stores[0].commit([.keep(record, keys[0])])
        var violations: Set<String> = []
        try await CancellationSweep.run([.alone]) { _, moment throws(RecordStoreError) in
            let (ending, _) = await moment.result {
                await Result(awaiting: { () async throws(RecordStoreError) in
                    let changes = keys.map { RecordChange.keep(StoredRecord([2]), $0) }
                    try await stores[0].commit(changes, if: [.isAbsent(keys[0])])
                })
            } beside: {
            }
            switch ending {
            case .success: violations.insert("A cancelled commit whose condition is not met must fail, but succeeds.")
            case .failure(let error) where error.reason != .cancelled && error.reason != .conflict:
                violations.insert("A cancelled commit must fail as cancelled or conflict, not as \(error.reason).")
            case .failure: break
            }
            if try await stores[1].records(for: keys) != [record, nil] {
                violations.insert("A cancelled commit whose condition is not met must change nothing, but does.")
            }
            if case .failure(let error) = ending { return error.reason != .cancelled } else { return true }
        }
        return violations.sorted()
    }

    /// A cancelled lease, extension or read is complete or fails as cancelled.
    func cancelledLeaseViolations(_ stores: [any SharedRecordStore]) async throws(RecordStoreError) -> [String] {
        let keys = (0..<3).map { RecordKey(["read", String($0)]) }
        let record = StoredRecord([1])
        try await stores[0].commit(keys.map { .keep(record, $0) })
        var violations = await CancellationSweep.violations(
            ofReading: "A list of snapshots"
        ) { () async throws(RecordStoreError) in
            try await stores[0].snapshots(for: keys).map { $0?.record } == [record, record, record]
        }
        let key: RecordKey = ["leased"]
        try await stores[0].commit([.keep(record, key)])
        if let lease = try await stores[0].lease(under: key, limit: 1, for: .zero).first?.lease {
            violations += await CancellationSweep.violations(
                ofReading: "A lease",
                "extended"
            ) { () async throws(RecordStoreError) in
                try await stores[0].extend(lease, for: .zero)
            }
        }
        var found: Set<String> = []
        try await CancellationSweep.run([.alone]) { round, moment throws(RecordStoreError) in
            let key: RecordKey = ["leased", String(round)]
            try await stores[0].commit([.keep(record, key)])
            let (ending, _) = await moment.result {
                await Result(awaiting: { () async throws(RecordStoreError) in
                    try await stores[0].lease(under: key, limit: 1, for: .seconds(3_600)).map(\.lease)
                })
            } beside: {
            }
            switch ending {
            case .success(let leases):
                // A lease that fails may have taken effect. One that succeeds must have.
                let isFree = try await !stores[1].lease(under: key, limit: 1, for: .zero).isEmpty
                if leases.count != 1 || isFree {
                    found.insert("A cancelled lease that succeeds must exclude others, but does not.")
                }
            case .failure(let error):
                if error.reason != .cancelled {
                    found.insert("A cancelled lease must succeed or fail as cancelled, but failed as \(error.reason).")
                }
            }
            return (try? ending.get()) != nil
        }
        return violations + found.sorted()
    }
}
