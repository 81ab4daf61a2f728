/// Holds a package to the diagram of its layers.
public struct LayerCheck: Sendable {
    private let diagram: LayerDiagram
    private let package: PackageDescription
    private let sources: [SourceFacts]
    private let manifest: ManifestLines

    /// A check of a package.
    ///
    /// - Parameters:
    ///   - diagram: the rings, and who may use whom.
    ///   - package: the package as SwiftPM describes it.
    ///   - sources: its Swift sources.
    ///   - manifest: its manifest, for the lines of findings.
    public init(
        diagram: LayerDiagram,
        package: PackageDescription,
        sources: [SourceFacts],
        manifest: ManifestLines
    ) {
        self.diagram = diagram
        self.package = package
        self.sources = sources
        self.manifest = manifest
    }

    /// Checks every rule.
    ///
    /// - Throws: a ``DiagramError`` if the package has no target or source, or if the diagram matches none of its targets:
    ///   a check of nothing is no check.
    /// - Complexity: linear in what the sources import and declare, but for circles of subjects.
    public func report() throws(DiagramError) -> LayerReport {
        let package = CheckedPackage(diagram: diagram, description: package, sources: sources, manifest: manifest)
        guard !package.description.targets.isEmpty, !sources.isEmpty else {
            throw DiagramError("The package \(self.package.name) has no Swift source to check.")
        }
        guard package.description.targets.contains(where: { package.ring(of: $0) != nil }) else {
            throw DiagramError("The diagram in \(diagram.file) matches no target of the package \(self.package.name).")
        }
        let findings = [
            TargetsMatchRings(package).findings, DependenciesFollowEdges(package).findings,
            ImportsFollowEdges(package).findings, NothingIsReexported(package).findings,
            TestableByOwnTests(package).findings, PackagesAreNamed(package).findings,
            NoCycleOfSubjects(package).findings, DiagramIsUsed(package).findings,
        ]
        return LayerReport(
            findings: findings.flatMap(\.self),
            targetCount: package.description.targets.count,
            fileCount: sources.count,
            importCount: sources.reduce(0) { $0 + $1.imports.count },
            edgeCount: diagram.edges.count
        )
    }
}
