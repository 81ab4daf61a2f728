/// Tells a regular expression from a division.
enum RegularExpressionEnd {
    /// How far an expression in a line is looked for, in bytes. Without an end to it, a long line full of slashes would
    /// be read once for each of them.
    private static let longest = 4096

    /// The words behind which an expression begins.
    private static let openers: Set<String> = [
        "return", "in", "case", "where", "try", "await", "throw", "if", "while", "guard", "switch", "else", "is", "as",
        "yield", "then",
    ]

    /// Where `/…/` ends, if the slash at this place begins one: an expression can begin there, no space follows, and
    /// the line holds another slash.
    static func bare(in bytes: [UInt8], from start: Int, behind token: Token?) -> Int? {
        guard canBeginExpression(behind: token) else { return nil }
        var index = start + 1
        guard index < bytes.count, bytes[index] != .space, bytes[index] != .tab else { return nil }
        var parentheses = 0
        while index < min(bytes.count, start + longest), bytes[index] != .newline {
            switch bytes[index] {
            case .backslash: index += 1
            case .openParenthesis: parentheses += 1
            case .closeParenthesis:
                parentheses -= 1
                if parentheses < 0 { return nil }
            case .slash: return bytes[index - 1] == .space ? nil : index + 1
            default: break
            }
            index += 1
        }
        return nil
    }

    /// Where `#/…/#` ends; the end of the source if it never does. It spans lines only if its first one is empty, and
    /// ends with its line otherwise.
    static func extended(in bytes: [UInt8], from start: Int, pounds: Int) -> Int {
        guard start < bytes.count else { return start }
        var firstLine = bytes[start...].prefix { $0 != .newline }
        while let last = firstLine.last, last == .space || last == .tab || last == .carriageReturn {
            firstLine.removeLast()
        }
        let spansLines = firstLine.isEmpty
        var index = start
        while index < bytes.count, spansLines || bytes[index] != .newline {
            if bytes[index] == .backslash {
                index += 2
                continue
            }
            if bytes[index] == .slash {
                let end = index + 1 + pounds
                if end <= bytes.count, bytes[(index + 1)..<end].allSatisfy({ $0 == .pound }) { return end }
            }
            index += 1
        }
        return min(index, bytes.count)
    }

    private static func canBeginExpression(behind token: Token?) -> Bool {
        guard let token else { return true }
        switch token.kind {
        case .word: return openers.contains(token.text)
        case .mark: return !")]}.".contains(token.text)
        case .quotedWord, .string, .literal, .directive: return false
        }
    }
}
