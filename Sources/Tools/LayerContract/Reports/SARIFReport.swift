/// A report in the Static Analysis Results Interchange Format (SARIF), version 2.1.0 (OASIS).
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
                locations: [Self.location(finding.location)],
                partialFingerprints: ["edge/v1": "\(finding.rule.rawValue) \(finding.location.file) \(finding.edge)"]
            )
        }
        let driver = SARIFLog.Driver(name: "check-layers", rules: rules.map(Self.description))
        // Notes become notifications about the run instead of results, so that they are not shown as alerts.
        let notifications = report.notes.map { note in
            SARIFLog.Notification(
                level: "note",
                message: SARIFLog.Message(text: note.message),
                locations: [Self.location(note.location)]
            )
        }
        let invocation = SARIFLog.Invocation(executionSuccessful: true, toolExecutionNotifications: notifications)
        let run = SARIFLog.Run(tool: SARIFLog.Tool(driver: driver), invocations: [invocation], results: results)
        let log = SARIFLog(runs: [run])
        description = try log.jsonText()
    }

    private static func location(_ location: SourceLocation) -> SARIFLog.Location {
        SARIFLog.Location(
            physicalLocation: SARIFLog.PhysicalLocation(
                artifactLocation: SARIFLog.ArtifactLocation(
                    uri: uri(ofPath: location.file),
                    uriBaseId: "%SRCROOT%"
                ),
                region: SARIFLog.Region(startLine: location.line)
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

    /// Returns a relative reference (RFC 3986 §4.2). All characters are percent-encoded, except unreserved ones and slashes.
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

/// The parts of a SARIF log that a report needs. The names are those of the format.
struct SARIFLog: Encodable {
    struct Message: Encodable {
        let text: String
    }

    struct ReportingDescriptor: Encodable {
        let id: String
        let shortDescription: Message
        let fullDescription: Message
    }

    struct Driver: Encodable {
        let name: String
        let rules: [ReportingDescriptor]
    }

    struct Tool: Encodable {
        let driver: Driver
    }

    struct Region: Encodable {
        let startLine: Int
    }

    struct ArtifactLocation: Encodable {
        let uri: String
        let uriBaseId: String
    }

    struct PhysicalLocation: Encodable {
        let artifactLocation: ArtifactLocation
        let region: Region
    }

    struct Location: Encodable {
        let physicalLocation: PhysicalLocation
    }

    struct Result: Encodable {
        let ruleId: String
        let ruleIndex: Int
        let level: String
        let message: Message
        let locations: [Location]
        let partialFingerprints: [String: String]
    }

    struct Notification: Encodable {
        let level: String
        let message: Message
        let locations: [Location]
    }

    struct Invocation: Encodable {
        let executionSuccessful: Bool
        let toolExecutionNotifications: [Notification]
    }

    struct Run: Encodable {
        let tool: Tool
        let invocations: [Invocation]
        let results: [Result]
    }

    private enum CodingKeys: String, CodingKey {
        case schema = "$schema"
        case version, runs
    }

    private let schema = "https://json.schemastore.org/sarif-2.1.0.json"
    private let version = "2.1.0"
    private let runs: [Run]

    init(runs: [Run]) {
        self.runs = runs
    }
}
