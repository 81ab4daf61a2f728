/// How a report is written.
public enum ReportFormat: String, Sendable, CaseIterable {
    /// For people.
    case text
    /// For programs of one's own: an object with `findings` and counts.
    case json
    /// For code scanning: SARIF 2.1.0 (OASIS).
    case sarif
    /// Annotations of GitHub's workflows, one a line.
    case github
}

extension LayerReport {
    /// The report in a format, ended by a line break.
    ///
    /// - Throws: a ``JSONTextError`` if it cannot be written in this format.
    public func formatted(as format: ReportFormat) throws(JSONTextError) -> String {
        switch format {
        case .text: TextReport(self).description
        case .json: try JSONReport(self).description
        case .sarif: try SARIFReport(self).description
        case .github: GitHubReport(self).description
        }
    }

    /// How much was looked at, and what was found, in a sentence.
    public var summary: String {
        func count(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }
        let found = findings.isEmpty ? "No findings" : count(findings.count, "finding")
        let seen = [
            count(fileCount, "file"), count(importCount, "import"), count(targetCount, "target"),
            count(edgeCount, "edge"),
        ]
        return "\(found): \(seen.joined(separator: ", "))."
    }
}
