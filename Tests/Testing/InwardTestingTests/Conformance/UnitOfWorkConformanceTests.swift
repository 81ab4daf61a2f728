import InwardTesting
import Testing
import Thoroughness

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

    @Test func correctUnitOfWorkPasses() async throws {
        try await check(nil)
        try await checkCrashes(nil)
    }

    /// For each flaw, a part of a violation that must be found.
    private static let findings: [(FlawedUnitOfWork.Flaw, String)] = [
        (.changesWhenPrepared, "A prepared change must have no effect, but has one."),
        (.commitsAllPrepared, "A commit must make only its own changes, but does not."),
        (.commitsOnce, "A change that is committed twice must be applied twice, but is not."),
        (.forgetsTheSecond, "A commit to two repositories must be visible in both, but is not."),
        (.removesNothing, "A removal and a change in one commit must both be made, but are not."),
        (.appliesChangesInReverse, "The last change of a name must win"),
        (.losesEveryThird, "A commit must be visible in both repositories when the call returns, but is not."),
        (.forgetsEveryThird, "Of 64 concurrent commits"),
        (.commitsWhenCancelled, "A commit that fails as cancelled must change nothing, but did."),
        (.failsDifferentlyWhenCancelled, "A cancelled commit must fail as cancelled, but failed as unavailable."),
        (.dropsCancelledCommits, "A cancelled commit that succeeds must take effect, but does not."),
        (.acceptsForeign, "A change prepared by another unit of work must be refused, but is not."),
        (.changesBeforeItRefuses, "A refused commit must change nothing, but does."),
        (
            .refusesAsDenied,
            "A change prepared by another unit of work must be refused as foreign, but is refused as denied."
        ),
        (.consumesRefusedChanges, "A change whose commit failed must be made by the next commit, but is not."),
        (.isNotDurable, "Committed changes must be found when the place is reopened, but the numbers are"),
        (
            .makesRepeatedChangesOnce,
            "A change that occurs twice in one commit must be applied twice, but the numbers are"
        ),
        (.checksOnlyTheLastChange, "A change prepared by another unit of work must be refused, but is not."),
        (.checksOnlyTheFirstChange, "A change prepared by another unit of work must be refused, but is not."),
        (.checksOnlyTheFirstAndLastChange, "A change prepared by another unit of work must be refused, but is not."),
        (.dropsTheUnknown, "A change prepared by another unit of work must be refused, but is not."),
        (.reportsCancellationAfterCommit, "A commit that fails as cancelled must change nothing, but did."),
        (
            .commitsPartiallyWhenCancelled,
            "A cancelled commit must take effect completely or not at all, but took effect in part."
        ),
        (.reportsCancellationAfterSlowCommit, "A commit that fails as cancelled must change nothing, but did."),
        (
            .commitsPartiallyWhenCancelledLate,
            "A cancelled commit must take effect completely or not at all, but took effect in part."
        ),
        (.rollsBackWhenCancelled, "A commit made while another one is cancelled must be visible, but is not."),
        (.appliesOnlyAHundredChanges, "All 1200 changes of one commit must be made, but 100 are."),
        (.failsOnEmptyCommit, "Opening and using the unit of work must not fail, but did"),
    ]

    @Test(arguments: Thoroughness.sample(findings, every: 5)) func eachFlawIsFound(
        flaw: FlawedUnitOfWork.Flaw,
        sentence: String
    ) async throws {
        let failure = await #expect(throws: ConformanceFailure.self) { try await check(flaw) }
        let found = failure?.violations ?? []
        #expect(found.contains { $0.contains(sentence) }, "\(found)")
    }

    @Test(arguments: [
        (
            FlawedUnitOfWork.Flaw.isPartialAfterCrashes,
            "the next commit must be found completely or not at all, but the numbers are"
        ),
        (.losesReportedCommits, "the next commit must be found completely or not at all, but the numbers are"),
        (.neverCrashes, "A crash in step 0 must make a commit fail, but every commit succeeded."),
    ])
    func eachFlawIsFoundAfterACrash(flaw: FlawedUnitOfWork.Flaw, sentence: String) async throws {
        let failure = await #expect(throws: ConformanceFailure.self) { try await checkCrashes(flaw) }
        let found = failure?.violations ?? []
        #expect(found.contains { $0.contains(sentence) }, "\(found)")
    }

    @Test func everyFlawHasAFinding() {
        let behindCrashes: Set<FlawedUnitOfWork.Flaw> = [.isPartialAfterCrashes, .losesReportedCommits, .neverCrashes]
        #expect(Set(Self.findings.map(\.0)).union(behindCrashes) == Set(FlawedUnitOfWork.Flaw.allCases))
    }
}
