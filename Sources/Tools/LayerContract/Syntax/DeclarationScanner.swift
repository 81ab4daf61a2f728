/// Finds what a source declares, from its tokens alone.
struct DeclarationScanner {
    private static let typeKeywords: Set<String> = ["struct", "class", "enum", "actor", "protocol"]
    private static let memberKeywords: Set<String> = [
        "func", "var", "let", "init", "subscript", "case", "typealias", "associatedtype", "macro",
    ]

    private static let keywords = typeKeywords.union(memberKeywords).union(["extension"])

    private let tokens: [Token]
    private var index = 0
    private var scopes: [DeclarationScope] = []
    /// What the next brace opens.
    private var next: DeclarationScope?
    private var declarations = Declarations()

    private init(_ tokens: [Token]) {
        self.tokens = tokens
    }

    /// What a source declares.
    static func declarations(of tokens: [Token]) -> Declarations {
        var scanner = DeclarationScanner(tokens)
        scanner.run()
        return scanner.declarations
    }

    private var scope: DeclarationScope? { scopes.last }

    private mutating func run() {
        while index < tokens.count {
            let token = tokens[index]
            if token.kind == .mark {
                if token.text == "{" {
                    scopes.append(next ?? .body)
                    next = nil
                } else if token.text == "}" {
                    _ = scopes.popLast()
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
        guard let name = token(1), name.isName, let behind = token(2) else { return }
        // `class func`, an argument called `actor`.
        if keyword == "class", ["func", "var", "let", "subscript", "init"].contains(name.text), name.kind == .word {
            return
        }
        guard behind.isMark("{") || behind.isMark(":") || behind.isMark("<") || behind.isWord("where") else { return }
        let head = DeclarationHead(tokens, before: index)
        let access = head.attributes.contains("usableFromInline") ? .public : effectiveAccess(head)
        let signature = DeclarationSignature(tokens, from: index + 2, of: .braced)
        declarations.parameters.formUnion(signature.genericParameters)
        declarations.types.insert(name.text)
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

    private mutating func readExtension() {
        let head = DeclarationHead(tokens, before: index)
        let signature = DeclarationSignature(tokens, from: index + 1, of: .braced)
        if signature.hasColon { show(signature, head, at: .public) }
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

    /// Whether the word declares something here, and is no pattern or name.
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
        case "typealias":
            declarations.types.insert(name.text)
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

    // MARK: What is shown

    /// Attributes whose declarations are built into whoever uses them, bodies included.
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

    /// Whether a body is part of the interface: of the declaration, or of one of its accessors.
    private func isInlined(_ head: DeclarationHead) -> Bool {
        if !head.attributes.isDisjoint(with: Self.inlining) { return true }
        guard tokens[index].text == "var" || tokens[index].text == "subscript" else { return false }
        return tokens[index...].prefix(200).contains { Self.inlining.contains($0.text) }
    }
}
