import InwardCore
public import InwardRepositories

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A check of the requirements for every record store.
///
/// Pass a closure that opens a store. Run the check in a test of any framework:
///
/// ```swift
/// let now = Date()
/// let conformance = RecordStoreConformance(isDurable: false, now: now)
/// try await conformance.check { InMemoryRecordStore(now: { now }) }
/// ```
///
/// For a durable store, also run ``checkLosses(_:damage:)``. For a store that can run out of space, also run
/// ``checkFullness(_:)``.
///
/// The check removes all records of the store, at the beginning and between its steps. A store that crashes ends the test
/// process. A store that does not respond, or never grants a key to one of the claimants, makes the check hang, so give the
/// test a time limit.
public struct RecordStoreConformance: Sendable {
    let isDurable: Bool
    let now: Date

    /// Creates a check.
    ///
    /// - Parameters:
    ///   - isDurable: Whether all stores are opened at the same place, so that each finds the records that the others stored.
    ///   - now: The time on the store's clock, or shortly before it.
    public init(isDurable: Bool, now: Date) {
        self.isDurable = isDurable
        self.now = now
    }

    /// Checks the stores that a closure opens.
    ///
    /// - Throws: A ``ConformanceFailure`` that lists all violations.
    public func check(
        _ open: @Sendable () async throws -> any RecordStore
    ) async throws(ConformanceFailure) {
        var violations: [String] = []
        do {
            let store = try await open()
            // A reader that uses another store at the same place must not see a partial commit either.
            let other = isDurable ? try await open() : store
            func concurrencyViolations(_ store: any RecordStore) async throws(RecordStoreError) -> [String] {
                try await self.concurrencyViolations(store, readingIn: other)
            }
            for check in [
                valueViolations, keyViolations, removalViolations, orderViolations, pageViolations, manyKeyViolations,
                sequenceViolations,
                expiryViolations, renewalViolations, replacementViolations,
                concurrencyViolations, cancellationViolations, cancelledReadViolations, claimViolations,
            ] {
                do {
                    try await store.commit([.removeAll([])])
                    violations += try await check(store)
                } catch {
                    violations.append("The store must not fail, but did: \(error)")
                }
            }
            if isDurable {
                violations += try await durabilityViolations(store, open)
                violations += try await sharedCommitViolations(store, open)
                violations += try await sharedClaimViolations(store, open)
            }
        } catch {
            violations.append("Opening and using the store must not fail, but did: \(error)")
        }
        if !violations.isEmpty { throw ConformanceFailure(violations: violations) }
    }

    /// Reads a key both alone and in a list, and returns how the results differ from the expected record.
    func violations(
        of store: any RecordStore,
        finding expected: StoredRecord?,
        for key: RecordKey,
        _ circumstances: String
    ) async throws(RecordStoreError) -> [String] {
        let found = try await store.record(for: key)
        let listed = try await store.records(under: key).filter { $0.key == key }.map(\.record)
        var violations: [String] = []
        if found != expected { violations.append("\(circumstances) must be \(name(expected)), but is \(name(found)).") }
        if listed != [expected].compactMap(\.self) {
            violations.append(
                "\(circumstances) must be listed as \(name(expected)), but is listed as \(listed.map(name))."
            )
        }
        return violations
    }

    /// Returns a record as it appears in a sentence.
    private func name(_ record: StoredRecord?) -> String {
        guard let record else { return "nothing" }
        let beginning = record.bytes.prefix(4).map { String($0) }.joined(separator: " ")
        return "\(record.bytes.count) bytes (\(beginning)…)" + (record.expiry.map { " until \($0)" } ?? "")
    }
}

extension RecordStoreConformance {
    /// Checks that a durable store remembers which records it lost to damage.
    ///
    /// - Parameters:
    ///   - open: Opens a store, each time at the same place.
    ///   - damage: Changes one byte of a stored record, for example in the store's file. It receives the record's key and bytes.
    ///     No other record has the same bytes.
    /// - Throws: A ``ConformanceFailure`` that lists all violations.
    public func checkLosses(
        _ open: @Sendable () async throws -> any RecordStore,
        damage: @Sendable (RecordKey, [UInt8]) async throws -> Void
    ) async throws(ConformanceFailure) {
        var violations: [String] = []
        do {
            for (index, repair): (UInt8, RecordChange) in [
                (1, .keep(StoredRecord([1]), ["lost", "1"])), (2, .remove(["lost", "1"])), (3, .removeAll(["lost"])),
            ] {
                violations += try await lossViolations(open, damage, seed: index, repair)
            }
        } catch {
            violations.append("The store must not fail if records are damaged, but did: \(error)")
        }
        if !violations.isEmpty { throw ConformanceFailure(violations: violations) }
    }

    private func lossViolations(
        _ open: @Sendable () async throws -> any RecordStore,
        _ damage: @Sendable (RecordKey, [UInt8]) async throws -> Void,
        seed: UInt8,
        _ repair: RecordChange
    ) async throws -> [String] {
        func bytes(_ number: UInt8) -> [UInt8] { (0..<48).map { $0 &* 5 &+ seed &* 64 &+ number &* 16 } }
        let expiry = now.addingTimeInterval(3_600)
        let store = try await open()
        try await store.commit([.removeAll([]), .keep(StoredRecord(bytes(1)), ["lost", "1"])])
        try await store.commit([.keep(StoredRecord(bytes(2), expiry: expiry), ["lost", "2"])])
        try await store.commit([.keep(StoredRecord(bytes(3)), ["lost", "3"])])
        var violations: [String] = []
        if try await store.losses(under: []).keys != [] {
            violations.append("An undamaged record must not be reported as lost.")
        }
        try await damage(["lost", "1"], bytes(1))
        try await damage(["lost", "2"], bytes(2))
        for opening in ["opened after the damage", "reopened"] {
            let other = try await open()
            let losses = try await other.losses(under: ["lost"]).keys
            if losses != [RecordKey(["lost", "1"])] {
                violations.append("A store, \(opening), must report only lost/1 as lost, but reports \(losses).")
            }
            if try await !other.losses(under: ["other"]).keys.isEmpty {
                violations.append("A loss must only be reported under a prefix of its key.")
            }
            let last = StoredRecord(bytes(3))
            let expectations: [(RecordKey, StoredRecord?)] = [
                (["lost", "1"], nil), (["lost", "2"], nil), (["lost", "3"], last),
            ]
            for (key, expected) in expectations {
                violations += try await self.violations(
                    of: other,
                    finding: expected,
                    for: key,
                    "The record under \(key), \(opening),"
                )
            }
        }
        violations += await cancelledLossViolations(try await open(), under: ["lost"], losing: [["lost", "1"]])
        try await open().commit([.keep(StoredRecord([4]), ["lost", "4"]), .remove(["lost", "4"])])
        let remembered = try await open().losses(under: []).keys
        if remembered != [RecordKey(["lost", "1"])] {
            violations.append("After a commit of another key, only lost/1 must be lost, but \(remembered) are.")
        }
        try await open().commit([repair])
        let left = try await open().losses(under: []).keys
        if !left.isEmpty { violations.append("After \(repair), nothing must be lost, but \(left) are.") }
        return violations
    }
}

extension RecordStoreConformance {
    /// A commit of a cancelled task succeeds completely, or fails as cancelled and changes nothing, whenever it is cancelled.
    /// Concurrent commits are not affected.
    func cancellationViolations(_ store: any RecordStore) async throws(RecordStoreError) -> [String] {
        var violations: Set<String> = []
        try await CancellationSweep.run(CancellationMoment.Order.allCases) { round, moment throws(RecordStoreError) in
            let keys = (0..<3).map { RecordKey(["cancelled", String(round), String($0)]) }
            let lasting: RecordKey = ["lasting", String(round)]
            let (ending, other) = await moment.result {
                await Result(awaiting: { () async throws(RecordStoreError) in
                    try await store.commit(keys.map { .keep(StoredRecord([1]), $0) })
                })
            } beside: {
                await Result(awaiting: { () async throws(RecordStoreError) in
                    try await store.commit([.keep(StoredRecord([2]), lasting)])
                })
            }
            let count = try await store.records(under: ["cancelled", String(round)]).count
            switch ending {
            case .success where count == 0:
                violations.insert("A cancelled commit that succeeds must take effect, but does not.")
            case .failure(let error) where error.reason != .cancelled:
                violations.insert("A cancelled commit must fail as cancelled, but failed as \(error.reason).")
            case .failure where count > 0:
                violations.insert("A commit that fails as cancelled must change nothing, but did.")
            case .success where count < 3:
                violations.insert("A cancelled commit must take effect completely, but does not.")
            case .success, .failure: break
            }
            try other?.get()
            if other != nil, try await store.record(for: lasting) == nil {
                violations.insert("A record committed while another commit is cancelled must be found, but is not.")
            }
            return count == 3
        }
        return violations.sorted()
    }

    /// A read of a cancelled task finds the record or fails as cancelled. It reports no loss if nothing is lost.
    func cancelledReadViolations(_ store: any RecordStore) async throws(RecordStoreError) -> [String] {
        let keys = (0..<4).map { RecordKey(["read", String($0)]) }
        try await store.commit(keys.map { .keep(StoredRecord([1]), $0) })
        let record = await CancellationSweep.violations(ofReading: "A record") { () async throws(RecordStoreError) in
            try await store.record(for: keys[0]) == StoredRecord([1])
        }
        let list = await CancellationSweep.violations(ofReading: "A list") { () async throws(RecordStoreError) in
            try await store.records(under: ["read"]).map(\.key) == keys
        }
        let page = await CancellationSweep.violations(ofReading: "A page") { () async throws(RecordStoreError) in
            try await store.records(under: ["read"], after: keys[0], limit: 2).map(\.key) == Array(keys[1...2])
        }
        let several = await CancellationSweep.violations(
            ofReading: "Several records"
        ) { () async throws(RecordStoreError) in
            try await store.records(for: [keys[3], keys[0]]) == [StoredRecord([1]), StoredRecord([1])]
        }
        let losses = await CancellationSweep.violations(
            ofReading: "A list of losses"
        ) { () async throws(RecordStoreError) in
            try await store.losses(under: ["read"]).keys.isEmpty
        }
        return record + list + page + several + losses
    }

    /// A cancelled read of losses returns the existing losses or fails as cancelled.
    func cancelledLossViolations(
        _ store: any RecordStore,
        under key: RecordKey,
        losing keys: [RecordKey]
    ) async -> [String] {
        await CancellationSweep.violations(ofReading: "A list of losses") { () async throws(RecordStoreError) in
            try await store.losses(under: key).keys == keys
        }
    }
}
