import Foundation
import LayerContract
import Testing

struct BaselineTests {
    private func finding(_ edge: String, line: Int = 1) -> Finding {
        Finding(
            rule: .importsFollowEdges,
            location: SourceLocation(file: "A.swift", line: line),
            edge: edge,
            message: "m",
            remedy: "r"
        )
    }

    private func report(_ findings: [Finding]) -> LayerReport {
        LayerReport(findings: findings, targetCount: 1, fileCount: 1, importCount: 1, edgeCount: 1)
    }

    @Test func recordedFindingPassesAnywhereInItsFile() {
        let baseline = Baseline(recording: [finding("A → B", line: 3)])
        #expect(baseline.applied(to: report([finding("A → B", line: 9)]), file: "b").findings == [])
    }

    @Test func cycleIsRecordedWithoutItsFile() {
        func cycle(_ file: String) -> Finding {
            Finding(
                rule: .noCycleOfSubjects,
                location: SourceLocation(file: file, line: 1),
                edge: "Core/A → Core/B",
                message: "m",
                remedy: "r"
            )
        }
        let baseline = Baseline(recording: [cycle("Sources/Core/A/M.swift")])
        #expect(baseline.applied(to: report([cycle("Sources/Core/A/C.swift")]), file: "b").findings == [])
        let message = baseline.applied(to: report([]), file: "b").findings.map(\.message)
        #expect(message == ["The baseline records 1 more finding of no-cycle-of-subjects than there are."])
    }

    @Test func newFindingFails() {
        let baseline = Baseline(recording: [finding("A → B")])
        let applied = baseline.applied(to: report([finding("A → B"), finding("A → C")]), file: "b")
        #expect(applied.findings == [finding("A → C")])
    }

    @Test func additionalOccurrenceFails() {
        let baseline = Baseline(recording: [finding("A → B", line: 1)])
        let applied = baseline.applied(to: report([finding("A → B", line: 1), finding("A → B", line: 2)]), file: "b")
        #expect(applied.findings == [finding("A → B", line: 2)])
    }

    @Test func fixedFindingMustBeRemoved() {
        let baseline = Baseline(recording: [finding("A → B"), finding("A → B"), finding("A → C")])
        #expect(
            baseline.applied(to: report([finding("A → C")]), file: "layers.json").findings == [
                Finding(
                    rule: .baselineIsCurrent,
                    location: SourceLocation(file: "layers.json", line: 1),
                    edge: "A → B",
                    message: "The baseline records 2 more findings of imports-follow-edges in A.swift than there are.",
                    remedy: "Record the baseline again, so that fixed findings stay fixed."
                )
            ]
        )
    }

    @Test func writtenBaselineCanBeRead() throws {
        let baseline = Baseline(recording: [finding("A → B"), finding("A → B"), finding("B → “C”")])
        #expect(try Baseline(reading: Data(baseline.jsonText().utf8)) == baseline)
    }

    @Test(arguments: [
        "", "[]", "{\"version\": 2, \"findings\": []}", "{\"version\": 1}",
        "{\"version\": 1, \"findings\": [{\"file\": \"f\", \"rule\": \"r\", \"edge\": \"e\", \"count\": 0}]}",
        "{\"version\": 1, \"findings\": [{\"file\": \"f\", \"rule\": \"r\", \"edge\": \"e\", \"count\": 9223372036854775807}, "
            + "{\"file\": \"f\", \"rule\": \"r\", \"edge\": \"e\", \"count\": 1}]}",
    ])
    func invalidBaselineIsAnError(text: String) {
        #expect(throws: BaselineError.self) { try Baseline(reading: Data(text.utf8)) }
    }
}
