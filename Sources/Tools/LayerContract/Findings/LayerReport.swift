/// What a check of a package found, and how much it looked at.
public struct LayerReport: Hashable, Sendable {
    /// The findings, by file and line.
    public var findings: [Finding]
    /// How many targets the package has.
    public let targetCount: Int
    /// How many source files were read.
    public let fileCount: Int
    /// How many imports they hold, each branch of a conditional compilation counted.
    public let importCount: Int
    /// How many edges the diagram has.
    public let edgeCount: Int

    /// What a check of a package found.
    public init(findings: [Finding], targetCount: Int, fileCount: Int, importCount: Int, edgeCount: Int) {
        self.findings = findings.sorted()
        self.targetCount = targetCount
        self.fileCount = fileCount
        self.importCount = importCount
        self.edgeCount = edgeCount
    }
}
