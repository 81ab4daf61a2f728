/// What a declaration says of itself before its body.
struct DeclarationSignature {
    enum Form {
        /// Up to its brace.
        case braced
        /// Up to its brace, or to the end of its line.
        case function
        /// Up to the brace of its accessors, or to the end of its line, initial value included.
        case variable
        /// Up to the end of its line.
        case line
    }

    /// The type names in it.
    private(set) var typeNames: Set<String> = []
    /// The generic parameters that it declares.
    private(set) var genericParameters: Set<String> = []
    /// Whether a colon stands in it.
    private(set) var hasColon = false
    /// Whether its type is that of something that is called or read, which the source does not tell.
    private(set) var isInferredFromCall = false
    /// Behind `=`, if nothing but a name with periods stands there.
    private(set) var aliased: [String]?

    private var end: Int

    /// What may begin a line that goes on with the declaration in front of it.
    private static let continuations: Set<String> = [
        "->", "-", "where", "throws", "async", "rethrows", "{", "=", ",", ".", "&", "?", ":", "|", "+", ">", ")",
    ]

    init(_ tokens: [Token], from start: Int, of form: Form) {
        end = start
        var depth = 0
        var equals: Int?
        while end < tokens.count {
            let token = tokens[end]
            if depth == 0, Self.ends(at: end, from: start, tokens, form) { break }
            if token.kind == .mark {
                switch token.text {
                case "(", "[", "{": depth += 1
                case ")", "]", "}": depth -= 1
                case ":" where depth == 0 && equals == nil:
                    hasColon = true
                case "=" where depth == 0 && equals == nil: equals = end
                default: break
                }
                if depth < 0 { break }
            } else if token.isTypeName {
                typeNames.insert(token.text)
            }
            end += 1
        }
        readGenericParameters(tokens, from: start)
        if let equals { readValue(tokens[(equals + 1)..<end]) }
    }

    private static func ends(at index: Int, from start: Int, _ tokens: [Token], _ form: Form) -> Bool {
        let token = tokens[index]
        if token.isMark("{") || token.isMark("}") || token.isMark(";") { return true }
        guard form != .braced, token.startsLine, index > start else { return false }
        let previous = tokens[index - 1]
        let goesOn = previous.kind == .mark && "=,:&|.<-+".contains(previous.text)
        return !goesOn && !continuations.contains(token.text)
    }

    /// `<A, B: P>` directly behind a name.
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
        guard let first = value.first else { return }
        let names = value.filter(\.isName).map(\.text)
        if value.allSatisfy({ $0.isName || $0.isMark(".") }), !names.isEmpty { aliased = names }
        if !hasColon, first.kind == .word, !first.isTypeName,
            first.text != "true", first.text != "false"
        {
            isInferredFromCall = true
        }
    }

    /// Takes the body for a part of the interface, as it is of an inlinable function.
    mutating func addBody(_ tokens: [Token]) {
        guard end < tokens.count, tokens[end].isMark("{") else { return }
        var depth = 0
        for token in tokens[end...] {
            if token.isMark("{") { depth += 1 }
            if token.isMark("}") { depth -= 1 }
            if token.isTypeName {
                typeNames.insert(token.text)
            }
            if depth == 0 { return }
        }
    }
}
