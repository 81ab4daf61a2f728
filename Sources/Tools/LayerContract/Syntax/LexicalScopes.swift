/// The scopes of a Swift source, and the types that each of them declares: what may stand between a name and a type of
/// another file.
struct LexicalScopes: Sendable {
    /// A pair of braces, or the file.
    struct Scope: Sendable {
        /// The scope around it; `nil` for the file.
        let parent: Int?
        /// The type that it belongs to or extends, behind those that it is in: `Outer.Inner`; `nil` for the body of a
        /// function, and what is in one.
        let type: String?
        /// The types that are declared in it directly.
        var types: Set<String> = []
    }

    /// The scopes by their numbers; the first is the file.
    private(set) var scopes = [Scope(parent: nil, type: nil)]
    /// What types and extensions name as superclass or protocols, by the type.
    private(set) var inherited: [String: Set<String>] = [:]
    private var open = [0]

    /// The number of the innermost scope that is open.
    var current: Int { open[open.count - 1] }

    /// Opens the scope of a type, of an extension or of a body.
    mutating func enter(type name: String?, inheriting names: Set<String> = []) {
        let type = name.flatMap(path)
        if let type { inherited[type, default: []].formUnion(names) }
        scopes.append(Scope(parent: current, type: type))
        open.append(scopes.count - 1)
    }

    /// Closes the innermost scope that is open.
    mutating func leave() {
        if open.count > 1 { open.removeLast() }
    }

    /// Records a type of the innermost scope.
    mutating func declare(_ type: String) {
        scopes[current].types.insert(type)
    }

    private func path(_ name: String) -> String? {
        if current == 0 { return name }
        return scopes[current].type.map { "\($0).\(name)" }
    }
}

/// The types that are nested in others, in all sources of a target.
struct NestedTypes {
    private var types: [String: Set<String>] = [:]
    private var inherited: [String: Set<String>] = [:]
    private let moduleName: String

    init(_ trees: [LexicalScopes], moduleName: String) {
        self.moduleName = moduleName
        for tree in trees {
            for scope in tree.scopes {
                guard let type = scope.type else { continue }
                types[withoutModule(type), default: []].formUnion(scope.types)
            }
            for (type, names) in tree.inherited { inherited[withoutModule(type), default: []].formUnion(names) }
        }
    }

    /// Whether a name in a scope may stand for a type of the scope, of one around it, or of what their types inherit.
    func shadow(_ name: String, in scope: Int, of tree: LexicalScopes) -> Bool {
        var next: Int? = scope
        while let number = next {
            let scope = tree.scopes[number]
            if scope.types.contains(name) { return true }
            if let type = scope.type, declares(name, in: withoutModule(type)) { return true }
            next = scope.parent
        }
        return false
    }

    private func declares(_ name: String, in type: String) -> Bool {
        // `extension Outer.Inner` is in no scope of `Outer`, and may see its types all the same.
        let parts = type.split(separator: ".")
        var waiting = parts.indices.map { parts[...$0].joined(separator: ".") }
        var seen: Set<String> = []
        while let next = waiting.popLast() {
            guard seen.insert(next).inserted else { continue }
            if types[next]?.contains(name) == true { return true }
            waiting += inherited[next] ?? []
        }
        return false
    }

    private func withoutModule(_ type: String) -> String {
        type.hasPrefix("\(moduleName).") ? String(type.dropFirst(moduleName.count + 1)) : type
    }
}
