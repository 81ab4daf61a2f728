import InwardRepositories

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension SharedRecordStoreConformance {
    /// The records of a check of conditions.
    private struct ConditionStage {
        let present: RecordKey = ["c", "present"]
        let other: RecordKey = ["c", "other"]
        let absent: RecordKey = ["c", "absent"]
        let removed: RecordKey = ["c", "removed"]
        let expired: RecordKey = ["c", "expired"]
        /// The versions of the records: an earlier and the current one, and those of the other and the removed record.
        let earlier, current, otherVersion, removedVersion: RecordVersion

        /// Removes all records and keeps new ones.
        init(in store: any SharedRecordStore, now: Date) async throws(RecordStoreError) {
            let record = StoredRecord([1])
            try await store.commit([.removeAll([])] + [present, removed, other].map { .keep(record, $0) })
            let before = try await store.snapshots(for: [present, removed, other]).map { $0?.version }
            let old = StoredRecord([1], expiry: now.addingTimeInterval(-1))
            try await store.commit([.keep(record, present), .remove(removed), .keep(old, expired)])
            earlier = before[0] ?? RecordVersion(0)
            removedVersion = before[1] ?? RecordVersion(0)
            otherVersion = before[2] ?? RecordVersion(0)
            current = try await store.snapshot(for: present)?.version ?? RecordVersion(0)
        }

        /// Conditions, whether they are met, and a description.
        var cases: [([RecordCondition], Bool, String)] {
            let met: [RecordCondition] = [
                .hasVersion(current, present), .isAbsent(absent), .isAbsent(expired), .hasVersion(otherVersion, other),
            ]
            let later = RecordVersion(current.number &+ 1)
            return [
                ([], true, "if there is none"), ([.isAbsent(absent)], true, "that a missing record is absent"),
                ([.isAbsent(removed)], true, "that a removed record is absent"),
                ([.isAbsent(expired)], true, "that an expired record is absent"),
                ([.hasVersion(current, present)], true, "that a record has its version"),
                ([.isAbsent(["c"])], true, "that the prefix of records is absent"), (met, true, "of several"),
                ([.isAbsent(present)], false, "that an existing record is absent"),
                ([.hasVersion(earlier, present)], false, "that a record has an earlier version"),
                ([.hasVersion(later, present)], false, "that a record has a later version"),
                ([.hasVersion(otherVersion, present)], false, "that a record has another record's version"),
                ([.hasVersion(current, absent)], false, "that a missing record has a version"),
                ([.hasVersion(removedVersion, removed)], false, "that a removed record has its version"),
                ([.hasVersion(RecordVersion(0), absent)], false, "that a missing record has the version 0"),
                ([.hasVersion(RecordVersion(0), expired)], false, "that an expired record has the version 0"),
                ([.isLeased(RecordLease(absent, token: 0))], false, "that a missing record is leased"),
                (met + [.isAbsent(other)], false, "at the end of several"),
                ([.hasVersion(earlier, present)] + met, false, "at the beginning of several"),
                ([.hasVersion(current, present), .isAbsent(present)], false, "that contradicts another"),
            ]
        }

        /// Changes, the keys of the records that they keep and remove, and a description.
        var commits: [(changes: [RecordChange], kept: [RecordKey], removed: [RecordKey], String)] {
            let record = StoredRecord([9])
            let own: [RecordChange] = [
                .remove(present), .remove(other), .keep(record, absent), .keep(record, expired), .keep(record, removed),
            ]
            let foreign: [RecordChange] = [.keep(record, ["c", "new"]), .removeAll(["none"])]
            return [
                (own, [absent, expired, removed], [present, other], "A commit of its records"),
                (foreign, [["c", "new"]], [], "A commit of another record"), ([], [], [], "A commit without changes"),
            ]
        }
    }

    /// A commit is made if all of its conditions are met before it, and changes nothing otherwise.
    func conditionViolations(_ stores: [any SharedRecordStore]) async throws(RecordStoreError) -> [String] {
        var violations: [String] = []
        let count = try await ConditionStage(in: stores[0], now: now).cases.count
        for index in 0..<count * 3 {
            let stage = try await ConditionStage(in: stores[0], now: now)
            let (conditions, isMet, condition) = stage.cases[index / 3]
            let (changes, kept, removed, commit) = stage.commits[index % 3]
            let before = try await contents(of: stores[0])
            var reason: RecordStoreError.Reason?
            do {
                try await stores[1].commit(changes, if: conditions)
            } catch {
                reason = error.reason
            }
            let after = try await contents(of: stores[0])
            switch (isMet, reason) {
            case (true, nil):
                let expected = Set(before.map(\.key)).union(kept).subtracting(removed)
                let isKept = after.allSatisfy { !kept.contains($0.key) || $0.record == StoredRecord([9]) }
                if Set(after.map(\.key)) != expected || !isKept {
                    violations.append("\(commit) with the condition \(condition) must take effect, but does not.")
                }
            case (true, let reason?):
                violations.append("\(commit) with the condition \(condition) must be made, but fails as \(reason).")
            case (false, nil):
                violations.append("\(commit) with the condition \(condition) must fail as conflict, but is made.")
            case (false, let reason?) where reason != .conflict:
                violations.append("\(commit) with the condition \(condition) must fail as conflict, not as \(reason).")
            case (false, _):
                if after != before {
                    violations.append("\(commit) that fails as conflict must change nothing, but does.")
                }
            }
        }
        return violations
    }
}
