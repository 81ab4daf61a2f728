import InwardRepositories

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension RecordStoreConformance {
    /// Records are read back byte for byte, and so are their replacements.
    func valueViolations(_ store: any RecordStore) async throws(RecordStoreError) -> [String] {
        let key: RecordKey = ["values", "7"]
        var violations = try await violations(of: store, finding: nil, for: key, "A record that was never committed")
        for bytes in Self.values {
            let record = StoredRecord(bytes)
            try await store.commit([.keep(record, key)])
            violations += try await self.violations(
                of: store,
                finding: record,
                for: key,
                "A record of \(bytes.count) bytes"
            )
        }
        // The last of the values is still stored.
        try await store.commit([])
        let last = Self.values.last.map { StoredRecord($0) }
        violations += try await self.violations(of: store, finding: last, for: key, "A record after an empty commit")
        return violations
    }

    /// Each key has its own record, however similar the keys are.
    func keyViolations(_ store: any RecordStore) async throws(RecordStoreError) -> [String] {
        let records = Self.keys.enumerated().map { index, key in
            (key: key, record: StoredRecord([UInt8(truncatingIfNeeded: index), 1]))
        }
        try await store.commit(records.map { .keep($0.record, $0.key) })
        var violations: [String] = []
        for (key, record) in records {
            violations += try await self.violations(
                of: store,
                finding: record,
                for: key,
                "The record under \(name(key))"
            )
        }
        let count = try await store.records(under: []).count
        if count != records.count { violations.append("\(records.count) keys must be listed, but \(count) are.") }
        return violations
    }

    /// Removals delete the given records and no others.
    func removalViolations(_ store: any RecordStore) async throws(RecordStoreError) -> [String] {
        var violations: [String] = []
        let tree: [RecordKey] = [
            ["a"], ["a", "1"], ["a", "1", "x"], ["a", ""], ["ab"], ["ab", "1"], ["b"], ["A"], [],
        ]
        let record = StoredRecord([1, 2, 3])
        for (change, gone): (RecordChange, [RecordKey]) in [
            (.remove(["a"]), [["a"]]), (.remove(["c"]), []), (.remove([]), [[]]), (.removeAll(["c"]), []),
            (.removeAll(["a", "1"]), [["a", "1"], ["a", "1", "x"]]),
            (.removeAll(["a"]), [["a"], ["a", "1"], ["a", "1", "x"], ["a", ""]]), (.removeAll([]), tree),
        ] {
            try await store.commit([.removeAll([])] + tree.map { .keep(record, $0) })
            try await store.commit([change])
            for key in tree {
                violations += try await self.violations(
                    of: store,
                    finding: gone.contains(key) ? nil : record,
                    for: key,
                    "The record under \(name(key)) after \(change)"
                )
            }
        }
        return violations
    }

    /// The records under a key are listed in order, and no others.
    func orderViolations(_ store: any RecordStore) async throws(RecordStoreError) -> [String] {
        let keys = Self.keys + (0..<1_200).map { ["many", String($0 * 7919 % 1_200)] }
        try await store.commit(keys.map { .keep(StoredRecord([]), $0) })
        let sorted = keys.sorted()
        var violations: [String] = []
        for prefix: RecordKey in [[], [""], ["a"], ["many"], ["many", "1"], ["man"], ["e\u{301}"]] {
            let listed = try await store.records(under: prefix).map(\.key)
            let expected = sorted.filter(prefix.contains)
            if listed != expected {
                let order =
                    listed.sorted() == expected ? "in order, but are not" : "completely and without others, but are not"
                violations.append("The keys under \(name(prefix)) must be listed \(order).")
            }
        }
        return violations
    }

    /// The changes of a commit are applied one after the other.
    func sequenceViolations(_ store: any RecordStore) async throws(RecordStoreError) -> [String] {
        let key: RecordKey = ["s", "1"]
        let (one, two) = (StoredRecord([1]), StoredRecord([2]))
        var violations: [String] = []
        for (changes, expected): ([RecordChange], StoredRecord?) in [
            ([.keep(one, key), .keep(two, key)], two), ([.keep(one, key), .remove(key)], nil),
            ([.remove(key), .keep(one, key)], one), ([.keep(two, key), .removeAll(["s"])], nil),
            ([.keep(two, key), .removeAll(["s"]), .keep(one, key)], one), ([.announce(["s"]), .announce(key)], one),
            ([.removeAll(["s"]), .announce(key)], nil), ([.announce(key), .keep(one, key)], one),
        ] {
            try await store.commit(changes)
            violations += try await self.violations(
                of: store,
                finding: expected,
                for: key,
                "The record after \(changes)"
            )
        }
        return violations
    }

    /// Expired records are not returned, and others are.
    func expiryViolations(_ store: any RecordStore) async throws(RecordStoreError) -> [String] {
        var violations: [String] = []
        for (seconds, isGiven) in [(-1e9, false), (-0.5, false), (0, false), (3_600, true), (1e9, true)] {
            let key: RecordKey = ["expiring", String(seconds)]
            let record = StoredRecord([9], expiry: now.addingTimeInterval(seconds))
            try await store.commit([.keep(record, key)])
            violations += try await self.violations(
                of: store,
                finding: isGiven ? record : nil,
                for: key,
                "A record that expires in \(seconds) seconds"
            )
        }
        let key: RecordKey = ["expiring"]
        try await store.commit([.keep(StoredRecord([1], expiry: now.addingTimeInterval(-1)), key)])
        try await store.commit([.keep(StoredRecord([2]), key)])
        violations += try await self.violations(
            of: store,
            finding: StoredRecord([2]),
            for: key,
            "The replacement of an expired record"
        )
        return violations
    }

    /// No bytes, all byte values, some single bytes, and 1 MiB.
    static let values: [[UInt8]] = {
        let all = [UInt8](0...255)
        let large = (0..<1_048_576).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
        return [[], all, [0], [255], all.reversed(), large]
    }()

    /// Keys that are similar in their letters, component boundaries, text or file names.
    static var keys: [RecordKey] {
        [
            [], [""], ["", ""], ["a"], ["a", ""], ["", "a"], ["a", "b"], ["ab"], ["a/b"], ["a", "/", "b"], ["a\0b"],
            ["a\0", "b"],
            ["a", "\0b"], ["\0"], ["\0\0"], ["\u{1}"], ["."], [".."], ["..", ".."], ["A"], [" a"], ["a "], ["a\n"],
            ["~"],
            ["\u{E9}"], ["e\u{301}"], ["\u{212B}"], ["\u{C5}"], ["A\u{30A}"], ["👩‍👧"], ["\u{10FFFF}"], ["\u{FFFD}"],
            ["%61"],
            ["CON"], [String(repeating: "long", count: 5_000)], [String(repeating: "long", count: 5_000) + "r"],
            [String(repeating: "x", count: 65_536)], [String(repeating: "x", count: 65_536) + "y"],
            RecordKey([String](repeating: "deep", count: 2_000)), RecordKey([String](repeating: "", count: 300)),
        ]
    }

    /// Returns a key as it appears in a sentence: with its components separated, in ASCII, and shortened if it is long.
    func name(_ key: RecordKey) -> String {
        "[" + key.components.prefix(8).map { String($0.prefix(16)).debugDescription }.joined(separator: ", ") + "]"
    }
}
