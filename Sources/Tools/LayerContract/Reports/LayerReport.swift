/// What a check of a package found, and how much it looked at.
public struct LayerReport: Hashable, Sendable {
    /// The findings, by file and line.
    public var findings: [Finding]
    /// What readers should know, and what does not fail the check.
    public let notes: [Note]
    /// How many targets the package has.
    public let targetCount: Int
    /// How many source files were read.
    public let fileCount: Int
    /// How many imports and includes they hold, each branch of a conditional compilation counted.
    public let importCount: Int
    /// How many edges the diagram has.
    public let edgeCount: Int

    /// What a check of a package found.
    public init(
        findings: [Finding],
        targetCount: Int,
        fileCount: Int,
        importCount: Int,
        edgeCount: Int,
        notes: [Note] = []
    ) {
        self.findings = findings.sorted()
        self.notes = notes
        self.targetCount = targetCount
        self.fileCount = fileCount
        self.importCount = importCount
        self.edgeCount = edgeCount
    }
}

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

/// A report for people: a paragraph for each finding.
struct TextReport: CustomStringConvertible {
    let description: String

    init(_ report: LayerReport) {
        var text = ""
        for finding in report.findings {
            text += """
                \(finding.location): \(finding.edge) [\(finding.rule.rawValue)]
                    what: \(finding.message)
                    rule: \(finding.rule.title)
                    why:  \(finding.rule.reason)
                    mend: \(finding.remedy)


                """
        }
        for note in report.notes { text += "\(note.location): note: \(note.message)\n" }
        description = "\(text)\(report.summary)\n"
    }
}

/// A report as GitHub's workflows read it: `::error file=…,line=…,title=…::message`.
struct GitHubReport: CustomStringConvertible {
    let description: String

    init(_ report: LayerReport) {
        let lines = report.findings.map { finding in
            let file = Self.property(finding.location.file)
            let title = Self.property("\(finding.rule.rawValue): \(finding.edge)")
            let message = Self.data("\(finding.message) \(finding.rule.reason)\n\(finding.remedy)")
            return "::error file=\(file),line=\(finding.location.line),title=\(title)::\(message)\n"
        }
        let notes = report.notes.map { note in
            "::notice file=\(Self.property(note.location.file)),line=\(note.location.line),title=check-layers::"
                + "\(Self.data(note.message))\n"
        }
        description = (lines + notes).joined() + "::notice title=check-layers::\(Self.data(report.summary))\n"
    }

    /// A message, with what would end it or begin another written otherwise.
    private static func data(_ text: String) -> String { escaped(text, ["%": "%25", "\r": "%0D", "\n": "%0A"]) }

    /// The value of a property, which commas and colons end as well.
    private static func property(_ text: String) -> String {
        escaped(text, ["%": "%25", "\r": "%0D", "\n": "%0A", ":": "%3A", ",": "%2C"])
    }

    private static func escaped(_ text: String, _ escapes: [Unicode.Scalar: String]) -> String {
        text.unicodeScalars.map { escapes[$0] ?? String($0) }.joined()
    }
}
