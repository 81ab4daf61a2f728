/// The names that a source mentions.
struct Mentions: Sendable {
    /// Names of types that stand for themselves, each with its first line.
    private(set) var names: [String: Int] = [:]
    /// Names of types behind a period, each with its first line.
    private(set) var members: [String: Int] = [:]
    /// Other names that are called, each with its first line: `name(`.
    private(set) var calls: [String: Int] = [:]
    /// Names that the source gives to something of its own: a function, a variable, a parameter.
    private(set) var given: Set<String> = []

    private static let givers: Set<String> = ["func", "let", "var", "case", "for"]

    init(_ tokens: [Token]) {
        for index in tokens.indices where tokens[index].isName {
            let name = tokens[index].text
            let line = tokens[index].line
            let next = index + 1 < tokens.count ? tokens[index + 1] : nil
            let isMember = Self.isMember(index, tokens)
            if tokens[index].isTypeName {
                if isMember {
                    if members[name] == nil { members[name] = line }
                } else if names[name] == nil {
                    names[name] = line
                }
            } else if next?.isMark(":") == true || (index > 0 && Self.givers.contains(tokens[index - 1].text)) {
                given.insert(name)
            } else if !isMember, next?.isMark("(") == true {
                if calls[name] == nil { calls[name] = line }
            }
        }
    }

    /// Whether a period stands in front, and not the end of `...`, behind which a name stands for itself.
    private static func isMember(_ index: Int, _ tokens: [Token]) -> Bool {
        index > 0 && tokens[index - 1].isMark(".") && !(index > 1 && tokens[index - 2].isMark("."))
    }
}
