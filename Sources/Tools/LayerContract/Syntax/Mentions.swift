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
    ///   - tokens: the tokens.
    ///   - scopes: the scope of each token.
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

    /// Returns the text before the period that precedes the name; `nil` if there is no period, or if it ends `...`.
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
