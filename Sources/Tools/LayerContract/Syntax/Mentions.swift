/// The types that a source mentions.
struct Mentions: Sendable {
    /// A name, where it is mentioned first in a scope.
    struct Mention: Hashable, Sendable {
        let name: String
        let line: Int
        /// The scope, by its number in the source's ``LexicalScopes``.
        let scope: Int
    }

    /// Names that stand for themselves, in the order of the source.
    private(set) var names: [Mention] = []
    /// Names behind another one, with it, each with its first line: `Outer.Name`.
    private(set) var members: [String: Int] = [:]

    /// Nothing.
    init() {}

    /// Reads the tokens of a source.
    ///
    /// - Parameters:
    ///   - tokens: the tokens.
    ///   - scopes: the scope of each token.
    init(_ tokens: [Token], scopes: [Int]) {
        var isPassedOver = false
        var seen: Set<[String]> = []
        for index in tokens.indices {
            let token = tokens[index]
            // Imports and conditions name modules and platforms.
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

    /// What stands in front of the period behind which the name stands; `nil` if none does, or if the period is the end
    /// of `...`.
    private static func outerName(of index: Int, _ tokens: [Token]) -> String? {
        guard index > 0, tokens[index - 1].isMark("."), !(index > 1 && tokens[index - 2].isMark(".")) else {
            return nil
        }
        return index > 1 ? tokens[index - 2].text : ""
    }

    /// Whether the name is given to something that is no type: the case of an enumeration, the label of an argument.
    private static func isOtherName(_ index: Int, _ tokens: [Token]) -> Bool {
        guard index > 0, index + 1 < tokens.count else { return false }
        if tokens[index - 1].isWord("case") { return !tokens[index + 1].isMark(".") }
        return tokens[index + 1].isMark(":") && (tokens[index - 1].isMark("(") || tokens[index - 1].isMark(","))
    }
}
