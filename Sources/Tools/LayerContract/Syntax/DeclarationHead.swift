/// The attributes and modifiers in front of a declaration.
struct DeclarationHead {
    private static let modifiers: Set<String> = [
        "static", "class", "final", "override", "required", "convenience", "mutating", "nonmutating", "lazy", "weak",
        "unowned", "unsafe", "safe", "dynamic", "optional", "indirect", "nonisolated", "isolated", "consuming",
        "borrowing", "prefix", "postfix", "infix", "async", "distributed", "__consuming", "sending",
        "public", "package", "internal", "fileprivate", "private", "open",
    ]

    /// The access level that it says.
    private(set) var access: AccessLevel?
    /// Its attributes, without arguments.
    private(set) var attributes: Set<String> = []

    /// Reads backwards from the word that declares.
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
            } else if previous.isMark(")"), let open = Self.parenthesis(closedAt: start - 1, tokens), open > 0 {
                let name = tokens[open - 1]
                if open > 1, name.isName, tokens[open - 2].isMark("@") {
                    attributes.insert(name.text)
                    start = open - 2
                } else if name.kind == .word, Self.modifiers.contains(name.text) {
                    // `private(set)` says nothing of the declaration itself.
                    start = open - 1
                } else {
                    break
                }
            } else {
                break
            }
        }
    }

    private static func parenthesis(closedAt end: Int, _ tokens: [Token]) -> Int? {
        var depth = 0
        for index in stride(from: end, through: 0, by: -1) {
            if tokens[index].isMark(")") { depth += 1 }
            if tokens[index].isMark("(") {
                depth -= 1
                if depth == 0 { return index }
            }
        }
        return nil
    }
}
