/// The scopes of a Swift source and the types that each declares.
///
/// The types in scope can shadow types of other files.
struct LexicalScopes: Sendable {
    /// A pair of braces, or the whole file.
    struct Scope: Sendable {
        /// The number of the enclosing scope; `nil` for the file.
        let parent: Int?
        /// The qualified name of the type that the scope belongs to or extends, such as `Outer.Inner`; `nil` for a function body
        /// and any scope in one.
        let type: String?
        /// The types that the scope declares directly.
        var types: Set<String> = []
    }

    /// The scopes by number. The first is the file.
    private(set) var scopes = [Scope(parent: nil, type: nil)]
    /// The names of the superclass and protocols that types and extensions inherit from, by type.
    private(set) var inherited: [String: Set<String>] = [:]
    private var open = [0]

    /// The number of the innermost open scope.
    var current: Int { open[open.count - 1] }

    /// Opens the scope of a type, an extension, or a body.
    mutating func enter(type name: String?, inheriting names: Set<String> = []) {
        let type = name.flatMap(path)
        if let type { inherited[type, default: []].formUnion(names) }
        scopes.append(Scope(parent: current, type: type))
        open.append(scopes.count - 1)
    }

    /// Closes the innermost open scope.
    mutating func leave() {
        if open.count > 1 { open.removeLast() }
    }

    /// Records a type in the innermost open scope.
    mutating func declare(_ type: String) {
        scopes[current].types.insert(type)
    }

    private func path(_ name: String) -> String? {
        if current == 0 { return name }
        return scopes[current].type.map { "\($0).\(name)" }
    }
}

/// The nested types in all sources of a target.
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

    /// Returns whether a name may refer to a type in the scope, in an enclosing scope, or in a type that theirs inherit from.
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
        // `extension Outer.Inner` is not in a scope of `Outer`, but can see its types.
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
