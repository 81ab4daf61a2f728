import InwardRepositories
import Synchronization

extension SharedRecordStoreConformance {
    /// The maximum number of attempts without success, so that a flawed store cannot keep clients busy forever. It is greater than
    /// the number of changes of all clients, which is how often one of them can be too late.
    private static let maximumAttempts = 100

    /// The snapshots of one call are read at one moment: two records that are always committed together are equal.
    func pairViolations(_ stores: [any SharedRecordStore]) async throws(RecordStoreError) -> [String] {
        let pair: [RecordKey] = [["pair", "1"], ["pair", "2"]]
        let (writers, readers, rounds) = (2, 2, 16)
        var violations: Set<String> = []
        for interleaving in Interleaving.allCases {
            let ended = EventCount()
            let progress = ReaderProgress(readers: readers)
            violations.formUnion(
                await interleaving.violations(clients: writers + readers) { client in
                    let store = stores[client % 2]
                    guard client < readers else {
                        defer { ended.increase() }
                        return await failures {
                            var round = 0
                            while progress.needsRound(round, ofAtLeast: rounds) {
                                let record = StoredRecord([UInt8(client), UInt8(truncatingIfNeeded: round)])
                                let isRemoval = round % 5 == 4
                                try await store.commit(
                                    pair.map { isRemoval ? .remove($0) : .keep(record, $0) },
                                    if: [.isAbsent(["none"])]
                                )
                                await progress.write()
                                round += 1
                            }
                            return []
                        }
                    }
                    defer { progress.end(client) }
                    return await failures {
                        while ended.value < writers {
                            let records = try await store.snapshots(for: pair).map { $0?.record }
                            guard records.count == 2, records[0] == records[1] else {
                                return ["The snapshots of one call must be read at one moment, but are not."]
                            }
                            progress.read(by: client)
                            await Task.yield()
                        }
                        return []
                    }
                }
            )
        }
        return violations.sorted()
    }

    /// Clients that increase a number if nobody has changed it meanwhile lose no increase.
    func counterViolations(_ stores: [any SharedRecordStore]) async throws(RecordStoreError) -> [String] {
        let key: RecordKey = ["counter"]
        let (clients, increases) = (8, 8)
        var violations: Set<String> = []
        for interleaving in Interleaving.allCases {
            try await stores[0].commit([.remove(key)])
            violations.formUnion(
                await interleaving.violations(clients: clients) { client in
                    await failures {
                        for _ in 0..<increases where try await !increase(key, in: stores[client % 2]) {
                            return ["A commit must be made if nobody has changed its record meanwhile, but is refused."]
                        }
                        return []
                    }
                }
            )
            let count = try await stores[1].record(for: key)?.bytes.first.map { Int($0) } ?? 0
            if count < clients * increases {
                violations.insert("Conditional commits of concurrent clients must lose none of their changes, but do.")
            }
        }
        return violations.sorted()
    }

    /// Increases a number, and returns whether that was possible.
    private func increase(_ key: RecordKey, in store: any SharedRecordStore) async throws -> Bool {
        for _ in 0..<Self.maximumAttempts {
            let old = try await store.snapshot(for: key)
            let count = old?.record.bytes.first ?? 0
            let change = RecordChange.keep(StoredRecord([count &+ 1]), key)
            if try await isMade([change], if: [.isUnchanged(key, since: old)], in: store) { return true }
            await Task.yield()
        }
        return false
    }

    /// Workers that divide a queue among themselves process each record once.
    func queueViolations(_ stores: [any SharedRecordStore]) async throws(RecordStoreError) -> [String] {
        let keys = (0..<32).map { RecordKey(["queue", String($0)]) }
        var violations: Set<String> = []
        for interleaving in Interleaving.allCases {
            try await stores[0].commit([.removeAll([])] + keys.map { .keep(StoredRecord([1]), $0) })
            let work = QueueWork()
            violations.formUnion(
                await interleaving.violations(clients: 6) { worker in
                    await failures { try await drain(stores[worker % 2], limit: 1 + worker % 3, work) }
                }
            )
            let counts = work.counts.withLock(\.self)
            if counts.values.contains(where: { $0 > 1 }) {
                violations.insert("Workers must not hold a record at the same time, but do.")
            }
            let left = try await stores[1].records(under: []).count
            if left > 0 || counts.count < keys.count {
                violations.insert("Workers must process all records of a queue, but do not.")
            }
        }
        return violations.sorted()
    }

    /// Leases and removes records until none are left.
    private func drain(_ store: any SharedRecordStore, limit: Int, _ work: QueueWork) async throws -> [String] {
        var attempts = 0
        while attempts < Self.maximumAttempts {
            attempts += 1
            for (lease, _) in try await store.lease(under: ["queue"], limit: limit, for: .seconds(3_600)) {
                attempts = 0
                work.counts.withLock { $0[lease.key, default: 0] += 1 }
                await Task.yield()
                guard try await isMade([.remove(lease.key)], if: [.isLeased(lease)], in: store) else {
                    return ["A worker must keep its record until its lease ends, but does not."]
                }
            }
            // Another worker can hold the last records. It removes them.
            if try await store.records(under: ["queue"]).isEmpty { break }
            await Task.yield()
        }
        return []
    }

    /// How often each record was processed.
    private final class QueueWork: Sendable {
        let counts = Mutex<[RecordKey: Int]>([:])
    }
}
