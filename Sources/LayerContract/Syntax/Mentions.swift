/// The names that a source mentions.
struct Mentions: Sendable {
    /// Names of types that stand for themselves, each with its first line.
    private(set) var names: [String: Int] = [:]
    /// Names behind a period, each with its first line.
    private(set) var members: [String: Int] = [:]
    /// Other names that are called: `name(`.
    private(set) var calls: [String: Int] = [:]

    init(_ tokens: [Token]) {
        for index in tokens.indices where tokens[index].isName {
            let name = tokens[index].text
            let line = tokens[index].line
            if Self.isMember(index, tokens) {
                if members[name] == nil { members[name] = line }
            } else if tokens[index].isTypeName {
                if names[name] == nil { names[name] = line }
            } else if index + 1 < tokens.count, tokens[index + 1].isMark("("),
                !(index > 0 && tokens[index - 1].isWord("func"))
            {
                if calls[name] == nil { calls[name] = line }
            }
        }
    }

    /// Whether a period stands in front, and not the end of `...`, behind which a name stands for itself.
    private static func isMember(_ index: Int, _ tokens: [Token]) -> Bool {
        index > 0 && tokens[index - 1].isMark(".") && !(index > 1 && tokens[index - 2].isMark("."))
    }
}
