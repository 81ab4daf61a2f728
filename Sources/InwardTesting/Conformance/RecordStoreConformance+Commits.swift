import InterfaceAdapters

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension RecordStoreConformance {
    /// Whoever reads while many commit sees all that one of them changes or nothing of it.
    func concurrencyViolations(_ store: any RecordStore) async throws(RecordStoreError) -> [String] {
        let pair: [RecordKey] = [["pair", "1"], ["pair", "2"]]
        let found = await withTaskGroup(of: [String].self) { group in
            for writer in 0..<8 {
                group.addTask {
                    await failures {
                        for round in 0..<16 {
                            let record = StoredRecord(
                                [UInt8(writer), UInt8(round)] + [UInt8](repeating: 7, count: 500)
                            )
                            try await store.commit(
                                round % 5 == 4 ? [.removeAll(["pair"])] : pair.map { .keep(record, $0) }
                            )
                            try await store.commit([.keep(record, ["own", String(writer), String(round)])])
                        }
                        return []
                    }
                }
            }
            for _ in 0..<4 {
                group.addTask {
                    await failures {
                        for _ in 0..<64 {
                            let records = try await store.records(under: ["pair"]).map(\.record)
                            if records.count == 1 || records.first != records.last {
                                return ["Two records that are always changed together must be the same, and are not."]
                            }
                        }
                        return []
                    }
                }
            }
            return await group.reduce(into: []) { $0 += $1 }
        }
        let count = try await store.records(under: ["own"]).count
        let lost = count == 8 * 16 ? [] : ["Of 128 records that are kept at the same time \(128 - count) are lost."]
        return Set(found).sorted() + lost
    }

    /// Who is cancelled beforehand is told so, and has changed nothing; or has made the changes.
    func cancellationViolations(_ store: any RecordStore) async throws(RecordStoreError) -> [String] {
        let key: RecordKey = ["cancelled"]
        let ending = await withTaskGroup(of: RecordStoreError?.self) { group in
            group.addTask {
                while !Task.isCancelled { await Task.yield() }
                do throws(RecordStoreError) {
                    try await store.commit([.keep(StoredRecord([1]), key)])
                    return nil
                } catch {
                    return error
                }
            }
            group.cancelAll()
            return await group.next() ?? nil
        }
        let isKept = try await store.record(for: key) != nil
        switch ending?.reason {
        case nil: return isKept ? [] : ["A commit of a cancelled task must be made where it does not fail, and is not."]
        case .cancelled?: return isKept ? ["A commit that fails as cancelled must change nothing, and did."] : []
        case let reason?: return ["A commit of a cancelled task must fail as cancelled, and did as \(reason)."]
        }
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
            try await one.commit([.keep(record, key)])
            violations += try await self.violations(
                of: another,
                finding: record,
                for: key,
                "What another store at the same place keeps"
            )
        }
        return violations
    }

    private func failures(_ body: () async throws -> [String]) async -> [String] {
        do { return try await body() } catch {
            return ["The store must not fail where many use it, and did: \(error)"]
        }
    }
}
