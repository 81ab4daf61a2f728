/// A node of the diagram: a group of targets that follow the same rules.
///
/// ```swift
/// func printTargets(of diagram: LayerDiagram) {
///     for ring in diagram.rings {
///         print("\(ring.name): \(ring.targets.joined(separator: ", "))")
///     }
/// }
/// ```
public struct Ring: Hashable, Sendable {
    /// The name of the node.
    public let name: String
    /// The title of the node, if it differs from the name.
    public var title: String?
    /// The targets of the ring.
    public var targets: [String]
    /// Whether the label lists the targets. If not, the ring consists of the one target with its name.
    public var namesTargets: Bool
    /// The ring's test targets, except those that are named after its targets, such as `CoreTests` for `Core`.
    public var testTargets: [String]
    /// The system modules that the ring's sources may import.
    public var imports: [SystemModule]
    /// The additional system modules that the ring's tests may import.
    public var testImports: [SystemModule]
    /// The packages that the ring may use.
    public var packages: [PackageUse]
    /// The additional packages that the ring's tests may use.
    public var testPackages: [PackageUse]
    /// The libraries and frameworks that the ring's targets and tests may link.
    public var links: [String]
    /// The tools that the ring's targets and tests may pass unsafe flags to.
    public var unsafeFlags: [BuildSetting.Tool]

    /// Creates a ring of the one target with the same name.
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

    /// Creates a ring for a target, with a node name that Mermaid accepts.
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

/// A toolchain or system module that a ring may import.
///
/// ```swift
/// let page = "```mermaid\nflowchart LR\n    Core[\"Core<br/>imports: FoundationEssentials else Foundation\"]\n```\n"
/// let imports = try LayerDiagram(markdown: page, file: "Architecture.md").rings[0].imports
/// print(imports.map(\.name))  // ["FoundationEssentials", "Foundation"]
/// print(imports[1].substituted ?? "none")  // FoundationEssentials
/// ```
public struct SystemModule: Hashable, Sendable {
    /// The name of the module.
    public let name: String
    /// The module that this one replaces. This module may be imported only where that module is unavailable.
    ///
    /// For example, `FoundationEssentials else Foundation` allows `Foundation` only as a replacement.
    public let substituted: String?

    /// Creates a permission to import a system module.
    public init(_ name: String, inPlaceOf substituted: String? = nil) {
        self.name = name
        self.substituted = substituted
    }
}

/// A package that a ring may use.
///
/// ```swift
/// print(PackageUse("swift-nio", modules: ["NIOCore", "NIOPosix"]))  // swift-nio (NIOCore, NIOPosix)
/// ```
public struct PackageUse: Hashable, Sendable {
    /// The package identity, as the manifest spells it.
    public let identity: String
    /// The modules that may be imported from the package; empty if the modules have the names of the products.
    public let modules: [String]

    /// Creates a permission to use a package.
    public init(_ identity: String, modules: [String] = []) {
        self.identity = identity
        self.modules = modules
    }

    /// Returns whether this is the package with the given identity. SwiftPM ignores the case of identities.
    func names(_ package: String) -> Bool { identity.lowercased() == package.lowercased() }
}

extension Ring {
    /// Creates a ring from the label of its node.
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

    /// The label of the node, as it is drawn.
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

    /// Parses modules. `A` is one module; in `A else B else C`, the others replace the first.
    private static func modules(_ items: [String], _ line: Int) throws(DiagramError) -> [SystemModule] {
        var modules: [SystemModule] = []
        for item in items {
            let words = item.words
            let names = words.enumerated().filter { $0.offset.isMultiple(of: 2) }.map(\.element)
            guard words.count == 2 * names.count - 1, words.filter({ $0 == "else" }).count == names.count - 1 else {
                throw DiagramError(line: line, "“\(item)” is not a module. Write “Module” or “Module else Module”.")
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
                    "“\(item)” is not a package. Write “package” or “package (Module, Module)”."
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
                throw DiagramError(
                    line: line,
                    "“\(item)” is not a tool that takes unsafe flags. The tools are \(names)."
                )
            }
            tools.append(tool)
        }
        return tools
    }
}

extension PackageUse: CustomStringConvertible {
    /// The package as a label spells it.
    public var description: String {
        modules.isEmpty ? identity : "\(identity) (\(modules.joined(separator: ", ")))"
    }
}

/// The contents of a node's label: a title, and lines such as `imports: Synchronization`.
struct RingLabel {
    /// The keys of a label's lines, in drawing order.
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

    /// Parses a label.
    ///
    /// - Throws: A ``DiagramError`` for a line that is neither the title nor a key with a list.
    init(_ label: String, line: Int) throws(DiagramError) {
        var titles: [String] = []
        var lists: [Key: [String]] = [:]
        for (index, part) in Self.parts(of: label).enumerated() where !part.isEmpty {
            let name = String(part.prefix { $0 != ":" }).trimmed
            let key = Key(rawValue: name)
            // The title may contain a colon. In later lines, an unknown key is reported as a mistake.
            guard let colon = part.firstIndex(of: ":"), index > 0 || key != nil else {
                titles.append(part)
                continue
            }
            guard let key else {
                let keys = Key.allCases.map { "“\($0.rawValue):”" }.joined(separator: ", ")
                throw DiagramError(
                    line: line,
                    "A label cannot have a line “\(name):”. It can have a title, and the lines \(keys)."
                )
            }
            guard lists[key] == nil else { throw DiagramError(line: line, "A label has “\(name):” twice.") }
            let items = Self.items(of: String(part[part.index(after: colon)...]))
            guard !items.isEmpty, !items.contains("") else {
                throw DiagramError(line: line, "“\(name):” needs one or more names, separated by commas.")
            }
            lists[key] = items
        }
        title = titles.isEmpty ? nil : titles.joined(separator: "<br/>")
        self.lists = lists
    }

    /// Returns the lines of the label. Mermaid breaks lines at `<br>` or `\n`.
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

    /// Splits a list at the commas outside parentheses.
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
