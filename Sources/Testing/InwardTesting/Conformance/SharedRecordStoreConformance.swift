public import InwardRepositories

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A check of the requirements for every shared record store: snapshots, versions, conditional commits, leases and
/// announcements.
///
/// Pass a closure that opens a store. Run the check in a test of any framework:
///
/// ```swift
/// let now = Date()
/// let conformance = SharedRecordStoreConformance(isDurable: false, now: now)
/// try await conformance.check { InMemoryRecordStore(now: { now }) }
/// ```
///
/// Also run ``RecordStoreConformance``, which checks what every record store must do, and ``checkTime(_:step:advance:)`` if the test
/// controls the store's clock.
///
/// The check removes all records of the store, at the beginning and between its steps. It waits for no clock: its leases last
/// for an hour, or end at once. A store that does not respond makes the check hang, so give the test a time limit.
///
/// Concurrent operations are recorded and must be linearizable. A violation names the seed of the operations and the shortest
/// history that is not linearizable.
public struct SharedRecordStoreConformance: Sendable {
    let isDurable: Bool
    let announcesToOthers: Bool
    let now: Date

    /// Creates a check.
    ///
    /// - Parameters:
    ///   - isDurable: Whether all stores are opened at the same place, so that each finds the records that the others stored.
    ///   - announcesToOthers: Whether each store also reports what the others at the same place announce. By default, only its own
    ///     announcements are checked.
    ///   - now: The time on the store's clock, or shortly before it.
    public init(isDurable: Bool, announcesToOthers: Bool = false, now: Date) {
        self.isDurable = isDurable
        self.announcesToOthers = isDurable && announcesToOthers
        self.now = now
    }

    /// Checks the stores that a closure opens.
    ///
    /// - Throws: A ``ConformanceFailure`` that lists all violations.
    public func check(
        _ open: @Sendable () async throws -> any SharedRecordStore
    ) async throws(ConformanceFailure) {
        var violations: [String] = []
        do {
            let store = try await open()
            // Instances that share a place must not get in each other's way either.
            let stores = isDurable ? [store, try await open()] : [store, store]
            for check in [
                snapshotViolations, versionViolations, unchangedVersionViolations, conditionViolations,
                leaseViolations, leaseScopeViolations, tokenViolations, fencingViolations, extensionViolations,
                leaseChangeViolations, pairViolations, counterViolations, queueViolations, historyViolations,
                cancelledCommitViolations, cancelledRefusalViolations, cancelledLeaseViolations,
                announcementViolations, overflowViolations, concurrentAnnouncementViolations,
                cancelledListeningViolations,
            ] {
                do {
                    try await store.commit([.removeAll([])])
                    violations += try await check(stores)
                } catch {
                    violations.append("The store must not fail, but did: \(error)")
                }
            }
            if isDurable { violations += try await reopeningViolations(store, open) }
        } catch {
            violations.append("Opening and using the store must not fail, but did: \(error)")
        }
        if !violations.isEmpty { throw ConformanceFailure(violations: violations) }
    }

    /// Makes a commit, and returns whether its conditions were met.
    func isMade(
        _ changes: [RecordChange],
        if conditions: [RecordCondition],
        in store: any SharedRecordStore
    ) async throws(RecordStoreError) -> Bool {
        do {
            try await store.commit(changes, if: conditions)
            return true
        } catch {
            guard error.reason == .conflict else { throw error }
            return false
        }
    }

    /// Returns all records with their versions.
    func contents(of store: any SharedRecordStore) async throws(RecordStoreError) -> [RecordSnapshot] {
        let keys = try await store.records(under: []).map(\.key)
        return try await store.snapshots(for: keys).compactMap(\.self)
    }

    func failures(_ body: () async throws -> [String]) async -> [String] {
        do { return try await body() } catch {
            return ["The store must not fail under concurrent use, but did: \(error)"]
        }
    }
}

/// How concurrent clients of a store are run.
enum Interleaving: CaseIterable {
    /// On one thread. Clients take turns whenever they wait, which shows gaps between the steps of an operation.
    case turns
    /// On several threads.
    case threads

    /// Runs clients, and returns what they found.
    func violations(
        clients: Int,
        _ violations: @escaping @Sendable (_ client: Int) async -> [String]
    ) async -> [String] {
        let queue: TurnQueue? = self == .turns ? TurnQueue() : nil
        return await withTaskExecutorPreference(queue) {
            await withTaskGroup(of: [String].self) { group in
                for client in 0..<clients { group.addTask { await violations(client) } }
                return Set(await group.reduce(into: []) { $0 += $1 }).sorted()
            }
        }
    }
}
