public import InwardRepositories

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension RecordStoreConformance {
    /// Checks that a durable store remembers which records it lost to damage.
    ///
    /// - Parameters:
    ///   - open: Opens a store, at the same place each time.
    ///   - damage: Changes a byte of a record where the store keeps it. It gets the record's key and its bytes, which stand nowhere
    ///     else.
    /// - Throws: a ``ConformanceFailure`` that tells everything that a store does wrong.
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
            violations.append("The store must not fail where records are damaged, and did: \(error)")
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
        if try await store.losses(under: []).keys != [] { violations.append("What is not damaged must not be a loss.") }
        try await damage(["lost", "1"], bytes(1))
        try await damage(["lost", "2"], bytes(2))
        for opening in ["opened behind damage", "opened again"] {
            let other = try await open()
            let losses = try await other.losses(under: ["lost"]).keys
            if losses != [RecordKey(["lost", "1"])] {
                violations.append("A store, \(opening), must name the key lost/1 alone as lost, and names \(losses).")
            }
            if try await !other.losses(under: ["other"]).keys.isEmpty {
                violations.append("Losses must be named under their own keys alone.")
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
                    "What is kept under \(key), \(opening),"
                )
            }
        }
        violations += await cancelledLossViolations(try await open(), under: ["lost"], losing: [["lost", "1"]])
        try await open().commit([.keep(StoredRecord([4]), ["lost", "4"]), .remove(["lost", "4"])])
        let remembered = try await open().losses(under: []).keys
        if remembered != [RecordKey(["lost", "1"])] {
            violations.append("After a commit of another key lost/1 alone must be lost, and \(remembered) are.")
        }
        try await open().commit([repair])
        let left = try await open().losses(under: []).keys
        if !left.isEmpty { violations.append("Behind \(repair) nothing must be lost, and \(left) are.") }
        return violations
    }
}
