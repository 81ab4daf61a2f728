import InwardRepositories

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension RecordStoreConformance {
    /// Whoever reads while many commit sees all that one of them changes or nothing of it.
    ///
    /// The writers go on until each reader has read between their commits. Half of the readers read in the other store, which is
    /// one that is opened at the same place, or the same.
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
                                return ["Two records that are always changed together must be the same, and are not."]
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
                ? [] : ["Of \(expected) records that are kept at the same time \(expected - count) are lost."])
    }

    /// What one store keeps is there in another that is opened at the same place, and what that changes in the first.
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
        var violations = try await self.violations(of: other, finding: large, for: key, "What was kept, opened again,")
        violations += try await self.violations(
            of: other,
            finding: expiring,
            for: ["expiring"],
            "What expires in two hours, opened again,"
        )
        violations += try await self.violations(
            of: other,
            finding: nil,
            for: ["gone"],
            "What was removed, opened again,"
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
                    "What another store at the same place \(verb)"
                )
            }
        }
        return violations
    }

    func failures(_ body: () async throws -> [String]) async -> [String] {
        do { return try await body() } catch {
            return ["The store must not fail where many use it, and did: \(error)"]
        }
    }
}
