import Foundation
import InwardRepositories
import Synchronization

/// An in-memory shared record store with at most one flaw.
struct FlawedSharedRecordStore: SharedRecordStore {
    enum Flaw: CaseIterable {
        case leavesOutMissingSnapshots
        case returnsExpiredSnapshots
        case returnsSnapshotsInKeyOrder
        case returnsOldSnapshots
        case snapshotsOneByOne
        case snapshotsNothingWhenCancelled

        case countsVersionsPerRecord
        case countsVersionsPerStore
        case keepsTheVersionOfEqualBytes
        case givesOneVersionPerCommit
        case restartsVersionsWhenEmpty
        case changesVersionsByReading
        case changesVersionsByListing
        case changesVersionsByLeasing
        case changesVersionsByExtending
        case changesVersionsOfOthers

        case ignoresConditions
        case checksTheFirstConditionOnly
        case checksTheLastConditionOnly
        case checksConditionsOfChangesOnly
        case checksNothingWithoutChanges
        case refusesCommitsWithoutChanges
        case checksAfterTheChanges
        case changesDespiteAConflict
        case changesPartlyDespiteAConflict
        case expiredIsNotAbsent
        case acceptsEarlierVersions
        case acceptsLaterVersions
        case versionZeroIsAbsent
        case remembersRemovedVersions
        case conflictsAsBusy
        case checksBeforeTheCommit
        case checksBeforeTheCommitOfAnotherStore

        case leasesTwice
        case leasesPerStore
        case ignoresTheLimit
        case leasesHalfOfTheLimit
        case leasesByTextPrefix
        case leasesOnlyTheKey
        case leasesOnlyDescendants
        case leasesExpired
        case leasesMissing
        case returnsOldRecordsOfLeases
        case restartsTokens
        case restartsTokensAfterRemoval
        case leasesForAtLeastAnHour
        case extendsFencedLeases
        case refusesButExtendsFencedLeases
        case commitsWithFencedLeases
        case comparesTokensOnly
        case leaseIsNotValidOnceItEnded
        case extendsOnlyLeasesInForce
        case doesNotShortenLeases
        case doesNotPostponeLeases
        case keepEndsLeases
        case keepGivesANewToken
        case leasesSurviveRemoval
        case removalKeepsRecordsLeased
        case leasesInSteps
        case leasesInStepsInAnotherStore

        case commitsWhenCancelled
        case failsDifferentlyWhenCancelled
        case dropsCancelledCommits
        case commitsPartlyWhenCancelled
        case checksNothingWhenCancelled
        case leasesDifferentlyWhenCancelled
        case leasesNothingWhenCancelled
        case extendsNothingWhenCancelled

        case beginsWithoutAWord
        case announcesToOneStore
        case announcesConflicts
        case announcesUnconditionalCommitsOnly
        case announcesOnlyOneKeyOfACommit
        case announcesKeptRecords
        case announcesInReverse
        case announcesBeforeTheCommit
        case announcesConcurrentCommitsInReverse
        case announcesOnlyFiftyKeys
        case announcementsChangeVersions
        case losesAnnouncementsOfAWriter

        case readsOldSnapshotsDuringCommits
        case refusesButMakesOvertakenCommits
        case extendsInSteps
        case fencesInSteps

        case leasesInKeyOrder
        case leasesInTheOrderOfCreation
        case leasesTheLastFreeFirst
        case ordersByTheBeginningOfLeases
        case neverEndsLeases
        case endsLeasesEarly
        case extendsFromTheOldEnd
        case keepRenewsLeases
    }

    /// A record with its version and its last lease.
    struct Entry: Sendable {
        var record: StoredRecord
        var version: UInt64
        var token: UInt64 = 0
        var created: Date
        var freeSince: Date
        var leasedSince: Date
        var duration: Duration = .zero
        /// The record that was kept before.
        var old: StoredRecord?
    }

    /// The state of a place.
    struct Contents: Sendable {
        var entries: [RecordKey: Entry] = [:]
        var lastVersion: UInt64 = 0
        var lastToken: UInt64 = 0
        /// The versions of removed records.
        var removed: [RecordKey: UInt64] = [:]
        /// The entries before the last commit.
        var before: [RecordKey: Entry] = [:]
        /// Removed records whose leases a flaw remembers.
        var kept: [RecordKey: Entry] = [:]
    }

    /// The contents of a place, which the stores opened there share.
    final class Place: Sendable {
        let contents = Mutex(Contents())
        let hub = RecordAnnouncementHub()
        /// The hubs of a flaw, which do not say that they listen.
        let silentHubs = Mutex<[RecordAnnouncementHub]>([])
        /// What a flaw announces later.
        let postponed = Mutex<RecordKey?>(nil)
        /// The number of commits that are being made.
        let commits = Mutex(0)
        /// The store that was used first.
        let firstStore = Mutex<ObjectIdentifier?>(nil)
    }

    let flaw: Flaw?
    let now: @Sendable () -> Date
    let place: Place
    /// The state of this store alone.
    let own = Place()

    init(flaw: Flaw?, at place: Place, now: @escaping @Sendable () -> Date) {
        self.flaw = flaw
        self.place = place
        self.now = now
    }

    /// Whether the store is the first of those at its place.
    var isFirst: Bool {
        place.firstStore.withLock { first in
            first = first ?? ObjectIdentifier(own)
            return first == ObjectIdentifier(own)
        }
    }

    func entry(_ key: RecordKey, in contents: Contents) -> Entry? {
        contents.entries[key].flatMap { $0.record.isExpired(at: now()) ? nil : $0 }
    }

    /// Returns the time after a duration.
    func end(of duration: Duration) -> Date { now().addingTimeInterval(duration / .seconds(1)) }

    func throwIfCancelled() throws(RecordStoreError) {
        if Task.isCancelled { throw RecordStoreError(.cancelled, explanation: "The task was cancelled.") }
    }

    func record(for key: RecordKey) async throws(RecordStoreError) -> StoredRecord? {
        try throwIfCancelled()
        return place.contents.withLock { contents in
            if flaw == .changesVersionsByReading { renew(key, in: &contents) }
            return entry(key, in: contents)?.record
        }
    }

    func records(under key: RecordKey) async throws(RecordStoreError) -> [(key: RecordKey, record: StoredRecord)] {
        try throwIfCancelled()
        return place.contents.withLock { contents in
            let keys = contents.entries.keys.filter { key.contains($0) && entry($0, in: contents) != nil }.sorted()
            if flaw == .changesVersionsByListing { for key in keys { renew(key, in: &contents) } }
            return keys.compactMap { key in contents.entries[key].map { (key: key, record: $0.record) } }
        }
    }

    func losses(under key: RecordKey) async throws(RecordStoreError) -> RecordLosses { RecordLosses() }

    func announcements(under key: RecordKey) -> RecordAnnouncements {
        switch flaw {
        case .beginsWithoutAWord:
            let hub = RecordAnnouncementHub(isListening: false)
            place.silentHubs.withLock { $0.append(hub) }
            return hub.announcements(under: key)
        case .announcesToOneStore: return own.hub.announcements(under: key)
        default: return place.hub.announcements(under: key)
        }
    }

    func claim(_ key: RecordKey) async throws(RecordStoreError) -> RecordClaimResult { .owned(by: "another") }

    func snapshots(for keys: [RecordKey]) async throws(RecordStoreError) -> [RecordSnapshot?] {
        if flaw == .snapshotsNothingWhenCancelled, Task.isCancelled { return keys.map { _ in nil } }
        try throwIfCancelled()
        if flaw == .snapshotsOneByOne {
            var snapshots: [RecordSnapshot?] = []
            for key in keys {
                snapshots.append(place.contents.withLock { snapshot(key, in: $0) })
                await Task.yield()
            }
            return snapshots
        }
        let isOld = flaw == .readsOldSnapshotsDuringCommits && place.commits.withLock { $0 > 0 }
        return place.contents.withLock { contents in
            var contents = contents
            if isOld { contents.entries = contents.before }
            let keys = flaw == .returnsSnapshotsInKeyOrder ? keys.sorted() : keys
            let snapshots = keys.map { snapshot($0, in: contents) }
            return flaw == .leavesOutMissingSnapshots ? snapshots.filter { $0 != nil } : snapshots
        }
    }

    func snapshot(_ key: RecordKey, in contents: Contents) -> RecordSnapshot? {
        let found = flaw == .returnsExpiredSnapshots ? contents.entries[key] : entry(key, in: contents)
        return found.map { entry in
            let record = flaw == .returnsOldSnapshots ? entry.old ?? entry.record : entry.record
            return RecordSnapshot(record, under: key, version: RecordVersion(entry.version))
        }
    }

    /// Gives a record a new version.
    func renew(_ key: RecordKey, in contents: inout Contents) {
        contents.lastVersion += 1
        contents.entries[key]?.version = contents.lastVersion
    }
}
