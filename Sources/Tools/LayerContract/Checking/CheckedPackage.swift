/// A package, its sources and its diagram, with what the rules ask of them.
struct CheckedPackage: Sendable {
    /// How a target belongs to its ring.
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
    /// The modules that the sources of each target import.
    let importedModules: [String: Set<String>]
    /// Where the headers come from that C sources include.
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

    /// A test target that the diagram does not name belongs to the ring of the target that it is named after.
    private static func memberships(
        _ diagram: LayerDiagram,
        _ description: PackageDescription
    ) -> [String: (ring: String, membership: Membership)] {
        var memberships: [String: (ring: String, membership: Membership)] = [:]
        let kinds = Dictionary(description.targets.map { ($0.name, $0.kind) }) { first, _ in first }
        for ring in diagram.rings {
            // A ring of tests alone is a ring like any other; beside what it tests, a test target is its tests.
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

    /// The target of the package that a module is of.
    func target(ofModule module: String) -> TargetDescription? { targetsByModule[module] }

    /// The edge that leads from one target to another, as it is or would have to be drawn; `nil` if one of them is in no
    /// ring.
    func edge(from user: TargetDescription, to used: TargetDescription) -> Edge? {
        guard let source = memberships[user.name], let destination = memberships[used.name] else { return nil }
        return Edge(from: source.ring, to: destination.ring, for: source.membership == .test ? .testsOfRing : .ring)
    }

    /// Whether the diagram lets one target use another. What a ring may use, its tests may use, and the ring itself.
    func allows(_ user: TargetDescription, toUse used: TargetDescription) -> Bool {
        guard let edge = edge(from: user, to: used), membership(of: used) == .member else { return false }
        if edges.contains(edge) { return true }
        guard edge.user == .testsOfRing else { return false }
        return edge.source == edge.destination || edges.contains(Edge(from: edge.source, to: edge.destination))
    }

    /// The targets of a ring, and those that are its tests.
    func targets(of ring: Ring) -> (members: [TargetDescription], tests: [TargetDescription]) {
        let targets = description.targets.filter { self.ring(of: $0)?.name == ring.name }
        return (targets.filter { membership(of: $0) == .member }, targets.filter { membership(of: $0) == .test })
    }

    /// The system modules that a target may import.
    func systemModules(of target: TargetDescription) -> [SystemModule] {
        guard let ring = ring(of: target) else { return [] }
        return ring.imports + (membership(of: target) == .test ? ring.testImports : [])
    }

    /// What the diagram lets a target use of a package; nothing if it does not name the package.
    func permissions(for package: String, of target: TargetDescription) -> [PackageUse] {
        packages(of: target).filter { $0.names(package) }
    }

    /// The packages that a target may use.
    func packages(of target: TargetDescription) -> [PackageUse] {
        guard let ring = ring(of: target) else { return [] }
        return ring.packages + (membership(of: target) == .test ? ring.testPackages : [])
    }

    /// The modules that a target may import of the products it declares.
    func productModules(of target: TargetDescription) -> Set<String> {
        target.dependencies.reduce(into: []) { $0.formUnion(modules(of: $1, in: target)) }
    }

    /// The modules of a product: those that the diagram names for its package if the product is not one of them, and the
    /// one that is called like it otherwise.
    func modules(of dependency: TargetDependency, in target: TargetDescription) -> [String] {
        guard case .product(let product, let package, let aliases) = dependency else { return [] }
        let named = permissions(for: package, of: target).flatMap(\.modules)
        return (named.isEmpty || named.contains(product) ? [product] : named) + aliases
    }

    /// Whether the sources of a target make use of another target.
    func uses(_ user: TargetDescription, _ used: TargetDescription) -> Bool {
        if importedModules[user.name]?.contains(used.moduleName) == true { return true }
        // A tool is built for its user, and not imported.
        let isImportable = [.library, .other].contains(used.kind) && user.kind != .other && user.kind != .plugin
        return !isImportable && user.dependencies.contains(.target(used.name))
    }

    /// Whether the sources of a target import a module, or include a header of it.
    func imports(_ user: TargetDescription, _ module: String) -> Bool {
        importedModules[user.name]?.contains(module) == true
            || headers.modules[user.name]?.contains(module.lowercased()) == true
    }

    /// The edges between targets of which something holds.
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
    /// What is wrong with an import of another target, or an include of its header; `nil` if nothing is.
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

    /// Why a target may not use another, as the end of a sentence.
    func absence(of used: TargetDescription, for user: TargetDescription) -> String {
        guard let edge = edge(from: user, to: used) else {
            return "\(ring(of: used) == nil ? used.name : user.name) is in no ring"
        }
        if membership(of: used) == .test { return "\(used.name) is a test target" }
        if edge.source == edge.destination { return "no arrow leads from the ring \(edge.source) to itself" }
        return "no arrow leads from \(edge.source) to \(edge.destination)\(isOutward(edge) ? ": that is outward" : "")"
    }

    /// How to mend the use of a target that may not be used.
    func remedy(for user: TargetDescription, using used: TargetDescription, instead: String) -> String {
        guard let edge = edge(from: user, to: used) else {
            return "\(instead), or draw both in \(diagram.file), and an arrow between them if it is meant."
        }
        if membership(of: used) == .test { return "\(instead); put what is shared into a target that is no test." }
        if isOutward(edge) {
            return "\(instead); let \(edge.source) say what it needs by a protocol that \(edge.destination) implements."
        }
        let arrow = edge.user == .testsOfRing ? "-.->" : "-->"
        return "\(instead), or draw `\(edge.source) \(arrow) \(edge.destination)` in \(diagram.file) if it is meant."
    }

    /// Whether the diagram leads the other way.
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
