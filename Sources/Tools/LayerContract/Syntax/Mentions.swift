/// The types that a source mentions.
struct Mentions: Sendable {
    /// Names that stand for themselves, each with its first line.
    private(set) var names: [String: Int] = [:]
    /// Names behind another one, with it, each with its first line: `Outer.Name`.
    private(set) var members: [String: Int] = [:]

    init(_ tokens: [Token]) {
        var isPassedOver = false
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
            } else if !Self.isOtherName(index, tokens), names[token.text] == nil {
                names[token.text] = token.line
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
