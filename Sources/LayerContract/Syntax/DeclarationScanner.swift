/// Finds what a source declares, from its tokens alone.
struct DeclarationScanner {
    private static let typeKeywords: Set<String> = ["struct", "class", "enum", "actor", "protocol"]
    private static let memberKeywords: Set<String> = ["func", "var", "let", "init", "subscript", "case", "typealias"]

    private static let keywords = typeKeywords.union(memberKeywords).union(["extension", "associatedtype"])

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
        } else if word == "extension", token(1)?.isName == true {
            readExtension()
        } else if word == "associatedtype", let name = token(1), name.isName {
            declarations.types.insert(name.text)
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
        let access = effectiveAccess(head)
        let signature = DeclarationSignature(tokens, from: index + 2, of: .braced)
        declarations.types.formUnion(signature.genericParameters)
        declarations.types.insert(name.text)
        if scope?.kind != .body {
            if access >= .package { declarations.visibleTypes.insert(name.text) }
            if scopes.isEmpty, access >= .internal { declarations.topLevelTypes.insert(name.text) }
            show(signature.typeNames.union(attributeNames(head)), at: access)
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
        let conforms = signature.hasColon
        if conforms { show(signature.typeNames, at: .public) }
        next = DeclarationScope(
            kind: .typeExtension,
            access: head.access ?? .internal,
            saysAccess: head.access != nil,
            plainlyExtended: conforms ? nil : tokens[index + 1].text,
            head: signature.typeNames
        )
    }

    // MARK: Members

    private mutating func readMember(_ keyword: String) {
        let isCase = keyword == "case"
        guard !isCase || scope?.kind == .enumeration else { return }
        guard let name = token(1), keyword == "init" || keyword == "subscript" || name.isName || name.kind == .mark
        else { return }
        let head = DeclarationHead(tokens, before: index)
        let access = isCase ? scope?.access ?? .internal : effectiveAccess(head)
        let form: DeclarationSignature.Form =
            switch keyword {
            case "var", "let": .variable
            case "typealias", "case": .line
            default: .function
            }
        var signature = DeclarationSignature(tokens, from: index + 1, of: form)
        if access == .public || head.attributes.contains("usableFromInline"), Self.isInlined(head) {
            signature.addBody(tokens)
        }
        declarations.types.formUnion(signature.genericParameters)
        record(name, keyword, access, signature)
        let isLayout = scope?.isFrozen == true && form == .variable
        let level = head.attributes.contains("usableFromInline") || isLayout ? .public : access
        guard level >= .package else { return }
        show(signature.typeNames.union(attributeNames(head)).union(scope?.head ?? []), at: level)
        if signature.isInferredFromCall { declarations.inferred.insert(level) }
    }

    private static func isInlined(_ head: DeclarationHead) -> Bool {
        !head.attributes.isDisjoint(with: ["inlinable", "_alwaysEmitIntoClient", "_transparent", "export"])
    }

    private mutating func record(
        _ name: Token,
        _ keyword: String,
        _ access: AccessLevel,
        _ signature: DeclarationSignature
    ) {
        guard name.isName, keyword != "init", keyword != "subscript" else { return }
        guard let scope else {
            guard access >= .internal else { return }
            switch keyword {
            case "func": declarations.topLevelFunctions.insert(name.text)
            case "typealias": recordAlias(name, access, signature)
            default: break
            }
            return
        }
        if keyword == "typealias" { declarations.types.insert(name.text) }
        if keyword == "typealias", access >= .package { declarations.visibleTypes.insert(name.text) }
        if scope.kind == .typeExtension, let extended = scope.plainlyExtended, access >= .internal {
            declarations.extensionMembers[extended, default: []].insert(name.text)
        } else {
            declarations.members.insert(name.text)
        }
    }

    private mutating func recordAlias(_ name: Token, _ access: AccessLevel, _ signature: DeclarationSignature) {
        declarations.types.insert(name.text)
        declarations.topLevelTypes.insert(name.text)
        guard access >= .package else { return }
        declarations.visibleTypes.insert(name.text)
        if let aliased = signature.aliased {
            declarations.aliases.append(Declarations.Alias(name: name.text, aliased: aliased, line: name.line))
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

    private mutating func show(_ names: Set<String>, at level: AccessLevel) {
        guard level >= .package else { return }
        declarations.shown[level, default: []].formUnion(names)
    }

    private func attributeNames(_ head: DeclarationHead) -> Set<String> {
        head.attributes.filter { $0.utf8.first?.isCapital == true }
    }
}
