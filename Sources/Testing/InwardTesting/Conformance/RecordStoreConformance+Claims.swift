import InwardRepositories
import Synchronization

extension RecordStoreConformance {
    /// A key has one owner at a time, until the claim is released or dropped. Other claimants learn the owner's name.
    func claimViolations(_ store: any RecordStore) async throws(RecordStoreError) -> [String] {
        let key: RecordKey = ["claimed", "é", String(repeating: "long", count: 200)]
        let others: [RecordKey] = [
            ["claimed"], ["claimed", "é"], ["claimed", "É", String(repeating: "long", count: 200)], [],
        ]
        try await store.commit([.keep(StoredRecord([1]), key)])
        var violations: [String] = []
        guard let first = try await claimed(key, in: store) else {
            return ["A free key must be claimable, but is not."]
        }
        switch try await store.claim(key) {
        case .claimed: violations.append("A claimed key must not be claimable again, but is.")
        case .owned(let owner):
            if owner.isEmpty { violations.append("A refused claim must name the owner, but does not.") }
        }
        for other in others {
            let claim = try await claimed(other, in: store)
            if claim == nil { violations.append("A claim must not affect other keys, but does.") }
            await claim?.release()
        }
        try await store.commit([.keep(StoredRecord([2]), key), .remove(key)])
        if try await store.record(for: key) != nil {
            violations.append("A claim must not prevent changes to records, but does.")
        }
        await first.release()
        await first.release()
        guard let second = try await claimed(key, in: store) else {
            return violations + ["A released claim must end, but does not."]
        }
        await second.release()
        try await dropClaim(of: key, in: store)
        guard let third = try await claimed(key, in: store) else {
            return violations + ["A dropped claim must end, but does not."]
        }
        await third.release()
        if violations.isEmpty { violations += try await claimEndViolations(store) }
        return violations.isEmpty ? await claimTurnViolations([store]) : violations
    }

    /// A claim ends once: dropping a released claim, or releasing it again, does not affect the next owner's claim.
    private func claimEndViolations(_ store: any RecordStore) async throws(RecordStoreError) -> [String] {
        let key: RecordKey = ["ends"]
        for _ in 0..<16 {
            guard let first = try await claimed(key, in: store) else {
                return ["A released claim must end, but does not."]
            }
            await first.release()
            guard let next = try await claimed(key, in: store) else {
                return ["A released claim must end, but does not."]
            }
            await first.release()
            // Lets any cleanup after the first claim run.
            for _ in 0..<32 { await Task.yield() }
            guard try await claimed(key, in: store) == nil else {
                return ["The end of a claim must not end the next claim of its key, but does."]
            }
            await next.release()
        }
        return []
    }

    /// A key has one owner at a time among many concurrent claimants, in any of the stores at a place, and each claimant gets
    /// its turn.
    private func claimTurnViolations(_ stores: [any RecordStore]) async -> [String] {
        let key: RecordKey = ["turns"]
        let owners = 4
        let turns = ActiveCount()
        let start = Rendezvous(of: owners)
        let found = await withTaskGroup(of: [String].self) { group in
            for owner in 0..<owners {
                let store = stores[owner % stores.count]
                group.addTask {
                    await start.arrive()
                    return await failures { try await turnViolations(of: key, in: store, turns) }
                }
            }
            return await group.reduce(into: []) { $0 += $1 }
        }
        return Set(found).sorted()
    }

    /// Claims a key four times, waiting for each turn, and checks that it is the only owner.
    private func turnViolations(
        of key: RecordKey,
        in store: any RecordStore,
        _ turns: ActiveCount
    ) async throws -> [String] {
        for _ in 0..<4 {
            // No deadline: on a busy machine, a turn can take any amount of time.
            var claim = try await claimed(key, in: store)
            while claim == nil {
                try Task.checkCancellation()
                await Task.yield()
                claim = try await claimed(key, in: store)
            }
            let isAlone = turns.enter() == 1
            for _ in 0..<8 { await Task.yield() }
            turns.leave()
            await claim?.release()
            guard isAlone else { return ["A key must have one owner at a time, but has two."] }
        }
        return []
    }

    /// A key that is claimed in one store cannot be claimed in another store at the same place.
    func sharedClaimViolations(
        _ store: any RecordStore,
        _ open: @Sendable () async throws -> any RecordStore
    ) async throws -> [String] {
        let key: RecordKey = ["shared"]
        let other = try await open()
        guard let claim = try await claimed(key, in: store) else {
            return ["A free key must be claimable, but is not."]
        }
        let isExclusive = try await claimed(key, in: other) == nil
        await claim.release()
        let next = try await claimed(key, in: other)
        await next?.release()
        let violations =
            (isExclusive
                ? [] : ["A key claimed in one store must not be claimable in another at the same place, but is."])
            + (next == nil
                ? ["A key released in one store must be claimable in another at the same place, but is not."] : [])
        return violations.isEmpty ? await claimTurnViolations([store, other]) : violations
    }

    private func claimed(_ key: RecordKey, in store: any RecordStore) async throws(RecordStoreError) -> RecordClaim? {
        if case .claimed(let claim) = try await store.claim(key) { claim } else { nil }
    }

    private func dropClaim(of key: RecordKey, in store: any RecordStore) async throws(RecordStoreError) {
        _ = try await claimed(key, in: store)
    }
}

/// Counts the tasks that are inside a section of code.
final class ActiveCount: Sendable {
    private let count = Atomic(0)

    /// Enters the section, and returns the number of tasks that are then inside.
    func enter() -> Int { count.add(1, ordering: .sequentiallyConsistent).newValue }

    func leave() { count.subtract(1, ordering: .sequentiallyConsistent) }
}
