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
        description = lines.joined() + "::notice title=check-layers::\(Self.data(report.summary))\n"
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
