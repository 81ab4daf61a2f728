/// A node of the diagram: targets that are held to the same rules.
public struct Ring: Hashable, Sendable {
    /// The node's name.
    public let name: String
    /// What the diagram shows as the node's title, if it is not the name.
    public var title: String?
    /// The targets of the ring.
    public var targets: [String]
    /// Whether the label names the targets; without that, the ring is its one target.
    public var namesTargets: Bool
    /// The test targets that belong to the ring and are not called `TargetTests` for one of its targets.
    public var testTargets: [String]
    /// The system modules that its sources may import.
    public var imports: [SystemModule]
    /// The system modules that its tests may import beside those.
    public var testImports: [SystemModule]
    /// The packages that it may use.
    public var packages: [PackageUse]
    /// The packages that its tests may use beside those.
    public var testPackages: [PackageUse]

    /// A ring of one target, which has its name.
    public init(_ name: String) {
        self.name = name
        targets = [name]
        namesTargets = false
        testTargets = []
        imports = []
        testImports = []
        packages = []
        testPackages = []
    }

    /// A ring for a target, by a name that can be drawn.
    init(drawing target: String) {
        var name = String(target.map { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "-" ? $0 : "_" })
        if ["end", "graph", "flowchart", "subgraph", "style", "class", "click", "direction"].contains(name) {
            name += "_"
        }
        self.init(name)
        targets = [target]
        namesTargets = name != target
    }
}
