import Foundation
import LayerContract
import Testing

struct ReportFormatTests {
    private let report = LayerReport(
        findings: [
            Finding(
                rule: .importsFollowEdges,
                location: SourceLocation(file: "Sources/Core/A b,c:d%.swift", line: 7),
                edge: "Core → App",
                message: "It is “outward”, 100%.",
                remedy: "Remove it,\nor: draw it."
            )
        ],
        targetCount: 4,
        fileCount: 3,
        importCount: 2,
        edgeCount: 1
    )
    private let clean = LayerReport(findings: [], targetCount: 4, fileCount: 3, importCount: 2, edgeCount: 1)

    private let noted = LayerReport(
        findings: [],
        targetCount: 4,
        fileCount: 3,
        importCount: 2,
        edgeCount: 1,
        notes: [Note(location: SourceLocation(file: "A.md", line: 5), message: "It is 100% ignored.")]
    )

    @Test func notesAreReportedAndDoNotFail() throws {
        #expect(
            try noted.formatted(as: .text)
                == "A.md:5: note: It is 100% ignored.\nNo findings: 3 files, 2 imports, 4 targets, 1 edge.\n"
        )
        #expect(
            try noted.formatted(as: .github)
                == "::notice file=A.md,line=5,title=check-layers::It is 100%25 ignored.\n"
                + "::notice title=check-layers::No findings: 3 files, 2 imports, 4 targets, 1 edge.\n"
        )
        let notes = try #require(try object(noted.formatted(as: .json))["notes"] as? [[String: Any]])
        #expect(notes.first?["file"] as? String == "A.md")
        #expect(notes.first?["line"] as? Int == 5)
        #expect(notes.first?["message"] as? String == "It is 100% ignored.")
        let run = try #require((try object(noted.formatted(as: .sarif))["runs"] as? [[String: Any]])?.first)
        #expect((run["results"] as? [Any])?.isEmpty == true)
        let invocation = try #require((run["invocations"] as? [[String: Any]])?.first)
        #expect(invocation["executionSuccessful"] as? Bool == true)
        let notification = try #require((invocation["toolExecutionNotifications"] as? [[String: Any]])?.first)
        #expect(notification["level"] as? String == "note")
        #expect((notification["message"] as? [String: Any])?["text"] as? String == "It is 100% ignored.")
    }

    private func object(_ text: String) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    }

    @Test func textReportIsReadable() throws {
        #expect(
            try report.formatted(as: .text) == """
                Sources/Core/A b,c:d%.swift:7: Core → App [imports-follow-edges]
                    what: It is “outward”, 100%.
                    rule: \(Rule.importsFollowEdges.title)
                    why:  \(Rule.importsFollowEdges.reason)
                    fix:  Remove it,
                or: draw it.

                1 finding: 3 files, 2 imports, 4 targets, 1 edge.

                """
        )
        #expect(try clean.formatted(as: .text) == "No findings: 3 files, 2 imports, 4 targets, 1 edge.\n")
    }

    @Test func jsonContainsAllPartsOfAFinding() throws {
        let object = try object(report.formatted(as: .json))
        let findings = try #require(object["findings"] as? [[String: Any]])
        let finding = try #require(findings.first)
        #expect(finding["rule"] as? String == "imports-follow-edges")
        #expect(finding["file"] as? String == "Sources/Core/A b,c:d%.swift")
        #expect(finding["line"] as? Int == 7)
        #expect(finding["edge"] as? String == "Core → App")
        #expect(finding["message"] as? String == "It is “outward”, 100%.")
        #expect(finding["title"] as? String == Rule.importsFollowEdges.title)
        #expect(finding["reason"] as? String == Rule.importsFollowEdges.reason)
        #expect(finding["remedy"] as? String == "Remove it,\nor: draw it.")
        #expect(object["files"] as? Int == 3)
        #expect(object["imports"] as? Int == 2)
        #expect(object["targets"] as? Int == 4)
        #expect(object["edges"] as? Int == 1)
    }

    @Test func sarifHasVersionTwoOneZero() throws {
        let log = try object(report.formatted(as: .sarif))
        #expect(log["version"] as? String == "2.1.0")
        #expect(log["$schema"] as? String == "https://json.schemastore.org/sarif-2.1.0.json")
        let run = try #require((log["runs"] as? [[String: Any]])?.first)
        let driver = try #require((run["tool"] as? [String: Any])?["driver"] as? [String: Any])
        let rules = try #require(driver["rules"] as? [[String: Any]])
        #expect(rules.compactMap { $0["id"] as? String } == Rule.allCases.map(\.rawValue))
        let result = try #require((run["results"] as? [[String: Any]])?.first)
        #expect(result["ruleId"] as? String == "imports-follow-edges")
        let index = try #require(result["ruleIndex"] as? Int)
        #expect(rules[index]["id"] as? String == "imports-follow-edges")
        #expect(result["level"] as? String == "error")
        let location = try #require(
            (result["locations"] as? [[String: Any]])?.first?["physicalLocation"] as? [String: Any]
        )
        let artifact = try #require(location["artifactLocation"] as? [String: Any])
        #expect(artifact["uri"] as? String == "Sources/Core/A%20b%2Cc%3Ad%25.swift")
        #expect((location["region"] as? [String: Any])?["startLine"] as? Int == 7)
    }

    @Test func githubReportEscapesFindings() throws {
        let lines = try report.formatted(as: .github).split(separator: "\n")
        #expect(lines.count == 2)
        #expect(
            lines.first?.hasPrefix(
                "::error file=Sources/Core/A b%2Cc%3Ad%25.swift,line=7,title=imports-follow-edges%3A Core → App::It is "
                    + "“outward”, 100%25."
            ) == true
        )
        #expect(lines.first?.hasSuffix("%0ARemove it,%0Aor: draw it.") == true)
    }

    @Test func findingsAreSortedByFileAndLine() {
        func finding(_ file: String, _ line: Int) -> Finding {
            Finding(
                rule: .diagramIsUsed,
                location: SourceLocation(file: file, line: line),
                edge: "e",
                message: "m",
                remedy: "r"
            )
        }
        let report = LayerReport(
            findings: [finding("B", 1), finding("A", 10), finding("A", 9)],
            targetCount: 0,
            fileCount: 0,
            importCount: 0,
            edgeCount: 0
        )
        #expect(report.findings == [finding("A", 9), finding("A", 10), finding("B", 1)])
    }

    @Test func everyRuleHasItsOwnTitleAndReason() {
        #expect(Rule.allCases.allSatisfy { !$0.title.isEmpty && !$0.reason.isEmpty })
        #expect(Set(Rule.allCases.map(\.title)).count == Rule.allCases.count)
        #expect(Set(Rule.allCases.map(\.reason)).count == Rule.allCases.count)
    }
}
