/// The scopes of a Swift source and the types that each declares.
///
/// The types in scope can shadow types of other files.
struct LexicalScopes: Sendable {
    /// A pair of braces, or the whole file.
    struct Scope: Sendable {
        /// The number of the enclosing scope, or `nil` for the file.
        let parent: Int?
        /// The qualified name of the type that the scope belongs to or extends, such as `Outer.Inner`, or `nil` for a function body
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

    /// Returns whether a name may refer to a type that is declared in the scope, in an enclosing scope, or in a type that one
    /// of these scopes' types inherits from.
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

/// The types that a source mentions.
struct Mentions: Sendable {
    /// The first mention of a name in a scope.
    struct Mention: Hashable, Sendable {
        let name: String
        let line: Int
        /// The number of the scope in the source's ``LexicalScopes``.
        let scope: Int
    }

    /// The unqualified names, in source order.
    private(set) var names: [Mention] = []
    /// The qualified names, such as `Outer.Name`, with the first line of each.
    private(set) var members: [String: Int] = [:]

    /// Creates an empty collection of mentions.
    init() {}

    /// Collects the mentions from the tokens of a source.
    ///
    /// - Parameters:
    ///   - tokens: The tokens.
    ///   - scopes: The scope of each token.
    init(_ tokens: [Token], scopes: [Int]) {
        var isPassedOver = false
        var seen: Set<[String]> = []
        for index in tokens.indices {
            let token = tokens[index]
            // Names in imports and conditions are modules and platforms, not types.
            if token.startsLine { isPassedOver = false }
            if token.isWord("import") || (token.kind == .directive && ["if", "elseif"].contains(token.text)) {
                isPassedOver = true
            }
            guard token.isTypeName, !isPassedOver else { continue }
            if let outer = Self.outerName(of: index, tokens) {
                let name = "\(outer).\(token.text)"
                if members[name] == nil { members[name] = token.line }
            } else if !Self.isOtherName(index, tokens), seen.insert([token.text, "\(scopes[index])"]).inserted {
                names.append(Mention(name: token.text, line: token.line, scope: scopes[index]))
            }
        }
    }

    /// Returns the text before the period that precedes the name, or `nil` if there is no period, or if the period ends `...`.
    private static func outerName(of index: Int, _ tokens: [Token]) -> String? {
        guard index > 0, tokens[index - 1].isMark("."), !(index > 1 && tokens[index - 2].isMark(".")) else {
            return nil
        }
        return index > 1 ? tokens[index - 2].text : ""
    }

    /// Returns whether the name is not a type, but an enumeration case or an argument label.
    private static func isOtherName(_ index: Int, _ tokens: [Token]) -> Bool {
        guard index > 0, index + 1 < tokens.count else { return false }
        if tokens[index - 1].isWord("case") { return !tokens[index + 1].isMark(".") }
        return tokens[index + 1].isMark(":") && (tokens[index - 1].isMark("(") || tokens[index - 1].isMark(","))
    }
}
