/// The names that a source mentions.
struct Mentions: Sendable {
    /// Names that stand for themselves, each with its first line.
    private(set) var names: [String: Int] = [:]
    /// Names behind a period, each with its first line.
    private(set) var members: [String: Int] = [:]
    /// Names that are called: `name(`.
    private(set) var calls: [String: Int] = [:]

    init(_ tokens: [Token]) {
        var previous: Token?
        for (index, token) in tokens.enumerated() {
            defer { previous = token }
            guard token.isName else { continue }
            if let previous, previous.isMark("."), !isOperator(behind: index - 2, tokens) {
                if members[token.text] == nil { members[token.text] = token.line }
            } else if token.text.utf8.first.map({ $0 >= 65 && $0 <= 90 }) == true {
                if names[token.text] == nil { names[token.text] = token.line }
            } else if index + 1 < tokens.count, tokens[index + 1].isMark("("), previous?.isWord("func") != true {
                if calls[token.text] == nil { calls[token.text] = token.line }
            }
        }
    }
}

/// Whether the period behind this place is the end of `...` or `..<`, behind which a name stands for itself.
private func isOperator(behind index: Int, _ tokens: [Token]) -> Bool {
    index >= 0 && tokens[index].isMark(".")
}
