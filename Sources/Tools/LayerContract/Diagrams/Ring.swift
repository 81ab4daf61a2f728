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
    /// The libraries and frameworks that its targets and their tests may link.
    public var links: [String]
    /// The tools that its targets and their tests may pass unsafe flags to.
    public var unsafeFlags: [BuildSetting.Tool]

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
        links = []
        unsafeFlags = []
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

/// A module of the toolchain or the system that a ring may import.
public struct SystemModule: Hashable, Sendable {
    /// The module's name.
    public let name: String
    /// The module in whose place this one stands: it may be imported only where that one cannot be.
    ///
    /// `FoundationEssentials else Foundation` allows `Foundation` in its place alone.
    public let substituted: String?

    /// A module of the toolchain or the system.
    public init(_ name: String, inPlaceOf substituted: String? = nil) {
        self.name = name
        self.substituted = substituted
    }
}

/// A package that a ring may use.
public struct PackageUse: Hashable, Sendable {
    /// The package's identity, as the manifest names it.
    public let identity: String
    /// The modules that may be imported of it; empty if they are called what its products are called.
    public let modules: [String]

    /// A package that a ring may use.
    public init(_ identity: String, modules: [String] = []) {
        self.identity = identity
        self.modules = modules
    }

    /// Whether it is this package: the case of an identity means nothing to SwiftPM.
    func names(_ package: String) -> Bool { identity.lowercased() == package.lowercased() }
}

extension Ring {
    /// A ring as its node's label describes it.
    init(_ name: String, label: RingLabel, line: Int) throws(DiagramError) {
        self.init(name)
        title = label.title == name ? nil : label.title
        if let targets = label.lists[.targets] {
            self.targets = targets
            namesTargets = true
        }
        testTargets = label.lists[.tests] ?? []
        imports = try Self.modules(label.lists[.imports] ?? [], line)
        testImports = try Self.modules(label.lists[.testImports] ?? [], line)
        packages = try Self.packages(label.lists[.packages] ?? [], line)
        testPackages = try Self.packages(label.lists[.testPackages] ?? [], line)
        links = label.lists[.links] ?? []
        unsafeFlags = try Self.tools(label.lists[.unsafeFlags] ?? [], line)
    }

    /// The node's label, as it is drawn.
    var label: String {
        var lines = [title ?? name]
        func draw(_ key: RingLabel.Key, _ items: [String]) {
            if !items.isEmpty { lines.append("\(key.rawValue): \(items.joined(separator: ", "))") }
        }
        if namesTargets { draw(.targets, targets) }
        draw(.tests, testTargets)
        draw(.imports, Self.names(imports))
        draw(.testImports, Self.names(testImports))
        draw(.packages, packages.map(\.description))
        draw(.testPackages, testPackages.map(\.description))
        draw(.links, links)
        draw(.unsafeFlags, unsafeFlags.map(\.rawValue))
        return lines.joined(separator: "<br/>")
    }

    /// `A` is one module; of `A else B else C`, the others stand in place of the first.
    private static func modules(_ items: [String], _ line: Int) throws(DiagramError) -> [SystemModule] {
        var modules: [SystemModule] = []
        for item in items {
            let words = item.words
            let names = words.enumerated().filter { $0.offset.isMultiple(of: 2) }.map(\.element)
            guard words.count == 2 * names.count - 1, words.filter({ $0 == "else" }).count == names.count - 1 else {
                throw DiagramError(line: line, "“\(item)” is no module; write “Module” or “Module else Module”.")
            }
            modules.append(SystemModule(names[0]))
            modules += names.dropFirst().map { SystemModule($0, inPlaceOf: names[0]) }
        }
        return modules
    }

    private static func names(_ modules: [SystemModule]) -> [String] {
        modules.filter { $0.substituted == nil }.map { module in
            let substitutes = modules.filter { $0.substituted == module.name }.map { " else \($0.name)" }
            return module.name + substitutes.joined()
        }
    }

    private static func packages(_ items: [String], _ line: Int) throws(DiagramError) -> [PackageUse] {
        var packages: [PackageUse] = []
        for item in items {
            guard let open = item.firstIndex(of: "(") else {
                packages.append(PackageUse(item))
                continue
            }
            let identity = String(item[..<open]).trimmed
            let list = item[item.index(after: open)...]
            guard !identity.isEmpty, list.last == ")" else {
                throw DiagramError(
                    line: line,
                    "“\(item)” is no package; write “package” or “package (Module, Module)”."
                )
            }
            packages.append(
                PackageUse(identity, modules: list.dropLast().split(separator: ",").map { String($0).trimmed })
            )
        }
        return packages
    }

    private static func tools(_ items: [String], _ line: Int) throws(DiagramError) -> [BuildSetting.Tool] {
        var tools: [BuildSetting.Tool] = []
        for item in items {
            guard let tool = BuildSetting.Tool(rawValue: item) else {
                let names = BuildSetting.Tool.allCases.map(\.rawValue).joined(separator: ", ")
                throw DiagramError(line: line, "“\(item)” is not a tool that takes unsafe flags; there are \(names).")
            }
            tools.append(tool)
        }
        return tools
    }
}

extension PackageUse: CustomStringConvertible {
    /// The package as a label names it.
    public var description: String {
        modules.isEmpty ? identity : "\(identity) (\(modules.joined(separator: ", ")))"
    }
}

/// What a node's label says of its ring: a title, and lines such as `imports: Synchronization`.
struct RingLabel {
    /// The keys that a line can have, in the order in which they are drawn.
    enum Key: String, CaseIterable {
        case targets
        case tests
        case imports
        case testImports = "tests import"
        case packages
        case testPackages = "tests use packages"
        case links
        case unsafeFlags = "unsafe flags"
    }

    private static let breaks = ["<br/>", "<br />", "<br>", "\\n"]

    let title: String?
    let lists: [Key: [String]]

    /// Reads a label.
    ///
    /// - Throws: a ``DiagramError`` for a line that is neither a title nor one of the keys with a list.
    init(_ label: String, line: Int) throws(DiagramError) {
        var titles: [String] = []
        var lists: [Key: [String]] = [:]
        for (index, part) in Self.parts(of: label).enumerated() where !part.isEmpty {
            let name = String(part.prefix { $0 != ":" }).trimmed
            let key = Key(rawValue: name)
            // A title may have a colon; a slip of the pen behind it is told.
            guard let colon = part.firstIndex(of: ":"), index > 0 || key != nil else {
                titles.append(part)
                continue
            }
            guard let key else {
                let keys = Key.allCases.map { "“\($0.rawValue):”" }.joined(separator: ", ")
                throw DiagramError(line: line, "A label has no “\(name):”. Its lines are a title, or \(keys).")
            }
            guard lists[key] == nil else { throw DiagramError(line: line, "A label has “\(name):” twice.") }
            let items = Self.items(of: String(part[part.index(after: colon)...]))
            guard !items.isEmpty, !items.contains("") else {
                throw DiagramError(line: line, "“\(name):” wants names behind it, with commas between them.")
            }
            lists[key] = items
        }
        title = titles.isEmpty ? nil : titles.joined(separator: "<br/>")
        self.lists = lists
    }

    /// The label's parts: Mermaid breaks its lines by `<br>` or by `\n`.
    private static func parts(of label: String) -> [String] {
        var parts = [""]
        var rest = label[...]
        while let first = rest.first {
            if let mark = Self.breaks.first(where: { rest.prefix($0.count).lowercased() == $0 }) {
                parts.append("")
                rest.removeFirst(mark.count)
            } else {
                parts[parts.count - 1].append(first)
                rest.removeFirst()
            }
        }
        return parts.map(\.trimmed)
    }

    /// What stands between commas that are not in parentheses.
    private static func items(of list: String) -> [String] {
        var items = [""]
        var depth = 0
        for character in list {
            if character == "(" { depth += 1 }
            if character == ")" { depth -= 1 }
            if character == ",", depth == 0 {
                items.append("")
            } else {
                items[items.count - 1].append(character)
            }
        }
        return items.map(\.trimmed)
    }
}
