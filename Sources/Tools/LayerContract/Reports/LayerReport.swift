/// The result of a check, with statistics.
///
/// ```swift
/// func exitCode(for report: LayerReport) throws -> Int32 {
///     print(try report.formatted(as: .github))
///     return report.findings.isEmpty ? 0 : 1
/// }
/// ```
public struct LayerReport: Hashable, Sendable {
    /// The findings, by file and line.
    public var findings: [Finding]
    /// The notes, which do not fail the check.
    public let notes: [Note]
    /// The number of targets in the package.
    public let targetCount: Int
    /// The number of source files that were read.
    public let fileCount: Int
    /// The number of imports and includes, counted in every branch of conditional compilation.
    public let importCount: Int
    /// The number of edges in the diagram.
    public let edgeCount: Int

    /// Creates a report.
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

/// The output format of a report.
///
/// ```swift
/// func format(in environment: [String: String]) -> ReportFormat {
///     environment["GITHUB_ACTIONS"] == nil ? .text : .github
/// }
/// ```
public enum ReportFormat: String, Sendable, CaseIterable {
    /// Text for people.
    case text
    /// JSON for custom tools: an object with `findings` and counts.
    case json
    /// SARIF 2.1.0 (OASIS), for code scanning.
    case sarif
    /// GitHub workflow annotations, one per line.
    case github
}

extension LayerReport {
    /// Returns the report in a format, with a trailing newline.
    ///
    /// - Throws: A ``JSONTextError`` if encoding fails.
    public func formatted(as format: ReportFormat) throws(JSONTextError) -> String {
        switch format {
        case .text: TextReport(self).description
        case .json: try JSONReport(self).description
        case .sarif: try SARIFReport(self).description
        case .github: GitHubReport(self).description
        }
    }

    /// A sentence with the statistics and the number of findings.
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

/// A report for people, with a paragraph for each finding.
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
                    fix:  \(finding.remedy)


                """
        }
        for note in report.notes { text += "\(note.location): note: \(note.message)\n" }
        description = "\(text)\(report.summary)\n"
    }
}

/// A report as GitHub workflow commands: `::error file=…,line=…,title=…::message`.
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

    /// Returns a message with the characters escaped that would end the command or begin another.
    private static func data(_ text: String) -> String { escaped(text, ["%": "%25", "\r": "%0D", "\n": "%0A"]) }

    /// Returns a property value, with commas and colons escaped as well.
    private static func property(_ text: String) -> String {
        escaped(text, ["%": "%25", "\r": "%0D", "\n": "%0A", ":": "%3A", ",": "%2C"])
    }

    private static func escaped(_ text: String, _ escapes: [Unicode.Scalar: String]) -> String {
        text.unicodeScalars.map { escapes[$0] ?? String($0) }.joined()
    }
}
