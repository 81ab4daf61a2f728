/// A generator that draws a package's diagram from its code.
///
/// ```swift
/// func page(for package: PackageDescription, _ sources: [SourceFacts]) -> String {
///     LayerDrawing(package: package, sources: sources, replacing: nil).drawn(into: "# Architecture\n")
/// }
/// ```
public struct LayerDrawing: Sendable {
    private let known: LayerDiagram?
    private let package: CheckedPackage

    /// Creates a drawing of a package.
    ///
    /// - Parameters:
    ///   - package: The package as SwiftPM describes it.
    ///   - sources: The package's sources, as ``LayerCheck`` takes them.
    ///   - diagram: The existing diagram, or `nil` if there is none. Its rings keep their names, titles, targets, positions, and
    ///     subgraphs.
    public init(package: PackageDescription, sources: [SourceFacts], replacing diagram: LayerDiagram?) {
        known = diagram
        let manifest = ManifestLines(reading: [])
        let rings = Self.rings(of: package, known: diagram?.rings ?? [])
        let file = diagram?.file ?? ""
        self.package = CheckedPackage(
            diagram: LayerDiagram(file: file, rings: rings, edges: []),
            description: package,
            sources: sources,
            manifest: manifest
        )
    }

    /// Returns a Markdown text in which the diagram replaces the existing one, or is appended under a new heading.
    ///
    /// - Complexity: Linear in the length of the text and the number of imports in the sources.
    public func drawn(into markdown: String) -> String {
        let lineBreak = markdown.contains("\r\n") ? "\r\n" : "\n"
        var lines = markdown.lines
        if let range = known?.lineRange {
            let indentation = String(lines[range.lowerBound - 2].prefix { $0 == " " })
            lines.replaceSubrange((range.lowerBound - 1)..<(range.upperBound - 1), with: block.map { indentation + $0 })
            return lines.joined(separator: lineBreak)
        }
        while lines.last?.trimmed.isEmpty == true { lines.removeLast() }
        let head = lines.isEmpty ? ["# Architecture"] : lines
        return (head + ["", "## Layers", "", "```mermaid"] + block + ["```", ""]).joined(separator: lineBreak)
    }

    /// Returns the known rings that still have a target, and a new ring for each target that is in no ring. A test target does
    /// not get a ring if the target that it is named after has one.
    private static func rings(of package: PackageDescription, known: [Ring]) -> [Ring] {
        let names = Set(package.targets.map(\.name))
        var rings = known.compactMap { ring in
            var ring = ring
            ring.targets = ring.targets.filter(names.contains)
            ring.testTargets = ring.testTargets.filter(names.contains)
            return ring.targets.isEmpty ? nil : ring
        }
        var listed = Set(rings.flatMap { $0.targets + $0.testTargets })
        for target in package.targets where target.kind != .test && listed.insert(target.name).inserted {
            rings.append(Ring(drawing: target.name))
        }
        for target in package.targets where target.kind == .test && !listed.contains(target.name) {
            if target.testedName.map(listed.contains) != true { rings.append(Ring(drawing: target.name)) }
        }
        return rings
    }

    private var block: [String] {
        let rings = package.diagram.rings.map(permitted)
        let drawn = Dictionary(rings.map { ($0.name, "    \($0.name)[\"\($0.label)\"]") }) { first, _ in first }
        var lines: [String] = []
        var placed: Set<String> = []
        for statement in known?.statements ?? [.verbatim("flowchart LR")] {
            switch statement {
            case .verbatim(let line): lines.append(line)
            case .ring(let name):
                if let line = drawn[name], placed.insert(name).inserted { lines.append(line) }
            }
        }
        lines += rings.filter { !placed.contains($0.name) }.compactMap { drawn[$0.name] }
        return lines + edges.map { "    \($0.source) \($0.user == .ring ? "-->" : "-.->") \($0.destination)" }
    }

    /// The edges that the code uses, in the order of the rings.
    private var edges: [Edge] {
        let used = package.edges { target, other in
            package.uses(target, other) || target.dependencies.contains(.target(other.name))
        }
        let places = Dictionary(
            package.diagram.rings.enumerated().map { ($1.name, $0) },
            uniquingKeysWith: { first, _ in first }
        )
        func place(_ edge: Edge) -> (Int, Int, Int) {
            (edge.user == .ring ? 0 : 1, places[edge.source] ?? 0, places[edge.destination] ?? 0)
        }
        return used.filter { edge in
            guard edge.user == .testsOfRing else { return true }
            // A ring's tests inherit the ring's edges and may use the ring, so these edges are not drawn again.
            return edge.source != edge.destination && !used.contains(Edge(from: edge.source, to: edge.destination))
        }.sorted { place($0) < place($1) }
    }

    /// Returns a ring with permissions for what its sources import and its targets declare.
    private func permitted(_ ring: Ring) -> Ring {
        let (members, tests) = package.targets(of: ring)
        var ring = ring
        ring.packages = packages(of: members, known: ring.packages)
        ring.testPackages = packages(of: tests, known: ring.testPackages + ring.packages).filter { use in
            !ring.packages.contains { $0.identity == use.identity }
        }
        ring.imports = systemModules(of: members, besides: [], known: ring.imports)
        ring.testImports = systemModules(of: tests, besides: ring.imports, known: ring.testImports)
        let links = package.links(of: members + tests)
        ring.links = ring.links.filter(links.contains) + links.subtracting(ring.links).sorted()
        ring.unsafeFlags = package.unsafeFlags(of: members + tests)
        return ring
    }

    private func packages(of targets: [TargetDescription], known: [PackageUse]) -> [PackageUse] {
        let used = Set(targets.flatMap { $0.dependencies.compactMap(\.package) })
        return used.sorted().map { identity in
            known.first { $0.names(identity) } ?? PackageUse(identity)
        }
    }

    /// Returns the modules that need a permission and are not in `allowed`. Known modules keep their order.
    private func systemModules(
        of targets: [TargetDescription],
        besides allowed: [SystemModule],
        known: [SystemModule]
    ) -> [SystemModule] {
        var modules: [String: [ImportDeclaration]] = [:]
        for target in targets {
            for declaration in package.sources.filter({ $0.target == target.name }).flatMap(\.imports)
            where isSystemModule(declaration.module, of: target) && !allowed.contains(where: declaration.isAllowed) {
                modules[declaration.module, default: []].append(declaration)
            }
        }
        let headers = headerModules(of: targets, besides: allowed)
        let kept = known.filter { module in
            modules[module.name]?.allSatisfy { $0.isAllowed(by: module) } == true
                && module.substituted.map { modules[$0] != nil } != false
                || headers.contains { SystemHeaders.isSame($0.name, module.name) }
        }
        let new = modules.filter { name, _ in !kept.contains { $0.name == name } }.sorted { $0.key < $1.key }
        return kept
            + new.map { module, imports in
                // If every import is conditional on the absence of another module, draw this module as its replacement.
                let absent = imports.dropFirst().reduce(imports[0].absentModules) { $0.intersection($1.absentModules) }
                return SystemModule(module, inPlaceOf: absent.filter { modules[$0] != nil }.min())
            }
            + headers.filter { header in
                modules[header.name] == nil
                    && !kept.contains { SystemHeaders.isSame($0.name, header.name) }
            }
    }

    /// Returns the modules whose headers C sources include and that need a permission.
    private func headerModules(of targets: [TargetDescription], besides allowed: [SystemModule]) -> [SystemModule] {
        let products = targets.reduce(into: Set<String>()) { $0.formUnion(package.productModules(of: $1)) }
        let names = Set(targets.flatMap(package.headers.foreignIncludes)).filter { module in
            !allowed.contains { SystemHeaders.isSame($0.name, module) }
                && !products.contains { SystemHeaders.isSame($0, module) }
        }
        return names.sorted().flatMap { module in
            module == SystemHeaders.platformModules[0] ? SystemHeaders.platform : [SystemModule(module)]
        }
    }

    private func isSystemModule(_ module: String, of target: TargetDescription) -> Bool {
        package.target(ofModule: module) == nil && !package.productModules(of: target).contains(module)
            && !ImportsFollowEdges.isAlwaysAllowed(module, in: target)
    }
}
