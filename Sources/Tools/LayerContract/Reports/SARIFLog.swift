/// The parts of a SARIF log that a report needs, by the names that the format gives them.
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

    struct Run: Encodable {
        let tool: Tool
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
