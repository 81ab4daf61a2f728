import InwardRepositories

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension RecordStoreConformance {
    /// Pages contain each record once, in key order, and no expired records.
    func pageViolations(_ store: any RecordStore) async throws(RecordStoreError) -> [String] {
        let keys = Self.keys.sorted()
        let records = keys.indices.map { StoredRecord([UInt8(truncatingIfNeeded: $0), 2]) }
        // More than fill a page, so that a store that drops them from a page returns an empty one.
        let expired = (0..<8).map { RecordKey(["a", "b", String($0)]) }
        let old = StoredRecord([0], expiry: now.addingTimeInterval(-1))
        try await store.commit(
            zip(records, keys).map { .keep($0, $1) } + expired.map { .keep(old, $0) }
        )
        let all = Array(zip(keys, records))
        var violations: [String] = []
        for prefix: RecordKey in [[], [""], ["a"], ["none"]] {
            let expected = all.filter { prefix.contains($0.0) }
            for limit in [1, 2, 7, .max] {
                violations += try await pageViolations(store, under: prefix, limit: limit, expected)
            }
            // Not stored, expired, before and after all keys of the prefix, and similar to stored ones.
            let missing: [RecordKey] = [
                ["", "", ""], ["a", "a"], ["a", "b", "3"], ["a", "bb"], ["e"], ["\u{10FFFF}", ""],
            ]
            for key in missing + [[]] {
                for limit in [0, 1, 7] {
                    let page = try await store.records(under: prefix, after: key, limit: limit)
                    let rest = expected.filter { $0.0 > key }
                    violations += violation(of: page, under: prefix, after: key, limit: limit, rest)
                }
            }
            let page = try await store.records(under: prefix, after: nil, limit: 0)
            violations += violation(of: page, under: prefix, after: nil, limit: 0, expected)
        }
        return violations
    }

    /// Reads all pages, and returns what is wrong with the first one that differs from the expected records.
    private func pageViolations(
        _ store: any RecordStore,
        under prefix: RecordKey,
        limit: Int,
        _ expected: [(RecordKey, StoredRecord)]
    ) async throws(RecordStoreError) -> [String] {
        var rest = expected[...]
        var last: RecordKey?
        while true {
            let page = try await store.records(under: prefix, after: last, limit: limit)
            let violation = violation(of: page, under: prefix, after: last, limit: limit, Array(rest))
            guard violation.isEmpty, let end = page.last?.key else { return violation }
            rest = rest.dropFirst(page.count)
            last = end
        }
    }

    /// Returns what is wrong with a page, given the records after its beginning. A page may have fewer records than the limit,
    /// but is only empty if none are left.
    private func violation(
        of page: [(key: RecordKey, record: StoredRecord)],
        under prefix: RecordKey,
        after last: RecordKey?,
        limit: Int,
        _ rest: [(RecordKey, StoredRecord)]
    ) -> [String] {
        let keys = page.map(\.key)
        let expected = rest.prefix(page.count)
        let problem: String? =
            if page.count > limit {
                "have no more, but has \(page.count)"
            } else if page.isEmpty {
                rest.isEmpty || limit == 0 ? nil : "have one if any are left, but is empty"
            } else if let last, keys.contains(where: { $0 <= last }) {
                "begin after the given key, but does not"
            } else if !keys.allSatisfy(Set(rest.map(\.0)).contains) {
                "have no expired records, and none of other prefixes, but does"
            } else if keys != keys.sorted() {
                "be in key order, but is not"
            } else if keys != expected.map(\.0) {
                "leave out no record, but does"
            } else {
                page.map(\.record) == expected.map(\.1) ? nil : "have the records of its keys, but does not"
            }
        guard let problem else { return [] }
        let beginning = last.map { " after \(name($0))" } ?? ""
        return ["A page of at most \(limit) records under \(name(prefix))\(beginning) must \(problem)."]
    }

    /// The records under several keys are read in the order of the keys.
    func manyKeyViolations(_ store: any RecordStore) async throws(RecordStoreError) -> [String] {
        let kept = Self.keys
        let expired: RecordKey = ["a", "expired"]
        let missing: RecordKey = ["a", "c"]
        let records = kept.indices.map { StoredRecord([UInt8(truncatingIfNeeded: $0), 3]) }
        try await store.commit(
            zip(records, kept).map { .keep($0, $1) }
                + [.keep(StoredRecord([0], expiry: now.addingTimeInterval(-1)), expired)]
        )
        let all = Dictionary(uniqueKeysWithValues: zip(kept, records))
        var violations: [String] = []
        for (keys, description): ([RecordKey], String) in [
            ([], "no keys"), (kept, "different keys"), (kept.reversed(), "the same keys in reverse"),
            ([missing, ["a"], missing, ["ab"]], "some missing keys"), ([expired, ["a"]], "an expired key"),
            ([["a"], ["ab"], ["a"], ["a"], missing, missing], "repeated keys"),
        ] {
            let found = try await store.records(for: keys)
            guard found != keys.map({ all[$0] }) else { continue }
            violations.append(
                "The records for \(description) must be in the order of the keys, with nil for missing ones, but are not."
            )
        }
        return violations
    }
}
