import Foundation
import InwardRepositories
import Synchronization

/// An in-memory record store with at most one flaw.
struct FlawedRecordStore: RecordStore {
    enum Flaw: CaseIterable {
        case losesEmptyRecords
        case truncatesAtZeroByte
        case truncatesLargeRecords
        case keepsTheFirstRecord
        case normalizesKeys
        case joinsComponents
        case ignoresCase
        case forgetsTheEmptyKey
        case removesNothing
        case removesDescendants
        case removesByTextPrefix
        case leavesTheKeyItself
        case keepsAnnouncements
        case removesAnnouncedRecords
        case listsInAnyOrder
        case listsByText
        case appliesChangesInReverse
        case returnsExpiredRecords
        case returnsRecordsThatExpireNow
        case forgetsTheExpiry
        case appliesChangesOneByOne
        case losesConcurrentCommits
        case commitsWhenCancelled
        case failsDifferentlyWhenCancelled
        case dropsCancelledCommits
        case forgetsRecordsBetweenStores
        case roundsExpiryBetweenStores
        case missesCommitsOfOtherStores
        case failsOnEmptyCommit
        case claimsNothing
        case claimsTwice
        case claimsMoreThanTheKey
        case hidesTheOwner
        case neverReleases
        case releasesOnlyWhenTold
        case claimsInOneStoreOnly
        case findsNothingWhenCancelled
        case listsNothingWhenCancelled
        case reportsCancellationAfterCommit
        case commitsPartiallyWhenCancelled
        case overwritesConcurrentCommits
        case purgesReplacements
        case keepsTheExpiryOfEqualBytes
        case appliesOnlyAHundredChanges
        case listsAtMostAThousand
        case truncatesAtAMebibyte
        case truncatesLongComponents
        case readsBetweenChanges
        case readsSlowlyBetweenChanges
        case endsTheNextClaim
        case claimsNonAtomically
        case claimsNonAtomicallyAcrossStores
        case missesRemovalsOfOtherStores
        case missesBulkRemovalsOfOtherStores
        case readsOtherCommitsOneByOne
        case reportsCancellationAfterSlowCommit
        case commitsPartiallyWhenCancelledLate
        case rollsBackWhenCancelled
        case skipsARecordBetweenPages
        case repeatsTheLastOfAPage
        case beginsPagesWithMissingKeys
        case exceedsTheLimit
        case returnsAPageForLimitZero
        case countsExpiredRecordsInPages
        case returnsExpiredRecordsInPages
        case leavesThePrefixInPages
        case ordersPagesByText
        case swapsTheRecordsOfAPage
        case pagesNothingWhenCancelled
        case readsInKeyOrder
        case leavesOutMissingRecords
        case readsRepeatedKeysOnce
        case readsExpiredRecordsWithOthers
        case readsNothingWhenCancelled
    }

    /// The contents of a place, which the stores opened there share.
    final class Place: Sendable {
        let records = Mutex<[RecordKey: StoredRecord]>([:])
        let commits = Mutex(0)
        let claims = Mutex(Claims())
        /// How each removed record was removed.
        let removals = Mutex<[RecordKey: Removal]>([:])
        /// The store that committed last.
        let committer = Mutex<ObjectIdentifier?>(nil)
    }

    /// How a record was removed.
    enum Removal {
        case alone
        case withAllOthers
    }

    /// The claims, by key.
    struct Claims {
        var owners: [RecordKey: Int] = [:]
        var last = 0
    }

    /// Ends a claim in its deinitializer.
    private final class Dropping: Sendable {
        private let end: @Sendable () -> Void

        init(_ end: @escaping @Sendable () -> Void) {
            self.end = end
        }

        deinit { end() }
    }

    let flaw: Flaw?
    let now: Date
    let place: Place
    /// The shared place to which a store with a separate place copies its records.
    private var shadow: Place?
    /// The state that no other store sees: claims, and the records that were read.
    let own = Place()

    init(flaw: Flaw? = nil, now: Date, at place: Place) {
        self.flaw = flaw
        self.now = now
        guard let flaw,
            [.forgetsRecordsBetweenStores, .roundsExpiryBetweenStores, .missesCommitsOfOtherStores].contains(flaw)
        else {
            self.place = place
            return
        }
        self.place = Place()
        let shared = place
        var records = shared.records.withLock(\.self)
        if flaw == .forgetsRecordsBetweenStores { records = [:] }
        if flaw == .roundsExpiryBetweenStores {
            records = records.mapValues { record in
                StoredRecord(
                    record.bytes,
                    expiry: record.expiry.map {
                        Date(timeIntervalSinceReferenceDate: $0.timeIntervalSinceReferenceDate.rounded(.down))
                    }
                )
            }
        }
        self.place.records.withLock { [records] in $0 = records }
        shadow = shared
    }

    func record(for key: RecordKey) async throws(RecordStoreError) -> StoredRecord? {
        if flaw == .findsNothingWhenCancelled, Task.isCancelled { return nil }
        if flaw == .purgesReplacements, place.records.withLock({ $0[key]?.isExpired(at: now) }) == true {
            for _ in 0..<2 { await Task.yield() }
            place.records.withLock { $0[key] = nil }
        }
        let record = place.records.withLock { $0[stored(key)].flatMap { isGiven($0) ? $0 : nil } }
        return missesOtherRemovals ? remembered(record, for: key) : record
    }

    func records(
        under key: RecordKey
    ) async throws(RecordStoreError) -> [(key: RecordKey, record: StoredRecord)] {
        if flaw == .listsNothingWhenCancelled, Task.isCancelled { return [] }
        // Longer than writers take if they do not wait for readers. Other lists are not delayed, to save time.
        if flaw == .readsSlowlyBetweenChanges, key == ["pair"] { for _ in 0..<600 { await Task.yield() } }
        let found = place.records.withLock { records in
            records.filter { stored(key).contains($0.key) && isGiven($0.value) }
        }
        let listed =
            flaw == .readsOtherCommitsOneByOne
            ? await readOneByOne(found) : found.map { (key: $0.key, record: $0.value) }
        switch flaw {
        case .listsInAnyOrder: return listed.sorted { $0.key.hashValue < $1.key.hashValue }
        case .listsByText: return listed.sorted { $0.key.components.joined() < $1.key.components.joined() }
        case .listsAtMostAThousand: return Array(listed.sorted { $0.key < $1.key }.prefix(1_000))
        default: return listed.sorted { $0.key < $1.key }
        }
    }

    func losses(under key: RecordKey) async throws(RecordStoreError) -> RecordLosses { RecordLosses() }

    func claim(_ key: RecordKey) async throws(RecordStoreError) -> RecordClaimResult {
        if Task.isCancelled { throw RecordStoreError(.cancelled, explanation: "") }
        if flaw == .claimsNothing { return .owned(by: "another") }
        let place = flaw == .claimsInOneStoreOnly ? own : shadow ?? place
        let flaw = flaw
        let own = own
        if looksFirst {
            if let owner = place.claims.withLock({ $0.owners[key] }) { return .owned(by: String(owner)) }
            // With this flaw, only a concurrent claim by another store is missed.
            if flaw == .claimsNonAtomicallyAcrossStores,
                !own.claims.withLock({ $0.owners.updateValue(0, forKey: key) == nil })
            {
                return .owned(by: "this")
            }
            await Task.yield()
        }
        let number = place.claims.withLock { claims -> Int? in
            let isFree = claims.owners.keys.allSatisfy { flaw == .claimsMoreThanTheKey ? !key.contains($0) : key != $0 }
            guard isFree || flaw == .claimsTwice || looksFirst else { return nil }
            claims.last += 1
            claims.owners[key] = claims.last
            return claims.last
        }
        guard let number else { return .owned(by: flaw == .hidesTheOwner ? "" : "another") }
        let end: @Sendable () -> Void = {
            place.claims.withLock { claims in
                if claims.owners[key] == number { claims.owners[key] = nil }
            }
            if flaw == .claimsNonAtomicallyAcrossStores { own.claims.withLock { $0.owners[key] = nil } }
            guard flaw == .endsTheNextClaim else { return }
            // The cleanup of the claim comes late, and does not check whose claim it ends.
            Task {
                for _ in 0..<2 { await Task.yield() }
                place.claims.withLock { $0.owners[key] = nil }
            }
        }
        if flaw == .neverReleases { return .claimed(RecordClaim {}) }
        if flaw == .releasesOnlyWhenTold { return .claimed(RecordClaim { end() }) }
        let dropping = Dropping(end)
        return .claimed(RecordClaim { withExtendedLifetime(dropping) {} })
    }

    func commit(_ changes: [RecordChange]) async throws(RecordStoreError) {
        if Task.isCancelled {
            switch flaw {
            case .commitsWhenCancelled: break
            case .failsDifferentlyWhenCancelled: throw RecordStoreError(.unavailable, explanation: "")
            case .dropsCancelledCommits: return
            default: throw RecordStoreError(.cancelled, explanation: "")
            }
        }
        if changes.isEmpty, flaw == .failsOnEmptyCommit { throw RecordStoreError(.unavailable, explanation: "") }
        if flaw == .losesConcurrentCommits, changes.count == 1,
            place.commits.withLock({
                $0 += 1; return $0 % 3 == 0
            })
        {
            let before = place.records.withLock(\.self)
            for _ in 0..<8 { await Task.yield() }
            place.records.withLock { $0 = before }
        }
        if isSlow(changes) { for _ in 0..<600 { await Task.yield() } }
        place.committer.withLock { $0 = ObjectIdentifier(own) }
        let before = place.records.withLock(\.self)
        if let turns = turnsBetweenChanges {
            for change in changes {
                place.records.withLock { make(change, in: &$0) }
                for _ in 0..<turns { await Task.yield() }
            }
        } else if flaw == .overwritesConcurrentCommits, changes.count == 1 {
            // With this flaw, concurrent commits overwrite each other, even those of two stores at one place.
            var records = place.records.withLock(\.self)
            for _ in 0..<4 { await Task.yield() }
            for change in changes { make(change, in: &records) }
            place.records.withLock { [records] in $0 = records }
        } else if flaw == .commitsPartiallyWhenCancelled || flaw == .commitsPartiallyWhenCancelledLate {
            for change in changes {
                guard !Task.isCancelled else { return }
                place.records.withLock { make(change, in: &$0) }
                for _ in 0..<4 { await Task.yield() }
            }
        } else {
            let changes = flaw == .appliesOnlyAHundredChanges ? Array(changes.prefix(100)) : changes
            let ordered = flaw == .appliesChangesInReverse ? changes.reversed() : changes
            place.records.withLock { records in
                for change in ordered { make(change, in: &records) }
            }
        }
        if missesOtherRemovals { own.records.withLock { for change in changes { make(change, in: &$0) } } }
        if let shadow {
            let records = place.records.withLock(\.self)
            shadow.records.withLock { $0 = records }
        }
        try await endCancelled(before)
    }

    /// Whether the store claims a key in two steps: it first checks whether the key is claimed.
    private var looksFirst: Bool {
        flaw == .claimsNonAtomically || flaw == .claimsNonAtomicallyAcrossStores
    }

    /// The number of times that the store yields after each change of a commit, or `nil` if its changes are made atomically.
    private var turnsBetweenChanges: Int? {
        switch flaw {
        case .appliesChangesOneByOne: 8
        case .readsSlowlyBetweenChanges: 4
        case .readsBetweenChanges: 1
        default: nil
        }
    }

    private func make(_ change: RecordChange, in records: inout [RecordKey: StoredRecord]) {
        if missesOtherRemovals { noteRemovals(by: change, of: records) }
        switch change {
        case .keep(let record, let key):
            if record.bytes.isEmpty, flaw == .losesEmptyRecords { return records[stored(key)] = nil }
            if flaw == .keepsTheFirstRecord, records[stored(key)] != nil { return }
            if flaw == .forgetsTheEmptyKey, key.components.isEmpty { return }
            if flaw == .keepsTheExpiryOfEqualBytes, records[stored(key)]?.bytes == record.bytes { return }
            records[stored(key)] = kept(record)
        case .remove(let key):
            if flaw == .removesNothing { return }
            if flaw == .removesDescendants {
                records = records.filter { !key.contains($0.key) }
            } else {
                records[stored(key)] = nil
            }
        case .removeAll(let key):
            records = records.filter { entry in
                switch flaw {
                case .removesByTextPrefix: !entry.key.description.hasPrefix(key.description)
                case .leavesTheKeyItself where !key.components.isEmpty: entry.key == key || !key.contains(entry.key)
                default: !key.contains(entry.key)
                }
            }
        case .announce(let key):
            if flaw == .keepsAnnouncements { records[key] = StoredRecord([]) }
            if flaw == .removesAnnouncedRecords { records[key] = nil }
        }
    }

    private func kept(_ record: StoredRecord) -> StoredRecord {
        switch flaw {
        case .truncatesAtZeroByte:
            StoredRecord(Array(record.bytes.prefix { $0 != 0 }), expiry: record.expiry)
        case .truncatesLargeRecords: StoredRecord(Array(record.bytes.prefix(65_536)), expiry: record.expiry)
        case .truncatesAtAMebibyte: StoredRecord(Array(record.bytes.prefix(1_048_575)), expiry: record.expiry)
        case .forgetsTheExpiry: StoredRecord(record.bytes)
        default: record
        }
    }

    /// Returns the key that the store uses in place of a key.
    private func stored(_ key: RecordKey) -> RecordKey {
        switch flaw {
        case .normalizesKeys: RecordKey(key.components.map(\.precomposedStringWithCanonicalMapping))
        case .joinsComponents: key.components.isEmpty ? [] : [key.components.joined(separator: "/")]
        case .truncatesLongComponents:
            RecordKey(key.components.map { $0.utf8.count > 65_535 ? String($0.prefix(65_535)) : $0 })
        case .ignoresCase: RecordKey(key.components.map { $0.lowercased() })
        default: key
        }
    }

    func isGiven(_ record: StoredRecord) -> Bool {
        switch flaw {
        case .returnsExpiredRecords: true
        case .returnsRecordsThatExpireNow: record.expiry.map { $0 >= now } ?? true
        default: !record.isExpired(at: now)
        }
    }
}
