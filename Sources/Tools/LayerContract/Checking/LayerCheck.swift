/// A check of a package against its layer diagram.
///
///     let check = LayerCheck(diagram: diagram, package: package, sources: sources, manifest: manifest)
///     let report = try check.report()
public struct LayerCheck: Sendable {
    private let package: CheckedPackage

    /// Creates a check of a package.
    ///
    /// - Parameters:
    ///   - diagram: the rings and the edges between them.
    ///   - package: the package as SwiftPM describes it.
    ///   - sources: the package's sources, plus the headers and module maps of its C targets and system libraries.
    ///   - manifest: the package's manifest, which provides line numbers for findings.
    public init(
        diagram: LayerDiagram,
        package: PackageDescription,
        sources: [SourceFacts],
        manifest: ManifestLines
    ) {
        self.package = CheckedPackage(
            diagram: diagram,
            description: package,
            sources: sources,
            manifest: manifest
        )
    }

    /// Checks every rule and returns the findings.
    ///
    /// - Throws: a ``DiagramError`` if the package has no targets or no sources, or if the diagram matches none of its
    ///   targets. Such a check would pass without checking anything.
    /// - Complexity: linear in the number of imports and declarations in the sources, except for finding cycles of subjects.
    public func report() throws(DiagramError) -> LayerReport {
        let name = package.description.name
        guard !package.description.targets.isEmpty, !package.sources.isEmpty else {
            throw DiagramError("The package \(name) has no source to check.")
        }
        guard package.description.targets.contains(where: { package.ring(of: $0) != nil }) else {
            throw DiagramError("The diagram in \(package.diagram.file) matches no target of the package \(name).")
        }
        let findings = [
            TargetsMatchRings(package).findings, DependenciesFollowEdges(package).findings,
            ImportsFollowEdges(package).findings, NothingIsReexported(package).findings,
            TestableByOwnTests(package).findings, PackagesAreNamed(package).findings,
            NoCycleOfSubjects(package).findings, DiagramIsUsed(package).findings,
            IncludesFollowEdges(package).findings, BuildSettingsAreNamed(package).findings,
            NoBackDoors(package).findings, MemberImportsAreVisible(package).findings,
        ]
        return LayerReport(
            findings: findings.flatMap(\.self),
            targetCount: package.description.targets.count,
            fileCount: package.sources.count,
            importCount: package.sources.reduce(0) { $0 + $1.imports.count + $1.includes.count },
            edgeCount: package.diagram.edges.count,
            notes: package.diagram.notes
        )
    }
}
