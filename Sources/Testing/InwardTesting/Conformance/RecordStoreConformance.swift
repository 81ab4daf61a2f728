public import InwardRepositories

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// What every store of records must do, as a check to run on an implementation.
///
/// Tell it how a store is opened, and run it from a test of any framework:
///
///     let conformance = RecordStoreConformance(isDurable: true, now: now)
///     try await conformance.check { MyRecordStore(directory: directory, now: { now }) }
///
/// A durable store also passes ``checkLosses(_:damage:)``, and a store that can be full ``checkFullness(_:)``.
///
/// It removes everything that the store keeps, at the beginning and between what it checks. A store that crashes ends the test
/// that runs the check, and one that does not answer, or never gives a key to who waits for it, keeps it waiting: give the test a
/// time limit.
public struct RecordStoreConformance: Sendable {
    let isDurable: Bool
    let now: Date

    /// Makes a check.
    ///
    /// - Parameters:
    ///   - isDurable: Whether what opens a store opens the same place each time, so that what one keeps another finds.
    ///   - now: The time by the clock of the store, or one shortly before.
    public init(isDurable: Bool, now: Date) {
        self.isDurable = isDurable
        self.now = now
    }

    /// Checks the stores that a function opens.
    ///
    /// - Throws: a ``ConformanceFailure`` that tells everything that a store does wrong.
    public func check(
        _ open: @Sendable () async throws -> any RecordStore
    ) async throws(ConformanceFailure) {
        var violations: [String] = []
        do {
            let store = try await open()
            // A reader that uses another store at the place must not see half a commit either.
            let other = isDurable ? try await open() : store
            func concurrencyViolations(_ store: any RecordStore) async throws(RecordStoreError) -> [String] {
                try await self.concurrencyViolations(store, readingIn: other)
            }
            for check in [
                valueViolations, keyViolations, removalViolations, orderViolations, sequenceViolations,
                expiryViolations, renewalViolations, replacementViolations,
                concurrencyViolations, cancellationViolations, cancelledReadViolations, claimViolations,
            ] {
                do {
                    try await store.commit([.removeAll([])])
                    violations += try await check(store)
                } catch {
                    violations.append("The store must not fail, and did: \(error)")
                }
            }
            if isDurable {
                violations += try await durabilityViolations(store, open)
                violations += try await sharedCommitViolations(store, open)
                violations += try await sharedClaimViolations(store, open)
            }
        } catch {
            violations.append("The store must be opened and must not fail, and did: \(error)")
        }
        if !violations.isEmpty { throw ConformanceFailure(violations: violations) }
    }

    /// What is wrong if a store does not find just this under a key, alone and among all.
    func violations(
        of store: any RecordStore,
        finding expected: StoredRecord?,
        for key: RecordKey,
        _ circumstances: String
    ) async throws(RecordStoreError) -> [String] {
        let found = try await store.record(for: key)
        let listed = try await store.records(under: key).filter { $0.key == key }.map(\.record)
        var violations: [String] = []
        if found != expected { violations.append("\(circumstances) must be \(name(expected)), and is \(name(found)).") }
        if listed != [expected].compactMap(\.self) {
            violations.append("\(circumstances) must be listed as \(name(expected)), and is as \(listed.map(name)).")
        }
        return violations
    }

    /// A record as a sentence calls it.
    private func name(_ record: StoredRecord?) -> String {
        guard let record else { return "nothing" }
        let beginning = record.bytes.prefix(4).map { String($0) }.joined(separator: " ")
        return "\(record.bytes.count) bytes (\(beginning)…)" + (record.expiry.map { " until \($0)" } ?? "")
    }
}
