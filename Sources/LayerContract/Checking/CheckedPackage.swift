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
    }

    /// A test target that the diagram does not name belongs to the ring of the target that it is named after.
    private static func memberships(
        _ diagram: LayerDiagram,
        _ description: PackageDescription
    ) -> [String: (ring: String, membership: Membership)] {
        var memberships: [String: (ring: String, membership: Membership)] = [:]
        for ring in diagram.rings {
            for target in ring.targets { memberships[target] = (ring.name, .member) }
            for target in ring.testTargets { memberships[target] = (ring.name, .test) }
        }
        for target in description.targets where target.kind == .test && memberships[target.name] == nil {
            guard target.name.hasSuffix("Tests") else { continue }
            if let tested = memberships[String(target.name.dropLast("Tests".count))] {
                memberships[target.name] = (tested.ring, .test)
            }
        }
        return memberships
    }

    func ring(of target: TargetDescription) -> Ring? { memberships[target.name].flatMap { rings[$0.ring] } }

    func membership(of target: TargetDescription) -> Membership? { memberships[target.name]?.membership }

    /// The target of the package that a module is of.
    func target(ofModule module: String) -> TargetDescription? { targetsByModule[module] }

    /// The edge that leads from one target to another, as it would have to be drawn; `nil` if one of them is in no ring.
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

    /// The system modules that a target may import.
    func systemModules(of target: TargetDescription) -> [SystemModule] {
        guard let ring = ring(of: target) else { return [] }
        return ring.imports + (membership(of: target) == .test ? ring.testImports : [])
    }

    /// The packages that a target may use.
    func packages(of target: TargetDescription) -> [PackageUse] {
        guard let ring = ring(of: target) else { return [] }
        return ring.packages + (membership(of: target) == .test ? ring.testPackages : [])
    }

    /// The modules that a target may import of the products it declares, each with its package.
    func productModules(of target: TargetDescription) -> [String: String] {
        var modules: [String: String] = [:]
        for case .product(let product, let package, let aliases) in target.dependencies {
            let named = packages(of: target).first { $0.identity.lowercased() == package.lowercased() }?.modules ?? []
            for module in (named.isEmpty ? [product] : named) + aliases { modules[module] = package }
        }
        return modules
    }
}
