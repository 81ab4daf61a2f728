import InwardImages
import Testing

@testable import InwardTesting

@Suite(.timeLimit(.minutes(5)))
struct TypesetterConformanceTests {
    private let conformance = TypesetterConformance(missing: FlawedTypesetter.missing)

    @Test func correctTypesetterPasses() async throws {
        try await conformance.check(FlawedTypesetter())
        let texts = ["한국어", "سلام", "e\u{301}", " ", String(repeating: "W", count: TextLine.maximumLength / 2)]
        try await TypesetterConformance(texts: texts, missing: FlawedTypesetter.missing).check(FlawedTypesetter())
    }

    @Test(.serialized, arguments: FlawedTypesetter.allowed)
    func peculiarTypesetterPasses(flaw: FlawedTypesetter.Flaw) async throws {
        try await conformance.check(FlawedTypesetter(flaw))
    }

    /// For each flaw, a part of a violation that must be found.
    private static let findings: [(FlawedTypesetter.Flaw, String)] = [
        (.fails, "“Example” must be typeset, but failed: The text cannot be typeset without fonts."),
        (.drawsNothing, "“Example” must be drawn, but has no segments."),
        (.drawsThreeCharacters, "“Example” must be wider if it is repeated, but is not."),
        (.failsForLongTexts, "“Example” must be typeset if it is repeated, but failed"),
        (.growsWithEachCall, "Sequentially: “Example” must have the same outline each time, but has another."),
        (.failsTheSecondTime, "Sequentially: “Example” must be typeset each time, but failed"),
        (.sharesTheText, "must have the same outline each time, but has another."),
        (.ignoresTags, "“<b>x</b>” must be drawn as it is, but is drawn like “x”."),
        (.makesTagsBold, "“<b>x</b>” must be drawn as it is, but is drawn like “x”."),
        (.decodesEntities, "“&amp;” must be drawn as it is, but is drawn like “&”."),
        (.refusesMarkup, "“<b>x</b>” must be drawn as it is, but failed"),
        (.drawsTheMissing, "“☒” with '☒', which no font has, must fail, but is drawn."),
        (.drawsTheMissingInTheMiddle, "“Exa☒mple” with '☒', which no font has, must fail, but is drawn."),
        (.failsAsUnavailableForTheMissing, "must fail because of missing characters, but failed as unavailable."),
        (.namesNothing, "must fail with an error that names it, but the error does not."),
        (.namesEverything, "must fail with an error that names only it"),
        (.stopsWhenCancelled, "“Example” must not be typeset only in part after its task is cancelled, but is."),
        (.stopsLaterWhenCancelled, "“Example” must not be typeset only in part when its task is cancelled at"),
        (.stopsAfterTheDeadline, "“Example” must not be typeset only in part after its deadline has passed, but is."),
        (.failsAsUnavailableWhenCancelled, "after its task is cancelled, but failed as unavailable."),
        (.failsAsCancelledAfterTheDeadline, "after its deadline has passed, but failed as cancelled."),
    ]

    // Serialized, so that the concurrent calls of each check get enough threads.
    @Test(.serialized, arguments: findings)
    func eachFlawIsFound(flaw: FlawedTypesetter.Flaw, sentence: String) async throws {
        let failure = await #expect(throws: ConformanceFailure.self) {
            try await conformance.check(FlawedTypesetter(flaw))
        }
        let found = failure?.violations ?? []
        #expect(found.contains { $0.contains(sentence) }, "\(found)")
        #expect(found.allSatisfy { $0.hasSuffix(".") }, "\(found)")
        let isConcurrent = found.allSatisfy { $0.hasPrefix("Concurrently: ") }
        #expect(isConcurrent == (flaw == .sharesTheText), "\(found)")
    }

    @Test func everyFlawHasAFinding() {
        #expect(Set(Self.findings.map(\.0)).union(FlawedTypesetter.allowed) == Set(FlawedTypesetter.Flaw.allCases))
    }

    @Test func oneTextIsEnoughToFindCallsThatShareIt() async {
        let failure = await #expect(throws: ConformanceFailure.self) {
            try await TypesetterConformance(texts: ["Example"], missing: nil).check(FlawedTypesetter(.sharesTheText))
        }
        #expect(failure?.violations.allSatisfy { $0.hasPrefix("Concurrently: ") } == true)
    }

    @Test func missingCharactersAreOptional() async throws {
        try await TypesetterConformance(missing: nil).check(FlawedTypesetter(.drawsTheMissing))
    }

    @Test func emptyCheckFails() async throws {
        let failure = await #expect(throws: ConformanceFailure.self) {
            try await TypesetterConformance(texts: [], missing: nil).check(FlawedTypesetter())
        }
        #expect(failure?.violations == ["There is nothing to check. Pass at least one text."])
    }

    @Test func textThatIsNotALineIsReported() async throws {
        let failure = await #expect(throws: ConformanceFailure.self) {
            try await TypesetterConformance(texts: [""], missing: nil).check(FlawedTypesetter())
        }
        #expect(failure?.violations.count == 1)
        #expect(failure?.description.hasPrefix("“” must be typeset, but failed: The text must have 1 to") == true)
    }
}
