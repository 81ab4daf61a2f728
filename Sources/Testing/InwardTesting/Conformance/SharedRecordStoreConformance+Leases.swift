import InwardRepositories

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension SharedRecordStoreConformance {
    private static var hour: Duration { .seconds(3_600) }

    /// Leases the record under a key.
    private func lease(
        _ key: RecordKey,
        in store: any SharedRecordStore,
        for duration: Duration = hour
    ) async throws(RecordStoreError) -> RecordLease? {
        try await store.lease(under: key, limit: 1, for: duration).first?.lease
    }

    /// Returns whether a commit that requires a lease is made.
    private func isLeased(
        _ lease: RecordLease,
        in store: any SharedRecordStore
    ) async throws(RecordStoreError) -> Bool {
        try await isMade([], if: [.isLeased(lease)], in: store)
    }

    /// Returns whether a lease is the last one of its record, both for a commit and for an extension by an hour.
    private func isLast(
        _ lease: RecordLease,
        in stores: [any SharedRecordStore]
    ) async throws(RecordStoreError) -> Bool {
        let isLeased = try await isLeased(lease, in: stores[0])
        let isExtended = try await stores[1].extend(lease, for: Self.hour)
        return isLeased && isExtended
    }

    /// A lease excludes others, and has at most as many records as it may.
    func leaseViolations(_ stores: [any SharedRecordStore]) async throws(RecordStoreError) -> [String] {
        let keys = (0..<7).map { RecordKey(["jobs", String($0)]) }
        try await stores[0].commit(keys.enumerated().map { .keep(StoredRecord([UInt8($0)]), $1) })
        let snapshots = try await stores[0].snapshots(for: keys).compactMap(\.self)
        var violations: [String] = []
        var leased: [RecordKey] = []
        for (round, (limit, expected)) in [(0, 0), (2, 2), (1, 1), (3, 3), (10, 1), (10, 0)].enumerated() {
            let leases = try await stores[round % 2].lease(under: ["jobs"], limit: limit, for: Self.hour)
            if leases.count > limit {
                violations.append("A lease of at most \(limit) records must have no more, but has \(leases.count).")
            }
            if !Set(leases.map(\.lease.key)).isDisjoint(with: leased) {
                violations.append("A leased record must not be leased again, but is.")
            } else if leases.count < expected {
                violations.append("A lease of \(limit) records must have all free ones, but has only \(leases.count).")
            }
            if !leases.allSatisfy({ snapshots.contains($0.snapshot) && $0.snapshot.key == $0.lease.key }) {
                violations.append("A lease must have the leased record with its version, but does not.")
            }
            leased += leases.map(\.lease.key)
        }
        if Set(leased) != Set(keys) { violations.append("Each free record must be leased, but some are not.") }
        return violations
    }

    /// A lease concerns the records under its key, and no missing or expired ones.
    func leaseScopeViolations(_ stores: [any SharedRecordStore]) async throws(RecordStoreError) -> [String] {
        let tree: [RecordKey] = [
            [], ["a"], ["a", "1"], ["a", "1", "x"], ["a", "10"], ["a", ""], ["ab"], ["A"], ["b"],
        ]
        let (missing, expired): (RecordKey, RecordKey) = (["a", "2"], ["a", "1", "expired"])
        let old = StoredRecord([1], expiry: now.addingTimeInterval(-1))
        var violations: [String] = []
        for key in tree + [missing, expired, ["none"]] {
            try await stores[0].commit(
                [.removeAll([]), .keep(old, expired)] + tree.map { .keep(StoredRecord([1]), $0) }
            )
            let leased = try await stores[1].lease(under: key, limit: 20, for: Self.hour).map(\.lease.key)
            if leased.contains(expired) { violations.append("An expired record must not be leased, but is.") }
            let expected = tree.filter(key.contains)
            if Set(leased).subtracting([expired]) != Set(expected) || leased.count != Set(leased).count {
                violations.append("A lease under \(key) must have each record under it, and no others, but does not.")
            }
            let others = try await stores[0].lease(under: [], limit: 20, for: Self.hour).map(\.lease.key)
            if Set(others).subtracting([expired]) != Set(tree).subtracting(expected) {
                violations.append("A lease under \(key) must not affect other records, but does.")
            }
        }
        return violations
    }

    /// The fencing token of a lease is greater than all before.
    func tokenViolations(_ stores: [any SharedRecordStore]) async throws(RecordStoreError) -> [String] {
        let key: RecordKey = ["tokens", "1"]
        let keep = RecordChange.keep(StoredRecord([1]), key)
        var violations: Set<String> = []
        var last: UInt64?
        for (round, (changes, description)): (Int, ([RecordChange], String)) in [
            ([keep], "A first lease"), ([], "A further lease"), ([], "A further lease"),
            ([keep], "A lease after a keep"),
            ([.remove(key), keep], "A lease of a record that was removed and created in one commit"),
            ([.remove(key)], "A lease of a record that was removed and created again"),
            ([keep], "A lease of a record that was removed and created again"), ([], "A further lease"),
            ([.removeAll([])], "A lease after the removal of all records"),
            ([keep], "A lease after the removal of all records"),
        ].enumerated() {
            try await stores[round % 2].commit(changes)
            guard try await stores[1].record(for: key) != nil else { continue }
            guard let lease = try await lease(key, in: stores[round / 2 % 2], for: .zero) else {
                return violations + ["\(description) for no time must be possible, but is not."]
            }
            if let last, lease.token <= last {
                violations.insert("\(description) must have a greater token than all before, but does not.")
            }
            last = lease.token
        }
        return violations.sorted()
    }

    /// A lease is fenced when the record is leased again, and not before.
    func fencingViolations(_ stores: [any SharedRecordStore]) async throws(RecordStoreError) -> [String] {
        let (key, other): (RecordKey, RecordKey) = (["fenced", "1"], ["fenced", "2"])
        try await stores[0].commit([.keep(StoredRecord([1]), key), .keep(StoredRecord([1]), other)])
        guard let first = try await lease(key, in: stores[0], for: .zero) else {
            return ["A free record must be leased, but is not."]
        }
        var violations: [String] = []
        if try await !isLeased(first, in: stores[1]) {
            violations.append("A lease that has ended must still be the last one if nobody leased again, but is not.")
        }
        guard let second = try await lease(key, in: stores[1]) else {
            return violations + ["A lease for no time must end at once, but does not."]
        }
        if try await isMade([.keep(StoredRecord([2]), key)], if: [.isLeased(first)], in: stores[0]) {
            violations.append("A commit must be refused if its record was leased again, but is made.")
        }
        for duration in [Self.hour, .zero] {
            if try await stores[0].extend(first, for: duration) {
                violations.append("A lease whose record was leased again must not be extended, but is.")
            }
        }
        if try await lease(key, in: stores[0]) != nil {
            violations.append("Extending a lease whose record was leased again must change nothing, but does.")
        }
        let confused = RecordLease(other, token: second.token)
        if try await isLeased(confused, in: stores[0]) {
            violations.append("A lease must not be valid for another record, but is.")
        }
        let changes: [RecordChange] = [.keep(StoredRecord([3]), key)]
        if try await !isMade(changes, if: [.isLeased(second)], in: stores[1]) {
            violations.append("A commit must be made if the lease is the last one of its record, but is refused.")
        } else if try await stores[0].record(for: key) != StoredRecord([3]) {
            violations.append("A commit with a lease must take effect, but does not.")
        }
        return violations
    }

    /// Extending a lease changes when it ends.
    func extensionViolations(_ stores: [any SharedRecordStore]) async throws(RecordStoreError) -> [String] {
        let key: RecordKey = ["extended"]
        try await stores[0].commit([.keep(StoredRecord([1]), key)])
        guard let first = try await lease(key, in: stores[0]) else {
            return ["A free record must be leased, but is not."]
        }
        var violations: [String] = []
        if try await !stores[1].extend(first, for: .zero) {
            violations.append("The last lease of a record must be extended, but is not.")
        }
        if try await !isLeased(first, in: stores[0]) {
            violations.append("A lease that has ended must still be the last one if nobody leased again, but is not.")
        }
        if try await !stores[0].extend(first, for: Self.hour) {
            violations.append("A lease that has ended must be extended if nobody leased again, but is not.")
        }
        if try await lease(key, in: stores[1]) != nil {
            violations.append("A lease that was extended by an hour must exclude others, but does not.")
        }
        if try await !isLast(first, in: stores) {
            violations.append("An extended lease must still be the last one of its record, but is not.")
        }
        _ = try await stores[0].extend(first, for: .zero)
        if try await lease(key, in: stores[1]) == nil {
            violations.append("A lease that was extended by no time must end, but does not.")
        }
        return violations
    }

    /// A lease survives a keep of its record, and ends with the removal.
    func leaseChangeViolations(_ stores: [any SharedRecordStore]) async throws(RecordStoreError) -> [String] {
        let key: RecordKey = ["changed", "1"]
        let keep = RecordChange.keep(StoredRecord([1]), key)
        try await stores[0].commit([keep])
        guard let kept = try await lease(key, in: stores[0]) else {
            return ["A free record must be leased, but is not."]
        }
        try await stores[1].commit([keep])
        let isExclusive = try await lease(key, in: stores[1]) == nil
        let isStillLeased = try await isLast(kept, in: stores)
        var violations: Set<String> =
            isExclusive && isStillLeased ? [] : ["A lease must survive a keep of its record, but does not."]
        for (removal, description): ([RecordChange], String) in [
            ([.remove(key)], "the removal of its record"), ([.removeAll(["changed"])], "the removal of all records"),
            ([.remove(key), keep], "the removal of its record by a commit that creates another"),
        ] {
            try await stores[0].commit([.remove(key)])
            try await stores[0].commit([keep])
            guard let lease = try await lease(key, in: stores[1]) else {
                return violations + ["A record that was removed and created again must be free, but is not."]
            }
            try await stores[0].commit(removal)
            // Before the record is created again, after that, and after it was leased again.
            for step in 0..<3 {
                let isLeased = try await isLeased(lease, in: stores[0])
                let isExtended = try await stores[1].extend(lease, for: Self.hour)
                if isLeased || isExtended {
                    violations.insert("A lease must end with \(description), but does not.")
                }
                if step == 0 { try await stores[1].commit([keep]) }
                if step == 1, try await self.lease(key, in: stores[0]) == nil {
                    violations.insert("A record must be free after \(description), but is not.")
                }
            }
        }
        return violations.sorted()
    }
}
