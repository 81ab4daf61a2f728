public import InwardRepositories

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension RecordStoreConformance {
    /// A concurrent reader sees all changes of a commit or none of them.
    ///
    /// The writers continue until each reader has read between their commits. Half of the readers use the other store, which is
    /// either the same store or another one at the same place.
    func concurrencyViolations(
        _ store: any RecordStore,
        readingIn other: any RecordStore
    ) async throws(RecordStoreError) -> [String] {
        let pair: [RecordKey] = [["pair", "1"], ["pair", "2"]]
        let (writers, readers, rounds) = (8, 4, 16)
        let ended = EventCount()
        let progress = ReaderProgress(readers: readers)
        let found = await withTaskGroup(of: [String].self) { group in
            for writer in 0..<writers {
                group.addTask {
                    defer { ended.increase() }
                    return await failures {
                        var round = 0
                        while progress.needsRound(round, ofAtLeast: rounds) {
                            let record = StoredRecord(
                                [UInt8(writer), UInt8(truncatingIfNeeded: round)] + [UInt8](repeating: 7, count: 500)
                            )
                            try await store.commit(
                                round % 5 == 4 ? [.removeAll(["pair"])] : pair.map { .keep(record, $0) }
                            )
                            if round < rounds {
                                try await store.commit([.keep(record, ["own", String(writer), String(round)])])
                            }
                            await progress.write()
                            round += 1
                        }
                        return []
                    }
                }
            }
            for reader in 0..<readers {
                let store = reader % 2 == 0 ? store : other
                group.addTask {
                    defer { progress.end(reader) }
                    return await failures {
                        while ended.value < writers {
                            let records = try await store.records(under: ["pair"]).map(\.record)
                            if records.count == 1 || records.first != records.last {
                                return ["Two records that are always committed together must be equal, but are not."]
                            }
                            progress.read(by: reader)
                            await Task.yield()
                        }
                        return []
                    }
                }
            }
            return await group.reduce(into: []) { $0 += $1 }
        }
        let count = try await store.records(under: ["own"]).count
        let expected = writers * rounds
        return Set(found).sorted()
            + (count == expected
                ? [] : ["Of \(expected) records committed concurrently, \(expected - count) are lost."])
    }

    /// A store finds the records that another store committed at the same place, even if both are open.
    func durabilityViolations(
        _ store: any RecordStore,
        _ open: @Sendable () async throws -> any RecordStore
    ) async throws -> [String] {
        let key: RecordKey = ["kept", "é"]
        let expiring = StoredRecord([4], expiry: now.addingTimeInterval(7_200.25))
        let large = StoredRecord(Self.values.last ?? [])
        try await store.commit([.removeAll([]), .keep(StoredRecord([0]), ["gone"]), .keep(expiring, ["expiring"])])
        try await store.commit([.keep(large, key), .remove(["gone"])])
        let other = try await open()
        var violations = try await self.violations(of: other, finding: large, for: key, "A committed record, reopened,")
        violations += try await self.violations(
            of: other,
            finding: expiring,
            for: ["expiring"],
            "A record that expires in two hours, reopened,"
        )
        violations += try await self.violations(
            of: other,
            finding: nil,
            for: ["gone"],
            "A removed record, reopened,"
        )
        for (round, (one, another)) in [(store, other), (other, store), (store, other)].enumerated() {
            let record = StoredRecord([UInt8(round)])
            let changes: [(RecordChange, StoredRecord?, String)] = [
                (.keep(record, key), record, "keeps"), (.remove(key), nil, "removes"),
                (.keep(record, key), record, "keeps again"), (.removeAll(["kept"]), nil, "removes with all others"),
            ]
            for (change, expected, verb) in changes {
                try await one.commit([change])
                violations += try await self.violations(
                    of: another,
                    finding: expected,
                    for: key,
                    "A record that another store at the same place \(verb)"
                )
            }
        }
        return violations
    }

    func failures(_ body: () async throws -> [String]) async -> [String] {
        do { return try await body() } catch {
            return ["The store must not fail under concurrent use, but did: \(error)"]
        }
    }
}

extension RecordStoreConformance {
    /// A record expires at the time of its latest commit, even if that stored the same bytes.
    func renewalViolations(_ store: any RecordStore) async throws(RecordStoreError) -> [String] {
        let key: RecordKey = ["renewed"]
        var violations: [String] = []
        for seconds in [3_600.0, 7_200, nil, 1_800] {
            let record = StoredRecord([5], expiry: seconds.map { now.addingTimeInterval($0) })
            try await store.commit([.keep(record, key)])
            violations += try await self.violations(
                of: store,
                finding: record,
                for: key,
                "A record committed with another expiry"
            )
        }
        return violations
    }

    /// A read that finds an expired record must not drop its concurrent replacement.
    func replacementViolations(_ store: any RecordStore) async throws(RecordStoreError) -> [String] {
        let expired = StoredRecord([1], expiry: now.addingTimeInterval(-1))
        let replacement = StoredRecord([2])
        let found = await withTaskGroup(of: [String].self) { group in
            for round in 0..<32 {
                let key: RecordKey = ["replaced", String(round)]
                group.addTask {
                    await failures {
                        try await store.commit([.keep(expired, key)])
                        async let one = store.record(for: key)
                        async let all = store.records(under: key)
                        for _ in 0..<round % 8 { await Task.yield() }
                        try await store.commit([.keep(replacement, key)])
                        _ = try await (one, all)
                        // Lets any cleanup after the reads run.
                        for _ in 0..<16 { await Task.yield() }
                        return try await violations(
                            of: store,
                            finding: replacement,
                            for: key,
                            "The replacement of an expired record that is being read"
                        )
                    }
                }
            }
            return await group.reduce(into: []) { $0 += $1 }
        }
        return Set(found).sorted()
    }

    /// Two stores at one place lose none of each other's concurrent commits.
    func sharedCommitViolations(
        _ store: any RecordStore,
        _ open: @Sendable () async throws -> any RecordStore
    ) async throws -> [String] {
        let count = 32
        try await store.commit([.removeAll(["both"])])
        let stores = [store, try await open()]
        // In each round both begin together, and neither leaves the other waiting, even if its commit fails.
        let starts = (0..<count).map { _ in Rendezvous(of: stores.count) }
        let found = await withTaskGroup(of: [String].self) { group in
            for (index, store) in stores.enumerated() {
                group.addTask {
                    var found: [String] = []
                    for (round, start) in starts.enumerated() {
                        await start.arrive()
                        found += await failures {
                            try await store.commit([.keep(StoredRecord([1]), ["both", String(index), String(round)])])
                            return []
                        }
                    }
                    return found
                }
            }
            return await group.reduce(into: []) { $0 += $1 }
        }
        var violations = Set(found).sorted()
        for store in stores + [try await open()] {
            let kept = try await store.records(under: ["both"]).count
            guard kept != 2 * count else { continue }
            violations.append(
                "Of \(2 * count) records that two stores at one place committed concurrently, \(2 * count - kept) are lost."
            )
        }
        return violations
    }

    /// Checks that a commit that exceeds the available space changes nothing.
    ///
    /// - Parameter open: Opens an empty store that has less than 64 MiB of space.
    /// - Throws: A ``ConformanceFailure`` that lists all violations.
    public func checkFullness(
        _ open: @Sendable () async throws -> any RecordStore
    ) async throws(ConformanceFailure) {
        var violations: [String] = []
        do {
            violations = try await fullnessViolations(try await open())
        } catch {
            violations.append("The store must only fail as full, but failed otherwise: \(error)")
        }
        if !violations.isEmpty { throw ConformanceFailure(violations: violations) }
    }

    private func fullnessViolations(_ store: any RecordStore) async throws(RecordStoreError) -> [String] {
        try await store.commit([.keep(StoredRecord([1]), ["full", "0"])])
        // Each commit begins with a small record, which may fit even if the others do not.
        let piece = [UInt8](repeating: 7, count: 1 << 20)
        for round in 1...32 {
            let keys = ["a", "b", "c"].map { RecordKey(["full", String(round), $0]) }
            let changes = keys.map { RecordChange.keep(StoredRecord($0.components.last == "a" ? [1] : piece), $0) }
            for commit in [[.remove(["full", "0"])] + changes, [.keep(StoredRecord([1]), ["full", "0"])]] {
                // Before each of the two commits: there may be space for the first and not for the second.
                let before = try await store.records(under: ["full"]).map(\.key)
                do throws(RecordStoreError) {
                    try await store.commit(commit)
                } catch {
                    guard error.reason == .full else { throw error }
                    let after = try await store.records(under: ["full"]).map(\.key)
                    return after == before ? [] : ["A commit that fails as full must change nothing, but did."]
                }
            }
        }
        return ["The store accepted 64 MiB, so its behavior when full cannot be checked. Open a store with less space."]
    }
}
