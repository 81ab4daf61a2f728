/// A report for programs.
struct JSONReport: CustomStringConvertible {
    private struct Body: Encodable {
        let findings: [Entry]
        let files: Int
        let imports: Int
        let targets: Int
        let edges: Int
    }

    private struct Entry: Encodable {
        let rule: String
        let file: String
        let line: Int
        let edge: String
        let message: String
        let title: String
        let reason: String
        let remedy: String
    }

    let description: String

    init(_ report: LayerReport) throws(JSONTextError) {
        let entries = report.findings.map { finding in
            Entry(
                rule: finding.rule.rawValue,
                file: finding.location.file,
                line: finding.location.line,
                edge: finding.edge,
                message: finding.message,
                title: finding.rule.title,
                reason: finding.rule.reason,
                remedy: finding.remedy
            )
        }
        let body = Body(
            findings: entries,
            files: report.fileCount,
            imports: report.importCount,
            targets: report.targetCount,
            edges: report.edgeCount
        )
        description = try body.jsonText()
    }
}
