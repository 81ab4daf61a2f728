import InwardTesting
import Testing

@Suite(.timeLimit(.minutes(5)))
struct UnitOfWorkConformanceTests {
    private func check(_ flaw: FlawedUnitOfWork.Flaw?) async throws {
        let places = FlawedUnitOfWork.Places()
        try await UnitOfWorkConformance(isDurable: true).check { FlawedUnitOfWork(flaw, at: $0, of: places).stage }
    }

    private func checkCrashes(_ flaw: FlawedUnitOfWork.Flaw?) async throws {
        let places = FlawedUnitOfWork.Places()
        try await UnitOfWorkConformance(isDurable: true).checkCrashes { place, step in
            FlawedUnitOfWork(flaw, at: place, of: places, endingIn: step).stage
        }
    }

    @Test func aUnitOfWorkThatDoesAllItMustPasses() async throws {
        try await check(nil)
        try await checkCrashes(nil)
    }

    /// Something of what is to be found for each thing that a unit of work can do wrong.
    private static let findings: [(FlawedUnitOfWork.Flaw, String)] = [
        (.changesWhenPrepared, "What is prepared must change nothing, and does."),
        (.commitsAllPrepared, "Only what is committed must be changed, and is not."),
        (.commitsOnce, "What is committed twice must be changed twice, and is not."),
        (.forgetsTheSecond, "What is committed in two repositories must be seen in both, and is not."),
        (.removesNothing, "What is removed and changed at once must be, and is not."),
        (.changesBackwards, "The last change of a name must be seen"),
        (.losesEveryThird, "What is committed must be seen in both repositories when the call returns, and is not."),
        (.forgetsEveryThird, "Of 64 commits that are made at the same time"),
        (.changesWhenCancelled, "A commit that fails as cancelled must change nothing, and did."),
        (.failsOtherwiseWhenCancelled, "A commit of a cancelled task must fail as cancelled, and did as unavailable."),
        (.forgetsCancelledChanges, "A commit of a cancelled task must be made where it does not fail, and is not."),
        (.acceptsForeign, "A change that was prepared elsewhere must be refused, and is not."),
        (.changesBeforeItRefuses, "Where a change is refused nothing must be changed, and something is."),
        (.refusesAsDenied, "A change that was prepared elsewhere must be refused as foreign, and is as denied."),
        (.spendsChanges, "A change whose commit failed must be made by the next, and is not."),
        (.isNotDurable, "What was committed must be there, opened again, and there is"),
        (.makesEachOnce, "What is twice in one commit must be made twice, and there is"),
        (.looksAtTheLast, "A change that was prepared elsewhere must be refused, and is not."),
        (.looksAtTheFirst, "A change that was prepared elsewhere must be refused, and is not."),
        (.looksAtTheEnds, "A change that was prepared elsewhere must be refused, and is not."),
        (.dropsTheUnknown, "A change that was prepared elsewhere must be refused, and is not."),
        (.saysCancelledThoughMade, "A commit that fails as cancelled must change nothing, and did."),
        (.makesHalfWhenCancelled, "A commit of a cancelled task must be made whole or not at all, and half of it is."),
        (.saysCancelledThoughMadeLate, "A commit that fails as cancelled must change nothing, and did."),
        (
            .makesHalfWhenCancelledLate,
            "A commit of a cancelled task must be made whole or not at all, and half of it is."
        ),
        (.rollsBackWhenCancelled, "What is committed while another commit is cancelled must be seen, and is not."),
        (.makesAHundredChanges, "All of 1200 changes that are committed at once must be made, and 100 are."),
        (.failsOnNothing, "The unit of work must be opened and must not fail, and did"),
    ]

    @Test(arguments: findings) func eachFlawIsFound(flaw: FlawedUnitOfWork.Flaw, sentence: String) async throws {
        let failure = await #expect(throws: ConformanceFailure.self) { try await check(flaw) }
        let found = failure?.violations ?? []
        #expect(found.contains { $0.contains(sentence) }, "\(found)")
    }

    @Test(arguments: [
        (FlawedUnitOfWork.Flaw.isTornByCrashes, "all of the next must be there or nothing, and there is"),
        (.losesWhatItSaidWasDone, "all of the next must be there or nothing, and there is"),
        (.neverEnds, "A process must end in its first step, and did not."),
    ])
    func eachFlawIsFoundBehindACrash(flaw: FlawedUnitOfWork.Flaw, sentence: String) async throws {
        let failure = await #expect(throws: ConformanceFailure.self) { try await checkCrashes(flaw) }
        let found = failure?.violations ?? []
        #expect(found.contains { $0.contains(sentence) }, "\(found)")
    }

    @Test func thereIsAFindingForEachFlaw() {
        let behindCrashes: Set<FlawedUnitOfWork.Flaw> = [.isTornByCrashes, .losesWhatItSaidWasDone, .neverEnds]
        #expect(Set(Self.findings.map(\.0)).union(behindCrashes) == Set(FlawedUnitOfWork.Flaw.allCases))
    }
}
