/// A scanner that finds the declarations of a source from its tokens alone.
struct DeclarationScanner {
    private static let typeKeywords: Set<String> = ["struct", "class", "enum", "actor", "protocol"]
    private static let memberKeywords: Set<String> = [
        "func", "var", "let", "init", "subscript", "case", "typealias", "associatedtype", "macro",
    ]

    private static let keywords = typeKeywords.union(memberKeywords).union(["extension"])

    private let tokens: [Token]
    private var index = 0
    private var scopes: [DeclarationScope] = []
    /// The scope that the next brace opens.
    private var next: DeclarationScope?
    private var declarations = Declarations()
    /// The name and the inherited types of the declaration whose brace is next.
    private var nextType: (name: String, inherited: Set<String>)?
    private var scopesOfTokens: [Int] = []

    private init(_ tokens: [Token]) {
        self.tokens = tokens
        scopesOfTokens.reserveCapacity(tokens.count)
    }

    /// Returns the declarations of a source, and the scope number of each token.
    static func scan(_ tokens: [Token]) -> (declarations: Declarations, scopesOfTokens: [Int]) {
        var scanner = DeclarationScanner(tokens)
        scanner.run()
        return (scanner.declarations, scanner.scopesOfTokens)
    }

    private var scope: DeclarationScope? { scopes.last }

    private mutating func run() {
        while index < tokens.count {
            let token = tokens[index]
            scopesOfTokens.append(declarations.scopes.current)
            if token.kind == .mark {
                if token.text == "{" {
                    scopes.append(next ?? .body)
                    declarations.scopes.enter(type: nextType?.name, inheriting: nextType?.inherited ?? [])
                    next = nil
                    nextType = nil
                } else if token.text == "}" {
                    _ = scopes.popLast()
                    declarations.scopes.leave()
                }
            } else if token.kind == .word, Self.keywords.contains(token.text),
                !(index > 0 && tokens[index - 1].isMark("."))
            {
                readDeclaration(token.text)
            }
            index += 1
        }
    }

    private func token(_ distance: Int) -> Token? {
        index + distance < tokens.count ? tokens[index + distance] : nil
    }

    private mutating func readDeclaration(_ word: String) {
        if Self.typeKeywords.contains(word) {
            readType(word)
        } else if word == "extension", let extended = token(1), extended.isName || extended.kind == .mark {
            readExtension()
        } else if Self.memberKeywords.contains(word), scope?.kind != .body {
            readMember(word)
        }
    }

    // MARK: Types

    private mutating func readType(_ keyword: String) {
        guard let name = token(1), name.isName, let following = token(2) else { return }
        // Excludes `class func`, and an argument named `actor`.
        if keyword == "class", ["func", "var", "let", "subscript", "init"].contains(name.text), name.kind == .word {
            return
        }
        guard following.isMark("{") || following.isMark(":") || following.isMark("<") || following.isWord("where")
        else { return }
        let head = DeclarationHead(tokens, before: index)
        let access = head.attributes.contains("usableFromInline") ? .public : effectiveAccess(head)
        let signature = DeclarationSignature(tokens, from: index + 2, of: .braced)
        declarations.parameters.formUnion(signature.genericParameters)
        declarations.types.insert(name.text)
        declarations.scopes.declare(name.text)
        nextType = (name.text, inheritedNames(from: index + 2))
        if scope?.kind != .body {
            if access >= .package { declarations.visibleTypes.insert(name.text) }
            if access >= .internal {
                if scopes.isEmpty { declarations.topLevelTypes.insert(name.text) }
                if let extended = scope?.extended { declarations.extensionTypes.insert("\(extended).\(name.text)") }
            }
            show(signature, head, at: access)
        }
        next = DeclarationScope(
            kind: keyword == "protocol" ? .protocolType : keyword == "enum" ? .enumeration : .type,
            access: scope?.kind == .body ? .private : access,
            isFrozen: head.attributes.contains("frozen")
        )
    }

    /// Returns the names after the colon of a type or extension, outside angle brackets.
    private func inheritedNames(from start: Int) -> Set<String> {
        var names: Set<String> = []
        var depth = 0
        var isAfterColon = false
        for token in tokens[start...].prefix(while: { !$0.isMark("{") && !$0.isWord("where") }) {
            if token.isMark("<") { depth += 1 }
            if token.isMark(">") { depth -= 1 }
            if depth == 0, token.isMark(":") { isAfterColon = true }
            if depth == 0, isAfterColon, token.isName { names.insert(token.text) }
        }
        return names
    }

    private mutating func readExtension() {
        let head = DeclarationHead(tokens, before: index)
        let signature = DeclarationSignature(tokens, from: index + 1, of: .braced)
        if signature.hasColon { show(signature, head, at: .public) }
        let path = tokens[(index + 1)...].prefix { $0.isName || $0.isMark(".") }.prefix { !$0.isWord("where") }
        nextType = (path.map(\.text).joined(), inheritedNames(from: index + 1))
        next = DeclarationScope(
            kind: .typeExtension,
            access: head.access ?? .internal,
            extended: tokens[index + 1].text,
            head: signature.typeNames
        )
    }

    // MARK: Members

    private mutating func readMember(_ keyword: String) {
        guard let name = token(1), name.isName || name.kind == .mark, declares(keyword) else { return }
        let head = DeclarationHead(tokens, before: index)
        let access = keyword == "case" ? scope?.access ?? .internal : effectiveAccess(head)
        let form: DeclarationSignature.Form =
            switch keyword {
            case "var", "let": .variable
            case "typealias", "associatedtype", "case": .line
            default: .function
            }
        let signature = DeclarationSignature(tokens, from: index + 1, of: form)
        declarations.parameters.formUnion(signature.genericParameters)
        if name.isName { record(name, keyword, access, signature) }
        let isLayout = scope?.isFrozen == true && form == .variable
        show(signature, head, at: isLayout ? .public : access)
    }

    /// Returns whether the keyword begins a declaration here, rather than a pattern or a name.
    private func declares(_ keyword: String) -> Bool {
        switch keyword {
        case "case": scope?.kind == .enumeration
        case "macro": token(2)?.isMark("(") == true || token(2)?.isMark("<") == true
        default: true
        }
    }

    private mutating func record(
        _ name: Token,
        _ keyword: String,
        _ access: AccessLevel,
        _ signature: DeclarationSignature
    ) {
        switch keyword {
        case "associatedtype":
            declarations.parameters.insert(name.text)
            declarations.scopes.declare(name.text)
        case "typealias":
            declarations.types.insert(name.text)
            declarations.scopes.declare(name.text)
            if scopes.isEmpty, access >= .internal { declarations.topLevelTypes.insert(name.text) }
            guard access >= .package else { return }
            declarations.visibleTypes.insert(name.text)
            if let aliased = signature.aliased {
                declarations.aliases.append(Declarations.Alias(name: name.text, aliased: aliased, line: name.line))
            }
        default:
            break
        }
    }

    // MARK: Access

    private func effectiveAccess(_ head: DeclarationHead) -> AccessLevel {
        guard let scope else { return head.access ?? .internal }
        switch scope.kind {
        case .typeExtension: return head.access ?? scope.access
        case .protocolType: return scope.access
        case .type, .enumeration: return min(head.access ?? .internal, scope.access)
        case .body: return .private
        }
    }

    // MARK: Exposed types

    /// The attributes that make a declaration's body part of the interface, because callers inline it.
    private static let inlining: Set<String> = ["inlinable", "_alwaysEmitIntoClient", "_transparent", "backDeployed"]

    private mutating func show(_ signature: DeclarationSignature, _ head: DeclarationHead, at access: AccessLevel) {
        if isInlined(head) { declarations.unsettled.insert(.public) }
        let level = head.attributes.contains("usableFromInline") ? .public : access
        guard level >= .package else { return }
        let attributes = head.attributes.filter { $0.utf8.first?.isCapital == true }
        let names = signature.typeNames.union(attributes).union(scope?.head ?? [])
        declarations.shown[level, default: []].formUnion(names)
        if signature.isUnsettled { declarations.unsettled.insert(level) }
    }

    /// Returns whether the body of a declaration, or of one of its accessors, is part of the interface.
    private func isInlined(_ head: DeclarationHead) -> Bool {
        if !head.attributes.isDisjoint(with: Self.inlining) { return true }
        guard tokens[index].text == "var" || tokens[index].text == "subscript" else { return false }
        return tokens[index...].prefix(200).contains { Self.inlining.contains($0.text) }
    }
}

/// The scope that a brace opens.
struct DeclarationScope {
    enum Kind {
        case type, protocolType, enumeration, typeExtension, body
    }

    static let body = DeclarationScope(kind: .body, access: .private)

    let kind: Kind
    /// The maximum access level of members; in an extension, the default access level of members.
    let access: AccessLevel
    /// Whether the layout is part of the interface.
    var isFrozen = false
    /// The extended type, if the scope is an extension.
    var extended: String?
    /// The type names in an extension's head, which become part of the interface if a member is.
    var head: Set<String> = []
}

/// The declarations of a source, and the types that they expose.
struct Declarations: Sendable {
    /// An alias for a type from elsewhere.
    struct Alias: Sendable {
        let name: String
        let aliased: [String]
        let line: Int
    }

    /// The types in extensions that other files can see, qualified by the extended type: `Extended.Name`.
    var extensionTypes: Set<String> = []
    /// The file-level types that other files can see.
    var topLevelTypes: Set<String> = []
    /// The generic parameters and associated types.
    var parameters: Set<String> = []
    /// The scopes and the types that each declares.
    var scopes = LexicalScopes()
    /// The types at any depth.
    var types: Set<String> = []
    /// The types at any depth that other modules can see.
    var visibleTypes: Set<String> = []
    /// The type names that declarations expose, by access level.
    var shown: [AccessLevel: Set<String>] = [:]
    /// The access levels at which the source exposes types that its tokens do not show: inferred types or inlined bodies.
    var unsettled: Set<AccessLevel> = []
    /// The aliases that other modules can see.
    var aliases: [Alias] = []
}
