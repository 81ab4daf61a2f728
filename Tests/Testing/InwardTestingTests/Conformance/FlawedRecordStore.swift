import Foundation
import InwardRepositories
import Synchronization

/// A store of records in memory that does one thing wrong, if a test asks for it.
struct FlawedRecordStore: RecordStore {
    enum Flaw: CaseIterable {
        case losesWhatIsEmpty
        case endsAtZero
        case cutsWhatIsLarge
        case keepsTheFirst
        case comparesTexts
        case joinsComponents
        case ignoresCase
        case forgetsTheEmptyKey
        case removesNothing
        case removesWhatIsBelow
        case removesByText
        case leavesTheKeyItself
        case listsInAnyOrder
        case listsByText
        case changesBackwards
        case keepsWhatHasExpired
        case keepsWhatExpiresNow
        case forgetsTheExpiry
        case changesOneByOne
        case losesWhatComesAtOnce
        case changesWhenCancelled
        case failsOtherwiseWhenCancelled
        case forgetsCancelledChanges
        case keepsNothingForTheNext
        case keepsWholeSecondsForTheNext
        case neverLooksAgain
        case failsOnNothing
        case claimsNothing
        case claimsTwice
        case claimsMoreThanTheKey
        case hidesTheOwner
        case neverReleases
        case releasesOnlyWhenTold
        case claimsForItselfAlone
        case findsNothingWhenCancelled
        case listsNothingWhenCancelled
        case saysCancelledThoughMade
        case makesHalfWhenCancelled
        case overwritesTheOther
        case purgesReplacements
        case keepsTheExpiryOfEqualBytes
        case makesAHundredChanges
        case listsAThousandAtMost
        case cutsAtAMebibyte
        case cutsLongComponents
        case readsBetweenChanges
        case readsSlowlyBetweenChanges
        case endsTheNextClaim
        case claimsAfterItHasLooked
        case claimsAfterItHasLookedForOthers
        case missesWhatTheOtherRemoves
        case missesWhatTheOtherRemovesWithAllOthers
        case readsTheOthersOneByOne
        case saysCancelledThoughMadeLate
        case makesHalfWhenCancelledLate
        case rollsBackWhenCancelled
    }

    /// A place that stores are opened at.
    final class Place: Sendable {
        let records = Mutex<[RecordKey: StoredRecord]>([:])
        let commits = Mutex(0)
        let claims = Mutex(Claims())
        /// How what is gone was removed.
        let removals = Mutex<[RecordKey: Removal]>([:])
        /// The store that has committed last.
        let committer = Mutex<ObjectIdentifier?>(nil)
    }

    /// How a record was removed.
    enum Removal {
        case alone
        case withAllOthers
    }

    /// The number of the claim that has a key.
    struct Claims {
        var owners: [RecordKey: Int] = [:]
        var last = 0
    }

    /// Ends a claim when nobody holds it any more.
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
    /// Where a store that has a place of its own tells what it keeps.
    private var shadow: Place?
    /// Where a store keeps what no other sees: claims, and what it has read.
    let own = Place()

    init(flaw: Flaw? = nil, now: Date, at place: Place) {
        self.flaw = flaw
        self.now = now
        guard let flaw, [.keepsNothingForTheNext, .keepsWholeSecondsForTheNext, .neverLooksAgain].contains(flaw) else {
            self.place = place
            return
        }
        self.place = Place()
        let shared = place
        var records = shared.records.withLock(\.self)
        if flaw == .keepsNothingForTheNext { records = [:] }
        if flaw == .keepsWholeSecondsForTheNext {
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
        return missesRemovals ? remembered(record, for: key) : record
    }

    func records(
        under key: RecordKey
    ) async throws(RecordStoreError) -> [(key: RecordKey, record: StoredRecord)] {
        if flaw == .listsNothingWhenCancelled, Task.isCancelled { return [] }
        // Longer than any writer takes that does not wait for its readers. Other lists are not worth the time.
        if flaw == .readsSlowlyBetweenChanges, key == ["pair"] { for _ in 0..<600 { await Task.yield() } }
        let found = place.records.withLock { records in
            records.filter { stored(key).contains($0.key) && isGiven($0.value) }
        }
        let listed =
            flaw == .readsTheOthersOneByOne
            ? await readOneByOne(found) : found.map { (key: $0.key, record: $0.value) }
        switch flaw {
        case .listsInAnyOrder: return listed.sorted { $0.key.hashValue < $1.key.hashValue }
        case .listsByText: return listed.sorted { $0.key.components.joined() < $1.key.components.joined() }
        case .listsAThousandAtMost: return Array(listed.sorted { $0.key < $1.key }.prefix(1_000))
        default: return listed.sorted { $0.key < $1.key }
        }
    }

    func losses(under key: RecordKey) async throws(RecordStoreError) -> RecordLosses { RecordLosses() }

    func claim(_ key: RecordKey) async throws(RecordStoreError) -> RecordClaimResult {
        if Task.isCancelled { throw RecordStoreError(.cancelled, explanation: "") }
        if flaw == .claimsNothing { return .owned(by: "another") }
        let place = flaw == .claimsForItselfAlone ? own : shadow ?? place
        let flaw = flaw
        let own = own
        if looksFirst {
            if let owner = place.claims.withLock({ $0.owners[key] }) { return .owned(by: String(owner)) }
            // Only that others at the place claim it meanwhile is missed, with one of the flaws.
            if flaw == .claimsAfterItHasLookedForOthers,
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
            if flaw == .claimsAfterItHasLookedForOthers { own.claims.withLock { $0.owners[key] = nil } }
            guard flaw == .endsTheNextClaim else { return }
            // What makes sure that the claim has ended comes late, and does not look whose claim it ends.
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
            case .changesWhenCancelled: break
            case .failsOtherwiseWhenCancelled: throw RecordStoreError(.unavailable, explanation: "")
            case .forgetsCancelledChanges: return
            default: throw RecordStoreError(.cancelled, explanation: "")
            }
        }
        if changes.isEmpty, flaw == .failsOnNothing { throw RecordStoreError(.unavailable, explanation: "") }
        if flaw == .losesWhatComesAtOnce, changes.count == 1,
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
        } else if flaw == .overwritesTheOther, changes.count == 1 {
            // Two stores at one place do not know of each other's commits, and neither do two tasks with this flaw.
            var records = place.records.withLock(\.self)
            for _ in 0..<4 { await Task.yield() }
            for change in changes { make(change, in: &records) }
            place.records.withLock { [records] in $0 = records }
        } else if flaw == .makesHalfWhenCancelled || flaw == .makesHalfWhenCancelledLate {
            for change in changes {
                guard !Task.isCancelled else { return }
                place.records.withLock { make(change, in: &$0) }
                for _ in 0..<4 { await Task.yield() }
            }
        } else {
            let changes = flaw == .makesAHundredChanges ? Array(changes.prefix(100)) : changes
            let ordered = flaw == .changesBackwards ? changes.reversed() : changes
            place.records.withLock { records in
                for change in ordered { make(change, in: &records) }
            }
        }
        if missesRemovals { own.records.withLock { for change in changes { make(change, in: &$0) } } }
        if let shadow {
            let records = place.records.withLock(\.self)
            shadow.records.withLock { $0 = records }
        }
        try await endCancelled(before)
    }

    /// Whether a store looks whether a key is claimed, and claims it in a second step.
    private var looksFirst: Bool {
        flaw == .claimsAfterItHasLooked || flaw == .claimsAfterItHasLookedForOthers
    }

    /// How often others get their turn behind each change of a commit; `nil` if its changes are made at once.
    private var turnsBetweenChanges: Int? {
        switch flaw {
        case .changesOneByOne: 8
        case .readsSlowlyBetweenChanges: 4
        case .readsBetweenChanges: 1
        default: nil
        }
    }

    private func make(_ change: RecordChange, in records: inout [RecordKey: StoredRecord]) {
        if missesRemovals { noteRemovals(by: change, of: records) }
        switch change {
        case .keep(let record, let key):
            if record.bytes.isEmpty, flaw == .losesWhatIsEmpty { return records[stored(key)] = nil }
            if flaw == .keepsTheFirst, records[stored(key)] != nil { return }
            if flaw == .forgetsTheEmptyKey, key.components.isEmpty { return }
            if flaw == .keepsTheExpiryOfEqualBytes, records[stored(key)]?.bytes == record.bytes { return }
            records[stored(key)] = kept(record)
        case .remove(let key):
            if flaw == .removesNothing { return }
            if flaw == .removesWhatIsBelow {
                records = records.filter { !key.contains($0.key) }
            } else {
                records[stored(key)] = nil
            }
        case .removeAll(let key):
            records = records.filter { entry in
                switch flaw {
                case .removesByText: !entry.key.description.hasPrefix(key.description)
                case .leavesTheKeyItself where !key.components.isEmpty: entry.key == key || !key.contains(entry.key)
                default: !key.contains(entry.key)
                }
            }
        }
    }

    private func kept(_ record: StoredRecord) -> StoredRecord {
        switch flaw {
        case .endsAtZero:
            StoredRecord(Array(record.bytes.prefix { $0 != 0 }), expiry: record.expiry)
        case .cutsWhatIsLarge: StoredRecord(Array(record.bytes.prefix(65_536)), expiry: record.expiry)
        case .cutsAtAMebibyte: StoredRecord(Array(record.bytes.prefix(1_048_575)), expiry: record.expiry)
        case .forgetsTheExpiry: StoredRecord(record.bytes)
        default: record
        }
    }

    /// The key under which a store keeps what it is given for another.
    private func stored(_ key: RecordKey) -> RecordKey {
        switch flaw {
        case .comparesTexts: RecordKey(key.components.map(\.precomposedStringWithCanonicalMapping))
        case .joinsComponents: key.components.isEmpty ? [] : [key.components.joined(separator: "/")]
        case .cutsLongComponents:
            RecordKey(key.components.map { $0.utf8.count > 65_535 ? String($0.prefix(65_535)) : $0 })
        case .ignoresCase: RecordKey(key.components.map { $0.lowercased() })
        default: key
        }
    }

    func isGiven(_ record: StoredRecord) -> Bool {
        switch flaw {
        case .keepsWhatHasExpired: true
        case .keepsWhatExpiresNow: record.expiry.map { $0 >= now } ?? true
        default: !record.isExpired(at: now)
        }
    }
}
