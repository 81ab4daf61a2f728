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
}

extension PackageUse: CustomStringConvertible {
    /// The package as a label names it.
    public var description: String {
        modules.isEmpty ? identity : "\(identity) (\(modules.joined(separator: ", ")))"
    }
}
