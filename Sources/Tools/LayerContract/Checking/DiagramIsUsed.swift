/// Rule 8: everything that the diagram allows or the manifest declares must be used.
struct DiagramIsUsed {
    private let package: CheckedPackage

    init(_ package: CheckedPackage) {
        self.package = package
    }

    var findings: [Finding] { unusedEdges + unusedDependencies + package.diagram.rings.flatMap(unusedPermissions) }

    private var unusedEdges: [Finding] {
        let used = package.edges(where: package.uses)
        let drawn = Set(package.diagram.edges)
        return package.diagram.edges.compactMap { edge in
            let other = Edge(from: edge.source, to: edge.destination, for: edge.user == .ring ? .testsOfRing : .ring)
            let message: String
            var remedy = "Remove the arrow from the diagram."
            if edge.user == .testsOfRing, drawn.contains(other) {
                message = "The tests of \(edge.source) may already use \(edge.destination), because \(edge.source) may."
            } else if used.contains(edge) {
                return nil
            } else if edge.user == .ring, used.contains(other) {
                message = "Only the tests of \(edge.source) use \(edge.destination)."
                remedy = "Replace the arrow with `\(edge.source) -.-> \(edge.destination)`."
            } else {
                message = "Nothing uses the arrow from \(edge.source) to \(edge.destination)."
            }
            return finding(package.diagram.location(of: edge), "\(edge)", message, remedy)
        }
    }

    private var unusedDependencies: [Finding] {
        package.description.targets.flatMap { target in
            target.dependencies.filter { isUnused($0, by: target) }.map { dependency in
                finding(
                    package.manifest.location(ofDependency: dependency, of: target.name),
                    "\(target.name) → \(dependency.name)",
                    "\(target.name) declares a dependency on \(dependency.name) but does not import it.",
                    "Remove it from the dependencies of \(target.name)."
                )
            }
        }
    }

    private func isUnused(_ dependency: TargetDependency, by target: TargetDescription) -> Bool {
        switch dependency {
        case .target(let name):
            // Rule 2 reports dependencies that may not be declared at all.
            guard let used = package.targets[name], package.allows(target, toUse: used) else { return false }
            return !package.uses(target, used)
        case .product(_, let identity, _):
            // Rule 6 reports packages that the diagram does not name.
            guard target.kind != .other, target.kind != .plugin,
                !package.permissions(for: identity, of: target).isEmpty
            else { return false }
            let modules = package.modules(of: dependency, in: target)
            return !modules.contains { package.imports(target, $0) }
        case .plugin:
            return false
        }
    }

    private func unusedPermissions(of ring: Ring) -> [Finding] {
        let (members, tests) = package.targets(of: ring)
        let location = package.diagram.location(of: ring)
        func unused(_ modules: [SystemModule], by users: [TargetDescription]) -> [Finding] {
            modules.filter { module in
                !users.contains { package.imports($0, module.name) }
            }.map {
                finding(
                    location,
                    "\(ring.name) → \($0.name)",
                    "The ring \(ring.name) may import \($0.name), but nothing does.",
                    "Remove it from the ring's label."
                )
            }
        }
        func unused(_ packages: [PackageUse], by users: [TargetDescription]) -> [Finding] {
            packages.filter { use in
                !users.contains { user in
                    user.dependencies.contains { $0.package.map(use.names) == true }
                }
            }.map {
                finding(
                    location,
                    "\(ring.name) → \($0.identity)",
                    "The ring \(ring.name) may use the package \($0.identity), but nothing does.",
                    "Remove it from the ring's label."
                )
            } + unused(packages.flatMap(\.modules).map { SystemModule($0) }, by: users)
        }
        let redundant = ring.testImports.filter { ring.imports.contains(SystemModule($0.name)) }.map {
            finding(
                location,
                "\(ring.name) → \($0.name)",
                "The tests of \(ring.name) may already import \($0.name), because \(ring.name) may.",
                "Remove it from “\(RingLabel.Key.testImports.rawValue):”."
            )
        }
        return redundant + unused(ring.imports, by: members) + unused(ring.testImports, by: tests)
            + unused(ring.packages, by: members) + unused(ring.testPackages, by: tests)
            + unusedSettings(of: ring, members + tests)
    }

    private func unusedSettings(of ring: Ring, _ targets: [TargetDescription]) -> [Finding] {
        let location = package.diagram.location(of: ring)
        let links = package.links(of: targets)
        let tools = package.unsafeFlags(of: targets)
        return ring.links.filter { !links.contains($0) }.map {
            finding(
                location,
                "\(ring.name) → \($0)",
                "The ring \(ring.name) may link \($0), but none of its targets does.",
                "Remove it from “\(RingLabel.Key.links.rawValue):” in the ring's label."
            )
        }
            + ring.unsafeFlags.filter { !tools.contains($0) }.map {
                finding(
                    location,
                    "\(ring.name) → unsafe flags of \($0.rawValue)",
                    "The ring \(ring.name) may pass unsafe flags to \($0.rawValue), but none of its targets does.",
                    "Remove it from “\(RingLabel.Key.unsafeFlags.rawValue):” in the ring's label."
                )
            }
    }

    private func finding(_ location: SourceLocation, _ edge: String, _ message: String, _ remedy: String) -> Finding {
        Finding(rule: .diagramIsUsed, location: location, edge: edge, message: message, remedy: remedy)
    }
}
