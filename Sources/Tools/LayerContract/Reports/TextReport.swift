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
        description = "\(text)\(report.summary)\n"
    }
}
