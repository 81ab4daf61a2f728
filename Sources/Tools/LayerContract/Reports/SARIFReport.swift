/// A report in the Static Analysis Results Interchange Format, version 2.1.0 (OASIS).
struct SARIFReport: CustomStringConvertible {
    let description: String

    init(_ report: LayerReport) throws(JSONTextError) {
        let rules = Rule.allCases
        let results = report.findings.map { finding in
            SARIFLog.Result(
                ruleId: finding.rule.rawValue,
                ruleIndex: rules.firstIndex(of: finding.rule) ?? 0,
                level: "error",
                message: SARIFLog.Message(text: "\(finding.edge): \(finding.message) \(finding.remedy)"),
                locations: [Self.location(of: finding)],
                partialFingerprints: ["edge/v1": "\(finding.rule.rawValue) \(finding.location.file) \(finding.edge)"]
            )
        }
        let driver = SARIFLog.Driver(name: "check-layers", rules: rules.map(Self.description))
        let log = SARIFLog(runs: [SARIFLog.Run(tool: SARIFLog.Tool(driver: driver), results: results)])
        description = try log.jsonText()
    }

    private static func location(of finding: Finding) -> SARIFLog.Location {
        SARIFLog.Location(
            physicalLocation: SARIFLog.PhysicalLocation(
                artifactLocation: SARIFLog.ArtifactLocation(
                    uri: uri(ofPath: finding.location.file),
                    uriBaseId: "%SRCROOT%"
                ),
                region: SARIFLog.Region(startLine: finding.location.line)
            )
        )
    }

    private static func description(of rule: Rule) -> SARIFLog.ReportingDescriptor {
        SARIFLog.ReportingDescriptor(
            id: rule.rawValue,
            shortDescription: SARIFLog.Message(text: rule.title),
            fullDescription: SARIFLog.Message(text: rule.reason)
        )
    }

    /// A relative reference (RFC 3986 §4.2): what is not unreserved is percent-encoded, but for the slashes.
    private static func uri(ofPath path: String) -> String {
        path.utf8.map { byte -> String in
            if byte.continuesWord && byte < 128 && byte != 36 || "-./~".utf8.contains(byte) {
                return String(UnicodeScalar(byte))
            }
            let digits = String(byte, radix: 16, uppercase: true)
            return "%" + (digits.count == 1 ? "0" : "") + digits
        }.joined()
    }
}
