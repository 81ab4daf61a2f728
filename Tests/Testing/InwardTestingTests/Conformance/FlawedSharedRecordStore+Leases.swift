import Foundation
import InwardRepositories
import Synchronization

/// Leases, and their flaws.
extension FlawedSharedRecordStore {
    func lease(
        under key: RecordKey,
        limit: Int,
        for duration: Duration
    ) async throws(RecordStoreError) -> [(lease: RecordLease, snapshot: RecordSnapshot)] {
        if Task.isCancelled {
            switch flaw {
            case .leasesDifferentlyWhenCancelled: throw RecordStoreError(.unavailable, explanation: "It is gone.")
            case .leasesNothingWhenCancelled: return []
            default: try throwIfCancelled()
            }
        }
        if flaw == .leasesMissing, place.contents.withLock({ entry(key, in: $0) }) == nil, limit > 0 {
            let snapshot = RecordSnapshot(StoredRecord([]), under: key, version: RecordVersion(0))
            return [(RecordLease(key, token: 1), snapshot)]
        }
        let steps = flaw == .leasesInSteps || flaw == .leasesInStepsInAnotherStore && !isFirst
        guard !steps else {
            let keys = place.contents.withLock { free(under: key, limit: limit, in: $0) }
            for _ in 0..<3 { await Task.yield() }
            return place.contents.withLock { contents in
                keys.compactMap { lease($0, for: duration, in: &contents) }
            }
        }
        return place.contents.withLock { contents in
            free(under: key, limit: limit, in: contents).compactMap { lease($0, for: duration, in: &contents) }
        }
    }

    /// Returns the free records, up to the limit.
    private func free(under key: RecordKey, limit: Int, in contents: Contents) -> [RecordKey] {
        let time = now()
        let found = contents.entries.filter { found, entry in
            let isUnder =
                switch flaw {
                case .leasesByTextPrefix: found.description.hasPrefix(key.description)
                case .leasesOnlyTheKey: found == key || key.components.count < 2 && key.contains(found)
                case .leasesOnlyDescendants: found != key && key.contains(found)
                default: key.contains(found)
                }
            guard isUnder, flaw == .leasesExpired || !entry.record.isExpired(at: time) else { return false }
            switch flaw {
            case .leasesTwice: return true
            case .leasesPerStore:
                return own.contents.withLock { $0.entries[found].map { $0.freeSince <= time } ?? true }
            case .neverEndsLeases: return entry.freeSince <= time && (entry.token == 0 || entry.duration == .zero)
            case .endsLeasesEarly: return entry.freeSince <= end(of: .seconds(3_600))
            default: return entry.freeSince <= time
            }
        }
        let sorted = found.sorted { first, second in
            let (one, other) = (first.value, second.value)
            switch flaw {
            case .leasesInKeyOrder: return first.key < second.key
            case .leasesInTheOrderOfCreation: return one.created < other.created
            case .leasesTheLastFreeFirst: return one.freeSince > other.freeSince
            case .ordersByTheBeginningOfLeases: return one.leasedSince < other.leasedSince
            default: return (one.freeSince, first.key) < (other.freeSince, second.key)
            }
        }
        let limit =
            switch flaw {
            case .ignoresTheLimit: Int.max
            case .leasesHalfOfTheLimit: (limit + 1) / 2
            default: max(0, limit)
            }
        return sorted.prefix(limit).map(\.key)
    }

    private func lease(
        _ key: RecordKey,
        for duration: Duration,
        in contents: inout Contents
    ) -> (lease: RecordLease, snapshot: RecordSnapshot)? {
        guard let entry = contents.entries[key] else { return nil }
        let time = now()
        contents.lastToken += 1
        let token =
            switch flaw {
            case .restartsTokens: UInt64(1)
            case .restartsTokensAfterRemoval: entry.token + 1
            default: contents.lastToken
            }
        let lasting = flaw == .leasesForAtLeastAnHour ? max(duration, .seconds(3_600)) : duration
        contents.entries[key]?.token = token
        contents.entries[key]?.leasedSince = time
        contents.entries[key]?.duration = lasting
        contents.entries[key]?.freeSince = end(of: lasting)
        own.contents.withLock { [entry = contents.entries[key]] in $0.entries[key] = entry }
        if flaw == .changesVersionsByLeasing { renew(key, in: &contents) }
        let record = flaw == .returnsOldRecordsOfLeases ? StoredRecord([]) : entry.record
        let snapshot = RecordSnapshot(record, under: key, version: RecordVersion(entry.version))
        return (RecordLease(key, token: token), snapshot)
    }

    func extend(_ lease: RecordLease, for duration: Duration) async throws(RecordStoreError) -> Bool {
        if flaw == .extendsNothingWhenCancelled, Task.isCancelled { return false }
        try throwIfCancelled()
        let isLastBefore = place.contents.withLock { isLast(lease, in: $0) }
        if flaw == .extendsInSteps { for _ in 0..<6 { await Task.yield() } }
        let time = now()
        return place.contents.withLock { contents in
            let isLast = flaw == .extendsInSteps ? isLastBefore : isLast(lease, in: contents)
            guard let entry = contents.entries[lease.key] else { return false }
            switch flaw {
            case .extendsFencedLeases, .refusesButExtendsFencedLeases: break
            case .extendsOnlyLeasesInForce: guard isLast, entry.freeSince > time else { return false }
            default: guard isLast else { return false }
            }
            let end = end(of: duration)
            contents.entries[lease.key]?.duration = duration
            contents.entries[lease.key]?.freeSince =
                switch flaw {
                case .doesNotShortenLeases: max(end, entry.freeSince)
                case .doesNotPostponeLeases: min(end, max(time, entry.freeSince))
                case .extendsFromTheOldEnd: entry.freeSince.addingTimeInterval(duration / .seconds(1))
                default: end
                }
            if flaw == .changesVersionsByExtending { renew(lease.key, in: &contents) }
            return flaw == .refusesButExtendsFencedLeases ? isLast : true
        }
    }
}
