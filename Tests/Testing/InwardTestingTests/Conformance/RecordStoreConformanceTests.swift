import Foundation
import InwardRepositories
import InwardTesting
import Testing
import Thoroughness

@Suite(.timeLimit(.minutes(5)))
struct RecordStoreConformanceTests {
    private let now = Date(timeIntervalSinceReferenceDate: 800_000_000)

    private func check(_ flaw: FlawedRecordStore.Flaw?) async throws {
        let place = FlawedRecordStore.Place()
        try await RecordStoreConformance(isDurable: true, now: now).check {
            FlawedRecordStore(flaw: flaw, now: now, at: place)
        }
    }

    @Test func correctStorePasses() async throws {
        try await check(nil)
    }

    @Test func inMemoryStorePasses() async throws {
        try await RecordStoreConformance(isDurable: false, now: now).check { InMemoryRecordStore(now: { now }) }
    }

    @Test func inMemoryStoreIsNotDurable() async throws {
        await #expect(throws: ConformanceFailure.self) {
            try await RecordStoreConformance(isDurable: true, now: now).check { InMemoryRecordStore(now: { now }) }
        }
    }

    @Test func failingStoreIsReported() async throws {
        let store = RecordingRecordStore(failure: RecordStoreError(.full, explanation: "There is no room."))
        let failure = await #expect(throws: ConformanceFailure.self) {
            try await RecordStoreConformance(isDurable: false, now: now).check { store }
        }
        #expect(failure?.violations.first == "The store must not fail, but did: There is no room.")
    }

    /// For each flaw, a part of a violation that must be found.
    private static let findings: [(FlawedRecordStore.Flaw, String)] = [
        (.losesEmptyRecords, "A record of 0 bytes must be 0 bytes (…), but is nothing."),
        (.truncatesAtZeroByte, "A record of 256 bytes must be 256 bytes (0 1 2 3…), but is 0 bytes (…)."),
        (.truncatesLargeRecords, "A record of 1048576 bytes must be"),
        (.keepsTheFirstRecord, "A record of 256 bytes must be 256 bytes (0 1 2 3…), but is 0 bytes (…)."),
        (.normalizesKeys, "The record under [\"\u{E9}\"] must be"),
        (.joinsComponents, "The record under [\"a\", \"b\"] must be"),
        (.ignoresCase, "The record under [\"a\"] must be"),
        (.forgetsTheEmptyKey, "The record under [] must be"),
        (.removesNothing, "The record under [\"a\"] after remove(a) must be nothing"),
        (.removesDescendants, "The record under [\"a\", \"1\"] after remove(a) must be"),
        (.removesByTextPrefix, "The record under [\"ab\"] after removeAll(a) must be"),
        (.leavesTheKeyItself, "The record under [\"a\"] after removeAll(a) must be nothing"),
        (.keepsAnnouncements, "The record after [InwardRepositories.RecordChange.removeAll(s), "),
        (.removesAnnouncedRecords, "announce(s/1)] must be 1 bytes (1…), but is nothing."),
        (.listsInAnyOrder, "The keys under [] must be listed in order, but are not."),
        (.listsByText, "The keys under [] must be listed in order, but are not."),
        (.appliesChangesInReverse, "must be 1 bytes (2…), but is 1 bytes (1…)."),
        (.returnsExpiredRecords, "A record that expires in -0.5 seconds must be nothing"),
        (.returnsRecordsThatExpireNow, "A record that expires in 0.0 seconds must be nothing"),
        (.forgetsTheExpiry, "A record that expires in 3600.0 seconds must be"),
        (.appliesChangesOneByOne, "Two records that are always committed together must be equal, but are not."),
        (.losesConcurrentCommits, "Of 128 records committed concurrently,"),
        (.commitsWhenCancelled, "A commit that fails as cancelled must change nothing, but did."),
        (.failsDifferentlyWhenCancelled, "A cancelled commit must fail as cancelled, but failed as unavailable."),
        (.dropsCancelledCommits, "A cancelled commit that succeeds must take effect, but does not."),
        (.forgetsRecordsBetweenStores, "A committed record, reopened, must be"),
        (.roundsExpiryBetweenStores, "A record that expires in two hours, reopened, must be"),
        (.missesCommitsOfOtherStores, "A record that another store at the same place keeps must be"),
        (.failsOnEmptyCommit, "The store must not fail, but did"),
        (.claimsNothing, "A free key must be claimable, but is not."),
        (.claimsTwice, "A claimed key must not be claimable again, but is."),
        (.claimsMoreThanTheKey, "A claim must not affect other keys, but does."),
        (.hidesTheOwner, "A refused claim must name the owner, but does not."),
        (.neverReleases, "A released claim must end, but does not."),
        (.releasesOnlyWhenTold, "A dropped claim must end, but does not."),
        (
            .claimsInOneStoreOnly,
            "A key claimed in one store must not be claimable in another at the same place, but is."
        ),
        (.findsNothingWhenCancelled, "A record read by a cancelled task must be complete, but is not."),
        (.listsNothingWhenCancelled, "A list read by a cancelled task must be complete, but is not."),
        (.reportsCancellationAfterCommit, "A commit that fails as cancelled must change nothing, but did."),
        (.commitsPartiallyWhenCancelled, "A cancelled commit must take effect completely, but does not."),
        (.overwritesConcurrentCommits, "records that two stores at one place committed concurrently,"),
        (.purgesReplacements, "The replacement of an expired record that is being read must be"),
        (.keepsTheExpiryOfEqualBytes, "A record committed with another expiry must be"),
        (
            .appliesOnlyAHundredChanges,
            "The keys under [\"many\"] must be listed completely and without others, but are not."
        ),
        (.listsAtMostAThousand, "The keys under [\"many\"] must be listed completely and without others, but are not."),
        (.truncatesAtAMebibyte, "A record of 1048576 bytes must be"),
        (.truncatesLongComponents, "The record under [\"xxxxxxxxxxxxxxxx\"] must be"),
        (.readsBetweenChanges, "Two records that are always committed together must be equal, but are not."),
        (.readsSlowlyBetweenChanges, "Two records that are always committed together must be equal, but are not."),
        (.endsTheNextClaim, "The end of a claim must not end the next claim of its key, but does."),
        (.claimsNonAtomicallyAcrossStores, "A key must have one owner at a time, but has two."),
        (.claimsNonAtomically, "A key must have one owner at a time, but has two."),
        (.missesRemovalsOfOtherStores, "A record that another store at the same place removes must be nothing"),
        (
            .missesBulkRemovalsOfOtherStores,
            "A record that another store at the same place removes with all others must be nothing"
        ),
        (.readsOtherCommitsOneByOne, "Two records that are always committed together must be equal, but are not."),
        (.reportsCancellationAfterSlowCommit, "A commit that fails as cancelled must change nothing, but did."),
        (.commitsPartiallyWhenCancelledLate, "A cancelled commit must take effect completely, but does not."),
        (.rollsBackWhenCancelled, "A record committed while another commit is cancelled must be found, but is not."),
        (.skipsARecordBetweenPages, "A page of at most 1 records under [] after [] must leave out no record, but"),
        (.repeatsTheLastOfAPage, "A page of at most 1 records under [] after [] must begin after the given key, but"),
        (.beginsPagesWithMissingKeys, "under [\"a\"] after [\"a\", \"a\"] must begin after the given key"),
        (.exceedsTheLimit, "A page of at most 2 records under [] must have no more, but has 3."),
        (.returnsAPageForLimitZero, "A page of at most 0 records under [\"a\"] must have no more, but has"),
        (.countsExpiredRecordsInPages, "must have one if any are left, but is empty."),
        (.returnsExpiredRecordsInPages, "must have no expired records, and none of other prefixes, but does."),
        (.leavesThePrefixInPages, "under [\"a\"] after [\"a\", \"b\"] must have no expired records, and none"),
        (.ordersPagesByText, "A page of at most \(Int.max) records under [] must be in key order, but is not."),
        (.swapsTheRecordsOfAPage, "must have the records of its keys, but does not."),
        (.pagesNothingWhenCancelled, "A page read by a cancelled task must be complete, but is not."),
        (.readsInKeyOrder, "The records for the same keys in reverse must be in the order of the keys,"),
        (.leavesOutMissingRecords, "The records for some missing keys must be in the order of the keys,"),
        (.readsRepeatedKeysOnce, "The records for repeated keys must be in the order of the keys,"),
        (.readsExpiredRecordsWithOthers, "The records for an expired key must be in the order of the keys,"),
        (.readsNothingWhenCancelled, "Several records read by a cancelled task must be complete, but is not."),
    ]

    @Test(arguments: Thoroughness.sample(findings, every: 19)) func eachFlawIsFound(
        flaw: FlawedRecordStore.Flaw,
        sentence: String
    ) async throws {
        let failure = await #expect(throws: ConformanceFailure.self) { try await check(flaw) }
        let found = failure?.violations ?? []
        #expect(found.contains { $0.contains(sentence) }, "\(found.prefix(8))")
    }

    @Test func limitedStorePasses() async throws {
        try await RecordStoreConformance(isDurable: false, now: now).checkFullness {
            LimitedRecordStore(commitsPartially: false)
        }
    }

    /// The first commit of a round uses up all space, so that the second one is refused.
    @Test func storeThatFillsUpBetweenTwoCommitsPasses() async throws {
        try await RecordStoreConformance(isDurable: false, now: now).checkFullness {
            LimitedRecordStore(commitsPartially: false, free: 2 << 20 | 2)
        }
    }

    @Test func partialCommitOfAFullStoreIsFound() async throws {
        let failure = await #expect(throws: ConformanceFailure.self) {
            try await RecordStoreConformance(isDurable: false, now: now).checkFullness {
                LimitedRecordStore(commitsPartially: true)
            }
        }
        #expect(failure?.violations == ["A commit that fails as full must change nothing, but did."])
    }

    @Test func unlimitedStoreCannotBeCheckedForFullness() async throws {
        let failure = await #expect(throws: ConformanceFailure.self) {
            try await RecordStoreConformance(isDurable: false, now: now).checkFullness {
                InMemoryRecordStore(now: { now })
            }
        }
        #expect(failure?.violations.first?.contains("accepted 64 MiB") == true)
    }

    private func checkLosses(_ flaw: LossyRecordStore.Flaw?) async throws {
        let place = LossyRecordStore.Place(now: now)
        try await RecordStoreConformance(isDurable: true, now: now).checkLosses {
            LossyRecordStore(flaw: flaw, at: place)
        } damage: { key, _ in
            try await LossyRecordStore(flaw: flaw, at: place).damage(key)
        }
    }

    @Test func storeThatRemembersItsLossesPasses() async throws {
        try await checkLosses(nil)
    }

    /// For each flaw in how losses are reported, a part of a violation that must be found.
    private static let lossFindings: [(LossyRecordStore.Flaw, String)] = [
        (.reportsUndamagedRecords, "An undamaged record must not be reported as lost."),
        (.reportsExpiringRecords, "A store, opened after the damage, must report only lost/1 as lost, but reports"),
        (.reportsNothing, "A store, opened after the damage, must report only lost/1 as lost, but reports []."),
        (.reportsLossesOfOtherKeys, "A loss must only be reported under a prefix of its key."),
        (.forgetsReportedLosses, "A store, reopened, must report only lost/1 as lost, but reports []."),
        (.forgetsLossesOnAnyCommit, "After a commit of another key, only lost/1 must be lost, but [] are."),
        (.neverForgetsLosses, "nothing must be lost, but [lost/1] are."),
        (.reportsNothingWhenCancelled, "A list of losses read by a cancelled task must be complete, but is not."),
        (
            .failsDifferentlyWhenCancelled,
            "A list of losses read by a cancelled task must be complete or fail as cancelled, but failed as unavailable."
        ),
    ]

    @Test(arguments: lossFindings) func eachFlawOfLossesIsFound(
        flaw: LossyRecordStore.Flaw,
        sentence: String
    ) async throws {
        let failure = await #expect(throws: ConformanceFailure.self) { try await checkLosses(flaw) }
        let found = failure?.violations ?? []
        #expect(found.contains { $0.contains(sentence) }, "\(found.prefix(8))")
    }

    @Test func everyFlawHasAFinding() {
        #expect(Set(Self.findings.map(\.0)) == Set(FlawedRecordStore.Flaw.allCases))
        #expect(Set(Self.lossFindings.map(\.0)) == Set(LossyRecordStore.Flaw.allCases))
    }
}
