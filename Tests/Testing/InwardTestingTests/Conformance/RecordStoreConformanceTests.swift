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

    @Test func aStoreThatDoesAllItMustPasses() async throws {
        try await check(nil)
    }

    @Test func theStoreInMemoryPasses() async throws {
        try await RecordStoreConformance(isDurable: false, now: now).check { InMemoryRecordStore(now: { now }) }
    }

    @Test func theStoreInMemoryIsFoundNotToBeDurable() async throws {
        await #expect(throws: ConformanceFailure.self) {
            try await RecordStoreConformance(isDurable: true, now: now).check { InMemoryRecordStore(now: { now }) }
        }
    }

    @Test func aStoreThatFailsIsToldTo() async throws {
        let store = RecordingRecordStore(failure: RecordStoreError(.full, explanation: "There is no room."))
        let failure = await #expect(throws: ConformanceFailure.self) {
            try await RecordStoreConformance(isDurable: false, now: now).check { store }
        }
        #expect(failure?.violations.first == "The store must not fail, and did: There is no room.")
    }

    /// Something of what is to be found for each thing that a store can do wrong.
    private static let findings: [(FlawedRecordStore.Flaw, String)] = [
        (.losesWhatIsEmpty, "What is kept, 0 bytes, must be 0 bytes (…), and is nothing."),
        (.endsAtZero, "What is kept, 256 bytes, must be 256 bytes (0 1 2 3…), and is 0 bytes (…)."),
        (.cutsWhatIsLarge, "What is kept, 1048576 bytes, must be"),
        (.keepsTheFirst, "What is kept, 256 bytes, must be 256 bytes (0 1 2 3…), and is 0 bytes (…)."),
        (.comparesTexts, "What is kept under [\"\u{E9}\"] must be"),
        (.joinsComponents, "What is kept under [\"a\", \"b\"] must be"),
        (.ignoresCase, "What is kept under [\"a\"] must be"),
        (.forgetsTheEmptyKey, "What is kept under [] must be"),
        (.removesNothing, "What was kept under [\"a\"] behind remove(a) must be nothing"),
        (.removesWhatIsBelow, "What was kept under [\"a\", \"1\"] behind remove(a) must be"),
        (.removesByText, "What was kept under [\"ab\"] behind removeAll(a) must be"),
        (.leavesTheKeyItself, "What was kept under [\"a\"] behind removeAll(a) must be nothing"),
        (.listsInAnyOrder, "The keys under [] must be listed in order, and are not."),
        (.listsByText, "The keys under [] must be listed in order, and are not."),
        (.changesBackwards, "must be 1 bytes (2…), and is 1 bytes (1…)."),
        (.keepsWhatHasExpired, "What expires in -0.5 seconds must be nothing"),
        (.keepsWhatExpiresNow, "What expires in 0.0 seconds must be nothing"),
        (.forgetsTheExpiry, "What expires in 3600.0 seconds must be"),
        (.changesOneByOne, "Two records that are always changed together must be the same, and are not."),
        (.losesWhatComesAtOnce, "Of 128 records that are kept at the same time"),
        (.changesWhenCancelled, "A commit that fails as cancelled must change nothing, and did."),
        (.failsOtherwiseWhenCancelled, "A commit of a cancelled task must fail as cancelled, and did as unavailable."),
        (.forgetsCancelledChanges, "A commit of a cancelled task must be made where it does not fail, and is not."),
        (.keepsNothingForTheNext, "What was kept, opened again, must be"),
        (.keepsWholeSecondsForTheNext, "What expires in two hours, opened again, must be"),
        (.neverLooksAgain, "What another store at the same place keeps must be"),
        (.failsOnNothing, "The store must not fail, and did"),
        (.claimsNothing, "A key that nobody has claimed must be claimed, and is not."),
        (.claimsTwice, "A key that somebody has claimed must not be claimed again, and is."),
        (.claimsMoreThanTheKey, "A claim must be of its key alone, and is of another."),
        (.hidesTheOwner, "Whoever finds a key claimed must be told the owner, and is not."),
        (.neverReleases, "A claim that was released must be over, and is not."),
        (.releasesOnlyWhenTold, "A claim that was dropped must be over, and is not."),
        (.claimsForItselfAlone, "What one store has claimed must not be claimed in another at the same place, and is."),
        (.findsNothingWhenCancelled, "A record that a cancelled task reads must be whole, and is not."),
        (.listsNothingWhenCancelled, "A list that a cancelled task reads must be whole, and is not."),
        (.saysCancelledThoughMade, "A commit that fails as cancelled must change nothing, and did."),
        (.makesHalfWhenCancelled, "A commit of a cancelled task must be made whole, and is not."),
        (.overwritesTheOther, "records that two stores at one place keep at the same time"),
        (.purgesReplacements, "What takes the place of an expired record that is being read must be"),
        (.keepsTheExpiryOfEqualBytes, "What is kept with another expiry must be"),
        (.makesAHundredChanges, "The keys under [\"many\"] must be listed all and alone, and are not."),
        (.listsAThousandAtMost, "The keys under [\"many\"] must be listed all and alone, and are not."),
        (.cutsAtAMebibyte, "What is kept, 1048576 bytes, must be"),
        (.cutsLongComponents, "What is kept under [\"xxxxxxxxxxxxxxxx\"] must be"),
        (.readsBetweenChanges, "Two records that are always changed together must be the same, and are not."),
        (.readsSlowlyBetweenChanges, "Two records that are always changed together must be the same, and are not."),
        (.endsTheNextClaim, "The end of a claim must not end the next claim of its key, and does."),
        (.claimsAfterItHasLookedForOthers, "A key must have one owner at a time, and has two."),
        (.claimsAfterItHasLooked, "A key must have one owner at a time, and has two."),
        (.missesWhatTheOtherRemoves, "What another store at the same place removes must be nothing"),
        (
            .missesWhatTheOtherRemovesWithAllOthers,
            "What another store at the same place removes with all others must be nothing"
        ),
        (.readsTheOthersOneByOne, "Two records that are always changed together must be the same, and are not."),
        (.saysCancelledThoughMadeLate, "A commit that fails as cancelled must change nothing, and did."),
        (.makesHalfWhenCancelledLate, "A commit of a cancelled task must be made whole, and is not."),
        (.rollsBackWhenCancelled, "What is kept while another commit is cancelled must be there, and is not."),
    ]

    @Test(arguments: Thoroughness.sample(findings, every: 11)) func eachFlawIsFound(
        flaw: FlawedRecordStore.Flaw,
        sentence: String
    ) async throws {
        let failure = await #expect(throws: ConformanceFailure.self) { try await check(flaw) }
        let found = failure?.violations ?? []
        #expect(found.contains { $0.contains(sentence) }, "\(found.prefix(8))")
    }

    @Test func aStoreThatIsFullChangesNothing() async throws {
        try await RecordStoreConformance(isDurable: false, now: now).checkFullness {
            LimitedRecordStore(makesHalf: false)
        }
    }

    /// The first commit of a round takes all the room that there is, so that the second is refused.
    @Test func aStoreThatIsFullBetweenTwoCommitsChangesNothing() async throws {
        try await RecordStoreConformance(isDurable: false, now: now).checkFullness {
            LimitedRecordStore(makesHalf: false, free: 2 << 20 | 2)
        }
    }

    @Test func halfACommitThatFailsAsFullIsFound() async throws {
        let failure = await #expect(throws: ConformanceFailure.self) {
            try await RecordStoreConformance(isDurable: false, now: now).checkFullness {
                LimitedRecordStore(makesHalf: true)
            }
        }
        #expect(failure?.violations == ["A commit that fails as full must change nothing, and did."])
    }

    @Test func aStoreThatIsNeverFullCannotBeChecked() async throws {
        let failure = await #expect(throws: ConformanceFailure.self) {
            try await RecordStoreConformance(isDurable: false, now: now).checkFullness {
                InMemoryRecordStore(now: { now })
            }
        }
        #expect(failure?.violations.first?.contains("must have no room for 64 MiB") == true)
    }

    private func checkLosses(_ flaw: LossyRecordStore.Flaw?) async throws {
        let place = LossyRecordStore.Place(now: now)
        try await RecordStoreConformance(isDurable: true, now: now).checkLosses {
            LossyRecordStore(flaw: flaw, at: place)
        } damage: { key, _ in
            try await LossyRecordStore(flaw: flaw, at: place).damage(key)
        }
    }

    @Test func aStoreThatRemembersItsLossesPasses() async throws {
        try await checkLosses(nil)
    }

    /// Something of what is to be found for each thing that a store can do wrong with its losses.
    private static let lossFindings: [(LossyRecordStore.Flaw, String)] = [
        (.namesWhatIsKept, "What is not damaged must not be a loss."),
        (.namesWhatExpires, "A store, opened behind damage, must name the key lost/1 alone as lost, and names"),
        (.namesNothing, "A store, opened behind damage, must name the key lost/1 alone as lost, and names []."),
        (.namesLossesOfOtherKeys, "Losses must be named under their own keys alone."),
        (.forgetsWhatItHasNamed, "A store, opened again, must name the key lost/1 alone as lost, and names []."),
        (.forgetsWithAnyCommit, "After a commit of another key lost/1 alone must be lost, and [] are."),
        (.neverForgets, "nothing must be lost, and [lost/1] are."),
        (.namesNothingWhenCancelled, "A list of losses that a cancelled task reads must be whole, and is not."),
        (
            .failsOtherwiseWhenCancelled,
            "A list of losses that a cancelled task reads must fail as cancelled, and did as unavailable."
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

    @Test func thereIsAFindingForEachFlaw() {
        #expect(Set(Self.findings.map(\.0)) == Set(FlawedRecordStore.Flaw.allCases))
        #expect(Set(Self.lossFindings.map(\.0)) == Set(LossyRecordStore.Flaw.allCases))
    }
}
