/// Rule 8: what the diagram allows, and the manifest declares, somebody does.
struct DiagramIsUsed {
    private let package: CheckedPackage
    /// The modules that each target imports.
    private let imports: [String: Set<String>]

    init(_ package: CheckedPackage) {
        self.package = package
        var imports: [String: Set<String>] = [:]
        for source in package.sources {
            imports[source.target, default: []].formUnion(source.imports.map(\.module))
        }
        self.imports = imports
    }

    var findings: [Finding] { unusedEdges + unusedDependencies + package.diagram.rings.flatMap(unusedPermissions) }

    private func uses(_ target: TargetDescription, _ used: TargetDescription) -> Bool {
        if imports[target.name]?.contains(used.moduleName) == true { return true }
        // What is no library is built for its user, and not imported.
        let isImportable = used.kind == .library && target.kind != .other && target.kind != .plugin
        return !isImportable && target.dependencies.contains(.target(used.name))
    }

    private var unusedEdges: [Finding] {
        var used: Set<Edge> = []
        for target in package.description.targets {
            for other in package.description.targets where target.name != other.name && uses(target, other) {
                if let edge = package.edge(from: target, to: other) { used.insert(edge) }
            }
        }
        let drawn = Set(package.diagram.edges)
        return package.diagram.edges.compactMap { edge in
            let other = Edge(from: edge.source, to: edge.destination, for: edge.user == .ring ? .testsOfRing : .ring)
            let message: String
            if edge.user == .testsOfRing, drawn.contains(other) {
                message = "The tests of \(edge.source) may use \(edge.destination) already, because \(edge.source) may."
            } else if used.contains(edge) {
                return nil
            } else if edge.user == .ring, used.contains(other) {
                message = "Only the tests of \(edge.source) use \(edge.destination): that is drawn `-.->`."
            } else {
                message = "Nobody uses the arrow from \(edge.source) to \(edge.destination)."
            }
            return finding(package.diagram.location(of: edge), "\(edge)", message, "Take the arrow out of the diagram.")
        }
    }

    private var unusedDependencies: [Finding] {
        package.description.targets.flatMap { target in
            target.dependencies.compactMap { dependency in
                // What may not be declared at all is rule 2's.
                guard case .target(let name) = dependency, let used = package.targets[name], !uses(target, used),
                    package.allows(target, toUse: used)
                else { return nil }
                return finding(
                    package.manifest.location(ofDependency: dependency, of: target.name),
                    "\(target.name) → \(name)",
                    "\(target.name) declares a dependency on \(name) and does not import it.",
                    "Take it out of the dependencies of \(target.name)."
                )
            }
        }
    }

    private func unusedPermissions(of ring: Ring) -> [Finding] {
        let targets = package.description.targets.filter { package.ring(of: $0)?.name == ring.name }
        let members = targets.filter { package.membership(of: $0) == .member }
        let tests = targets.filter { package.membership(of: $0) == .test }
        let location = package.diagram.location(of: ring)
        func unused(_ modules: [SystemModule], by users: [TargetDescription]) -> [Finding] {
            modules.filter { module in !users.contains { imports[$0.name]?.contains(module.name) == true } }.map {
                finding(
                    location,
                    "\(ring.name) → \($0.name)",
                    "The ring \(ring.name) may import \($0.name), and nobody does.",
                    "Take it out of the ring's label."
                )
            }
        }
        func unused(_ packages: [PackageUse], by users: [TargetDescription]) -> [Finding] {
            packages.filter { use in
                !users.contains { user in
                    user.dependencies.contains { $0.package?.lowercased() == use.identity.lowercased() }
                }
            }.map {
                finding(
                    location,
                    "\(ring.name) → \($0.identity)",
                    "The ring \(ring.name) may use the package \($0.identity), and nobody does.",
                    "Take it out of the ring's label."
                )
            }
        }
        return unused(ring.imports, by: members) + unused(ring.testImports, by: tests)
            + unused(ring.packages, by: members) + unused(ring.testPackages, by: tests)
    }

    private func finding(_ location: SourceLocation, _ edge: String, _ message: String, _ remedy: String) -> Finding {
        Finding(rule: .diagramIsUsed, location: location, edge: edge, message: message, remedy: remedy)
    }
}
