import InwardRepositories

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension SharedRecordStoreConformance {
    /// Snapshots have the records that are read without versions, in the order of the keys.
    func snapshotViolations(_ stores: [any SharedRecordStore]) async throws(RecordStoreError) -> [String] {
        let kept = RecordStoreConformance.keys
        let (missing, expired): (RecordKey, RecordKey) = (["a", "c"], ["a", "expired"])
        let old = StoredRecord([0], expiry: now.addingTimeInterval(-1))
        let lasting = StoredRecord([7], expiry: now.addingTimeInterval(3_600))
        var violations: [String] = []
        for round in 0..<2 {
            // In the second round, each record replaces another.
            let records = kept.indices.map { StoredRecord([UInt8(truncatingIfNeeded: $0), UInt8(round)]) }
            try await stores[round].commit(
                zip(records, kept).map { .keep($0, $1) } + [.keep(old, expired), .keep(lasting, ["lasting"])]
            )
            for (keys, description): ([RecordKey], String) in [
                ([], "no keys"), (kept, "different keys"), (kept.reversed(), "the same keys in reverse"),
                ([missing, ["a"], missing, ["ab"]], "some missing keys"), ([expired, ["a"]], "an expired key"),
                ([["a"], ["ab"], ["a"], ["a"], missing], "repeated keys"), ([["lasting"]], "a record with an expiry"),
            ] {
                let snapshots = try await stores[0].snapshots(for: keys)
                let records = try await stores[0].records(for: keys)
                if snapshots.map({ $0?.record }) != records {
                    violations.append("The snapshots for \(description) must have the records of the keys, but do not.")
                }
                if zip(snapshots, keys).contains(where: { $0.map { $0.key } ?? $1 != $1 }) {
                    violations.append("The snapshots for \(description) must have these keys, but do not.")
                }
                if Set(snapshots.compactMap(\.self)).count != Set(snapshots.compactMap { $0?.key }).count {
                    violations.append("The snapshots for \(description) must have one version per key, but do not.")
                }
            }
        }
        return violations
    }

    /// Each keep gives a greater version than all earlier ones, in whichever of the stores.
    func versionViolations(_ stores: [any SharedRecordStore]) async throws(RecordStoreError) -> [String] {
        let (one, two) = (StoredRecord([1]), StoredRecord([2]))
        let (a, b, c, d): (RecordKey, RecordKey, RecordKey, RecordKey) = (["a"], ["b"], ["a", "c"], ["d"])
        let expired = StoredRecord([1], expiry: now.addingTimeInterval(-1))
        /// Commits, the keys that the last one keeps, in its order, and a description.
        let steps: [([[RecordChange]], [RecordKey], String)] = [
            ([[.keep(one, a)]], [a], "A keep"), ([[.keep(one, a)]], [a], "A keep of equal bytes"),
            ([[.keep(two, a)]], [a], "A keep of other bytes"), ([[.keep(one, b)]], [b], "A keep of another record"),
            ([[.keep(one, c), .keep(one, a), .keep(one, b)]], [c, a, b], "Each keep of a commit"),
            ([[.remove(a)], [.keep(one, a)]], [a], "A keep of a removed record"),
            ([[.keep(one, b), .remove(a), .keep(one, a)]], [b, a], "A keep after a removal in the same commit"),
            ([[.keep(expired, d)], [.keep(one, d)]], [d], "A keep of an expired record"),
            ([[.removeAll([])], [.keep(one, a)]], [a], "A keep after the removal of all records"),
            ([[.removeAll(a), .keep(one, c)]], [c], "A keep in the commit that removes all records"),
        ]
        var violations: [String] = []
        var last: RecordVersion?
        for (round, (commits, keys, description)) in (steps + steps + steps).enumerated() {
            for (number, changes) in commits.enumerated() { try await stores[(round + number) % 2].commit(changes) }
            let versions = try await stores[round / 2 % 2].snapshots(for: keys).map { $0?.version }
            for version in versions {
                if let version, last.map({ $0 < version }) ?? true {
                    last = version
                } else {
                    violations.append("\(description) must give a greater version than all keeps before, but does not.")
                    last = versions.compactMap(\.self).max() ?? last
                    break
                }
            }
        }
        return Array(Set(violations)).sorted()
    }

    /// Nothing but a keep of the record changes its version.
    func unchangedVersionViolations(_ stores: [any SharedRecordStore]) async throws(RecordStoreError) -> [String] {
        let (key, other): (RecordKey, RecordKey) = (["unchanged", "1"], ["unchanged", "2"])
        let (store, record) = (stores[0], StoredRecord([1]))
        try await store.commit([.keep(record, key), .keep(record, other)])
        let version = try await store.snapshot(for: key)?.version
        var violations: [String] = []
        func check(_ name: String) async throws(RecordStoreError) {
            for store in stores where try await store.snapshot(for: key)?.version != version {
                violations.append("\(name) must not change the version of a record, but does.")
                break
            }
        }
        try await check("Reading a snapshot")
        _ = try await store.record(for: key)
        try await check("Reading a record")
        _ = try await store.records(for: [key, other])
        _ = try await store.records(under: ["unchanged"])
        _ = try await store.records(under: ["unchanged"], after: nil, limit: 2)
        try await check("Reading several records")
        _ = try await store.losses(under: [])
        try await check("Reading losses")
        try await store.commit([], if: [.isAbsent(["unchanged"])])
        try await store.commit([.keep(record, other)])
        try await store.commit([.remove(other)])
        try await check("A commit of another record")
        _ = try await isMade([.keep(record, key)], if: [.isAbsent(key)], in: store)
        try await check("A commit whose condition is not met")
        for (lease, _) in try await store.lease(under: key, limit: 1, for: .seconds(3_600)) {
            try await check("A lease")
            _ = try await store.extend(lease, for: .zero)
            try await check("Extending a lease")
        }
        return violations
    }

    /// Versions and fencing tokens grow although the store is opened again.
    func reopeningViolations(
        _ store: any SharedRecordStore,
        _ open: @Sendable () async throws -> any SharedRecordStore
    ) async throws -> [String] {
        let key: RecordKey = ["reopened"]
        try await store.commit([.removeAll([])])
        var violations: Set<String> = []
        var last: (version: RecordVersion, token: UInt64)?
        for change: RecordChange in [.keep(StoredRecord([1]), key), .remove(key), .removeAll([])] {
            try await open().commit([change])
            let store = try await open()
            try await store.commit([.keep(StoredRecord([1]), key)])
            guard let version = try await open().snapshot(for: key)?.version,
                let lease = try await open().lease(under: key, limit: 1, for: .zero).first?.lease
            else { return ["A record that was kept before the store was opened must be found and leased, but is not."] }
            if let last, version <= last.version {
                violations.insert("A keep in a reopened store must give a greater version, but does not.")
            }
            if let last, lease.token <= last.token {
                violations.insert("A lease in a reopened store must have a greater token, but does not.")
            }
            last = (version, lease.token)
        }
        return violations.sorted()
    }
}
