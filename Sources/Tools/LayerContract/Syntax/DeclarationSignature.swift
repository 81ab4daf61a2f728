/// The attributes and modifiers before a declaration's keyword.
struct DeclarationHead {
    private static let modifiers: Set<String> = [
        "static", "class", "final", "override", "required", "convenience", "mutating", "nonmutating", "lazy", "weak",
        "unowned", "unsafe", "safe", "dynamic", "optional", "indirect", "nonisolated", "isolated", "consuming",
        "borrowing", "prefix", "postfix", "infix", "async", "distributed", "__consuming", "sending",
        "public", "package", "internal", "fileprivate", "private", "open",
    ]

    /// The explicit access level.
    private(set) var access: AccessLevel?
    /// The names of the attributes, without arguments.
    private(set) var attributes: Set<String> = []

    /// Reads backward from the declaration's keyword.
    init(_ tokens: [Token], before keyword: Int) {
        var start = keyword
        while start > 0 {
            let previous = tokens[start - 1]
            if previous.isName, start > 1, tokens[start - 2].isMark("@") {
                attributes.insert(previous.text)
                start -= 2
            } else if previous.kind == .word, Self.modifiers.contains(previous.text) {
                access = access ?? AccessLevel(modifier: previous.text)
                start -= 1
            } else if previous.isMark(")"), let open = tokens.openParenthesis(closedAt: start - 1), open > 0 {
                let name = tokens[open - 1]
                if open > 1, name.isName, tokens[open - 2].isMark("@") {
                    attributes.insert(name.text)
                    start = open - 2
                } else if name.kind == .word, Self.modifiers.contains(name.text) {
                    // `private(set)` does not affect the access level of the declaration itself.
                    start = open - 1
                } else {
                    break
                }
            } else {
                break
            }
        }
    }
}

extension [Token] {
    /// Returns the index of the opening parenthesis that matches the closing one at `end`.
    func openParenthesis(closedAt end: Int) -> Int? {
        var depth = 0
        for index in stride(from: end, through: 0, by: -1) {
            if self[index].isMark(")") { depth += 1 }
            if self[index].isMark("(") {
                depth -= 1
                if depth == 0 { return index }
            }
        }
        return nil
    }
}

/// The access level of a declaration.
///
/// ```swift
/// func publicImports(of source: SourceFacts) -> [String] {
///     source.imports.filter { $0.access == .public }.map(\.text)
/// }
/// ```
public enum AccessLevel: Int, Sendable, Comparable {
    case `private`, `fileprivate`, `internal`, `package`, `public`

    /// Creates the level that a modifier names. `open` counts as public.
    init?(modifier: String) {
        switch modifier {
        case "private": self = .private
        case "fileprivate": self = .fileprivate
        case "internal": self = .internal
        case "package": self = .package
        case "public", "open": self = .public
        default: return nil
        }
    }

    /// Orders levels from the most restricted to the most visible.
    public static func < (one: AccessLevel, other: AccessLevel) -> Bool { one.rawValue < other.rawValue }
}

/// The part of a declaration before its body.
struct DeclarationSignature {
    enum Form {
        /// Ends at the opening brace.
        case braced
        /// Ends at the opening brace or the end of the line.
        case function
        /// Ends at the opening brace of the accessors or the end of the line, and includes the initial value.
        case variable
        /// Ends at the end of the line.
        case line
    }

    /// The names in the signature that may be types.
    private(set) var typeNames: Set<String> = []
    /// The generic parameters that the declaration introduces.
    private(set) var genericParameters: Set<String> = []
    /// Whether the signature contains a colon outside parentheses.
    private(set) var hasColon = false
    /// Whether the signature exposes types that it does not spell out, such as an inferred type or a computed default value.
    private(set) var isUnsettled = false
    /// The components of the type name after `=`, if a single type name is all that follows.
    private(set) var aliased: [String]?

    private var end: Int

    /// The maximum number of tokens to read. A longer signature counts as unsettled.
    private static let longest = 256
    /// The tokens that continue the previous line's declaration when they begin a line.
    private static let continuations: Set<String> = [
        "-", "where", "throws", "async", "rethrows", "{", "=", ",", ".", "&", "?", ":", "|", "+", ">", ")",
    ]
    /// The words that modify a type.
    private static let typeModifiers: Set<String> = [
        "any", "some", "inout", "borrowing", "consuming", "sending", "isolated", "repeat", "each",
    ]
    private static let literals: Set<String> = ["true", "false", "nil"]

    init(_ tokens: [Token], from start: Int, of form: Form) {
        end = start
        var depth = 0
        var value: Int?
        while end < tokens.count {
            guard end - start < Self.longest else {
                isUnsettled = true
                break
            }
            if depth == 0, Self.ends(at: end, from: start, tokens, form) { break }
            switch tokens[end].kind {
            case .mark:
                switch tokens[end].text {
                case "(", "[", "{": depth += 1
                case ")", "]", "}": depth -= 1
                case ":" where depth == 0 && value == nil: hasColon = true
                case "," where depth == 0 && form == .variable:
                    isUnsettled = true
                case "=" where Self.assigns(at: end, tokens):
                    if depth > 0, !Self.isLiteral(at: end + 1, tokens) { isUnsettled = true }
                    if depth == 0, value == nil { value = end + 1 }
                default: break
                }
            case .word, .quotedWord:
                if Self.mayBeType(at: end, from: start, tokens, isListed: depth > 0 || form == .braced) {
                    typeNames.insert(tokens[end].text)
                }
            case .string, .literal, .directive: break
            }
            if depth < 0 { break }
            end += 1
        }
        readGenericParameters(tokens, from: start)
        if let value { readValue(tokens[min(value, end)..<end]) }
    }

    private static func ends(at index: Int, from start: Int, _ tokens: [Token], _ form: Form) -> Bool {
        let token = tokens[index]
        if token.isMark("{") || token.isMark("}") || token.isMark(";") { return true }
        guard form != .braced, token.startsLine, index > start else { return false }
        let previous = tokens[index - 1]
        let goesOn = previous.kind == .mark && "=,:&|.<-+".contains(previous.text)
        return !goesOn && !isArrow(endingAt: index - 1, tokens) && !continuations.contains(token.text)
    }

    private static func isArrow(endingAt index: Int, _ tokens: [Token]) -> Bool {
        index > 0 && tokens[index].isMark(">") && tokens[index - 1].isMark("-")
    }

    /// Returns whether a name may be a type: it begins with a capital letter or an underscore, or it is in a type position
    /// and is not a label.
    private static func mayBeType(at index: Int, from start: Int, _ tokens: [Token], isListed: Bool) -> Bool {
        if tokens[index].isTypeName || tokens[index].text.hasPrefix("_") && tokens[index].text != "_" { return true }
        guard index > start, !typeModifiers.contains(tokens[index].text) else { return false }
        let previous = tokens[index - 1]
        if previous.isMark(":") || previous.isMark("<") || isArrow(endingAt: index - 1, tokens) { return true }
        if previous.kind == .word, typeModifiers.contains(previous.text) { return true }
        let isElement = previous.isMark("[") || previous.isMark("(") || previous.isMark(",") && isListed
        let isLabel = index + 1 < tokens.count && (tokens[index + 1].isMark(":") || tokens[index + 1].isName)
        return isElement && !isLabel
    }

    /// Returns whether the token is `=` and not part of a comparison.
    private static func assigns(at index: Int, _ tokens: [Token]) -> Bool {
        let neighbors = [
            index > 0 ? tokens[index - 1].text : "", index + 1 < tokens.count ? tokens[index + 1].text : "",
        ]
        return !neighbors.contains("=") && !["!", "<"].contains(neighbors[0])
    }

    /// Returns whether a default value is only a literal: `1`, `-1`, `""`, `nil`, `[]`, or `[:]`.
    private static func isLiteral(at index: Int, _ tokens: [Token]) -> Bool {
        let value = tokens[index...].prefix(5).prefix { !$0.isMark(",") && !$0.isMark(")") }
        if value.allSatisfy({ ["[", ":", "]"].contains($0.text) && $0.kind == .mark }) { return true }
        let unsigned = value.first?.isMark("-") == true ? value.dropFirst() : value
        guard unsigned.count == 1, let only = unsigned.first else { return false }
        return only.kind == .literal || only.kind == .string || literals.contains(only.text)
    }

    /// Reads generic parameters such as `<A, B: P>` directly after a name.
    private mutating func readGenericParameters(_ tokens: [Token], from start: Int) {
        guard let open = tokens[start..<end].prefix(3).firstIndex(where: { $0.isMark("<") }) else { return }
        var depth = 0
        for index in open..<end {
            if tokens[index].isMark("<") { depth += 1 }
            if tokens[index].isMark(">") {
                depth -= 1
                if depth == 0 { return }
            }
            let isFirst = tokens[index].isMark("<") || tokens[index].isMark(",")
            guard depth == 1, isFirst, index + 1 < end else { continue }
            let words = tokens[(index + 1)..<end].prefix { $0.isName }
            if let name = words.last { genericParameters.insert(name.text) }
        }
    }

    private mutating func readValue(_ value: ArraySlice<Token>) {
        let words = value.filter(\.isName).map(\.text)
        if value.allSatisfy({ $0.isName || [".", "(", ")"].contains($0.text) }) {
            let names = words.filter { !Self.typeModifiers.contains($0) }
            if !names.isEmpty { aliased = names }
        }
        // A value that begins with a brace leaves no tokens here.
        let isInferred = value.isEmpty || !value.allSatisfy(Self.tellsItsType)
        if !hasColon, isInferred { isUnsettled = true }
    }

    /// Returns whether a token keeps the type of an initial value evident from the source.
    private static func tellsItsType(_ token: Token) -> Bool {
        switch token.kind {
        case .word, .quotedWord: token.isTypeName || literals.contains(token.text)
        case .mark: ["(", ")", "[", "]", ",", ":"].contains(token.text)
        case .string, .literal: true
        case .directive: false
        }
    }
}
