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
    public func formatted(as format: ReportFormat) -> String {
        switch format {
        case .text: TextReport(self).description
        case .json: JSONReport(self).description
        case .sarif: SARIFReport(self).description
        case .github: GitHubReport(self).description
        }
    }

    /// How much was looked at, and what was found, in a sentence.
    public var summary: String {
        let found = findings.isEmpty ? "No findings" : findings.count == 1 ? "1 finding" : "\(findings.count) findings"
        return "\(found): \(fileCount) files, \(importCount) imports, \(targetCount) targets, \(edgeCount) edges."
    }
}
