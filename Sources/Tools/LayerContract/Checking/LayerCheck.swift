/// A check of a package against its layer diagram.
///
/// ```swift
/// func printFindings(_ diagram: LayerDiagram, _ package: PackageDescription, _ sources: [SourceFacts]) throws {
///     let manifest = ManifestLines(reading: Array("// The text of Package.swift".utf8))
///     let check = LayerCheck(diagram: diagram, package: package, sources: sources, manifest: manifest)
///     for finding in try check.report().findings {
///         print("\(finding.location): \(finding.message) \(finding.remedy)")
///     }
/// }
/// ```
public struct LayerCheck: Sendable {
    private let package: CheckedPackage

    /// Creates a check of a package.
    ///
    /// - Parameters:
    ///   - diagram: The rings and the edges between them.
    ///   - package: The package as SwiftPM describes it.
    ///   - sources: The package's sources, plus the headers and module maps of its C targets and system libraries.
    ///   - manifest: The package's manifest, which provides line numbers for findings.
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
    /// - Throws: A ``DiagramError`` if the package has no targets or no sources, or if the diagram matches none of its targets.
    ///   Such a check would pass without checking anything.
    /// - Complexity: Linear in the number of imports and declarations in the sources, except for finding cycles of folders.
    public func report() throws(DiagramError) -> LayerReport {
        let name = package.description.name
        guard !package.description.targets.isEmpty, !package.sources.isEmpty else {
            throw DiagramError("The package \(name) has no sources to check.")
        }
        guard package.description.targets.contains(where: { package.ring(of: $0) != nil }) else {
            throw DiagramError("The diagram in \(package.diagram.file) matches no target of the package \(name).")
        }
        let findings = [
            TargetsMatchRings(package).findings, findingsAboutEdges,
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

extension LayerCheck {
    /// The findings of the rule that dependencies follow the edges of the diagram. They do not depend on the sources, so they are
    /// found quickly.
    package var findingsAboutEdges: [Finding] { DependenciesFollowEdges(package).findings }
}

/// A package with its sources and its diagram, and the queries that the rules share.
struct CheckedPackage: Sendable {
    /// The role that a target has in its ring.
    enum Membership: Hashable, Sendable {
        case member, test
    }

    let diagram: LayerDiagram
    let description: PackageDescription
    let sources: [SourceFacts]
    let manifest: ManifestLines

    let targets: [String: TargetDescription]
    private let targetsByModule: [String: TargetDescription]
    private let rings: [String: Ring]
    private let memberships: [String: (ring: String, membership: Membership)]
    private let edges: Set<Edge>
    /// The modules that the sources of each target import, by target name.
    let importedModules: [String: Set<String>]
    /// The origins of the headers that C sources include.
    let headers: HeaderIndex

    init(
        diagram: LayerDiagram,
        description: PackageDescription,
        sources: [SourceFacts],
        manifest: ManifestLines
    ) {
        self.diagram = diagram
        self.description = description
        self.sources = sources
        self.manifest = manifest
        targets = Dictionary(description.targets.map { ($0.name, $0) }) { first, _ in first }
        targetsByModule = Dictionary(description.targets.map { ($0.moduleName, $0) }) { first, _ in first }
        rings = Dictionary(diagram.rings.map { ($0.name, $0) }) { first, _ in first }
        memberships = Self.memberships(diagram, description)
        edges = Set(diagram.edges)
        importedModules = Dictionary(grouping: sources, by: \.target).mapValues { sources in
            Set(sources.flatMap { $0.imports.map(\.module) })
        }
        headers = HeaderIndex(description.targets, sources)
    }

    /// Returns the ring and membership of each target. A test target that the diagram does not name joins the ring of the
    /// target that it is named after.
    private static func memberships(
        _ diagram: LayerDiagram,
        _ description: PackageDescription
    ) -> [String: (ring: String, membership: Membership)] {
        var memberships: [String: (ring: String, membership: Membership)] = [:]
        let kinds = Dictionary(description.targets.map { ($0.name, $0.kind) }) { first, _ in first }
        for ring in diagram.rings {
            // A test target counts as the ring's tests, unless the ring consists of test targets only.
            let isOfTests = ring.targets.allSatisfy { kinds[$0] == .test }
            for target in ring.targets {
                memberships[target] = (ring.name, kinds[target] == .test && !isOfTests ? .test : .member)
            }
            for target in ring.testTargets { memberships[target] = (ring.name, .test) }
        }
        for target in description.targets where memberships[target.name] == nil {
            if let tested = target.testedName.flatMap({ memberships[$0] }) {
                memberships[target.name] = (tested.ring, .test)
            }
        }
        return memberships
    }

    func ring(of target: TargetDescription) -> Ring? { memberships[target.name].flatMap { rings[$0.ring] } }

    func membership(of target: TargetDescription) -> Membership? { memberships[target.name]?.membership }

    /// Returns the package's target that builds the module.
    func target(ofModule module: String) -> TargetDescription? { targetsByModule[module] }

    /// Returns the edge between the rings of two targets, even if the diagram does not draw it, or `nil` if either target is in
    /// no ring.
    func edge(from user: TargetDescription, to used: TargetDescription) -> Edge? {
        guard let source = memberships[user.name], let destination = memberships[used.name] else { return nil }
        return Edge(from: source.ring, to: destination.ring, for: source.membership == .test ? .testsOfRing : .ring)
    }

    /// Returns whether the diagram lets one target use another. The tests of a ring may use the ring, and everything that it may use.
    func allows(_ user: TargetDescription, toUse used: TargetDescription) -> Bool {
        guard let edge = edge(from: user, to: used), membership(of: used) == .member else { return false }
        if edges.contains(edge) { return true }
        guard edge.user == .testsOfRing else { return false }
        return edge.source == edge.destination || edges.contains(Edge(from: edge.source, to: edge.destination))
    }

    /// Returns the member targets and the test targets of a ring.
    func targets(of ring: Ring) -> (members: [TargetDescription], tests: [TargetDescription]) {
        let targets = description.targets.filter { self.ring(of: $0)?.name == ring.name }
        return (targets.filter { membership(of: $0) == .member }, targets.filter { membership(of: $0) == .test })
    }

    /// Returns the system modules that a target may import.
    func systemModules(of target: TargetDescription) -> [SystemModule] {
        guard let ring = ring(of: target) else { return [] }
        return ring.imports + (membership(of: target) == .test ? ring.testImports : [])
    }

    /// Returns the target's permissions for a package; empty if the diagram does not name the package.
    func permissions(for package: String, of target: TargetDescription) -> [PackageUse] {
        packages(of: target).filter { $0.names(package) }
    }

    /// Returns the packages that a target may use.
    func packages(of target: TargetDescription) -> [PackageUse] {
        guard let ring = ring(of: target) else { return [] }
        return ring.packages + (membership(of: target) == .test ? ring.testPackages : [])
    }

    /// Returns the modules that a target may import from its declared products.
    func productModules(of target: TargetDescription) -> Set<String> {
        target.dependencies.reduce(into: []) { $0.formUnion(modules(of: $1, in: target)) }
    }

    /// Returns the modules of a product and their aliases. The modules are those that the diagram names for the package. If it
    /// names none, or one has the product's name, the product has a single module, of the same name.
    func modules(of dependency: TargetDependency, in target: TargetDescription) -> [String] {
        guard case .product(let product, let package, let aliases) = dependency else { return [] }
        let named = permissions(for: package, of: target).flatMap(\.modules)
        return (named.isEmpty || named.contains(product) ? [product] : named) + aliases
    }

    /// Returns whether the sources of a target use another target.
    func uses(_ user: TargetDescription, _ used: TargetDescription) -> Bool {
        if importedModules[user.name]?.contains(used.moduleName) == true { return true }
        // Tools are built for the target that depends on them, not imported.
        let isImportable = [.library, .other].contains(used.kind) && user.kind != .other && user.kind != .plugin
        return !isImportable && user.dependencies.contains(.target(used.name))
    }

    /// Returns whether the sources of a target import a module or include one of its headers.
    func imports(_ user: TargetDescription, _ module: String) -> Bool {
        importedModules[user.name]?.contains(module) == true
            || headers.modules[user.name]?.contains(module.lowercased()) == true
    }

    /// Returns the edges between targets that satisfy the predicate.
    func edges(where isUsed: (TargetDescription, TargetDescription) -> Bool) -> Set<Edge> {
        var used: Set<Edge> = []
        for target in description.targets {
            for other in description.targets where target.name != other.name && isUsed(target, other) {
                if let edge = edge(from: target, to: other) { used.insert(edge) }
            }
        }
        return used
    }
}

extension CheckedPackage {
    /// Returns the finding for an import of another target, or an include of its header, or `nil` if the use is allowed.
    func finding(
        _ text: String,
        at location: SourceLocation,
        _ target: TargetDescription,
        uses used: TargetDescription
    ) -> Finding? {
        guard allows(target, toUse: used) else {
            return Finding(
                rule: .importsFollowEdges,
                location: location,
                edge: "\(target.name) → \(used.name)",
                message: "“\(text)” is in \(target.name), and \(absence(of: used, for: target)).",
                remedy: remedy(for: target, using: used, instead: "Remove the import")
            )
        }
        guard !target.dependencies.contains(.target(used.name)) else { return nil }
        return Finding(
            rule: .importsFollowEdges,
            location: location,
            edge: "\(target.name) → \(used.name)",
            message: "“\(text)” is in \(target.name), which does not declare the dependency.",
            remedy: "Add \"\(used.name)\" to the dependencies of \(target.name) in \(ManifestLines.file)."
        )
    }

    /// Returns why a target may not use another, as the end of a sentence.
    func absence(of used: TargetDescription, for user: TargetDescription) -> String {
        guard let edge = edge(from: user, to: used) else {
            return "\(ring(of: used) == nil ? used.name : user.name) is in no ring"
        }
        if membership(of: used) == .test { return "\(used.name) is a test target" }
        if edge.source == edge.destination { return "no arrow leads from the ring \(edge.source) to itself" }
        return
            "no arrow leads from \(edge.source) to \(edge.destination)\(isOutward(edge) ? ", which is an outer ring" : "")"
    }

    /// Returns how to fix a use that the diagram does not allow.
    func remedy(for user: TargetDescription, using used: TargetDescription, instead: String) -> String {
        guard let edge = edge(from: user, to: used) else {
            return "\(instead), or draw both in \(diagram.file), with an arrow between them, if that is intended."
        }
        if membership(of: used) == .test {
            return "\(instead), and move shared code to a target that is not a test target."
        }
        if isOutward(edge) {
            return
                "\(instead), and declare what \(edge.source) needs in a protocol that \(edge.destination) implements."
        }
        let arrow = edge.user == .testsOfRing ? "-.->" : "-->"
        return
            "\(instead), or draw `\(edge.source) \(arrow) \(edge.destination)` in \(diagram.file) if that is intended."
    }

    /// Returns whether the diagram's arrows lead in the opposite direction.
    private func isOutward(_ edge: Edge) -> Bool {
        guard edge.user == .ring else { return false }
        var reached: Set<String> = []
        var waiting = [edge.destination]
        while let ring = waiting.popLast() {
            guard reached.insert(ring).inserted else { continue }
            waiting += diagram.edges.filter { $0.source == ring && $0.user == .ring }.map(\.destination)
        }
        return reached.contains(edge.source) && edge.source != edge.destination
    }
}
