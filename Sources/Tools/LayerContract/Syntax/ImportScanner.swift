/// Finds the imports of a source, in every branch of its conditional compilation.
struct ImportScanner {
    private static let modifiers: Set<String> = ["public", "package", "internal", "fileprivate", "private", "open"]
    private static let kinds: Set<String> = [
        "typealias", "struct", "class", "enum", "actor", "protocol", "let", "var", "func",
    ]

    private(set) var imports: [ImportDeclaration] = []
    /// The modules that conditions ask for, with the line of each question.
    private(set) var questions: [ModuleQuestion] = []

    private let tokens: [Token]

    /// Reads the tokens of a source.
    init(_ tokens: [Token]) {
        self.tokens = tokens
        var conditions = ConditionalCompilation()
        var index = 0
        while index < tokens.count {
            let token = tokens[index]
            switch token.kind {
            case .directive where ["if", "elseif", "else", "endif"].contains(token.text):
                let condition = condition(behind: index)
                conditions.read(token.text, condition: condition)
                questions += Self.questions(in: condition)
                index += condition.count
            case .word where token.text == "import":
                read(at: index, absentModules: conditions.absentModules)
            default:
                break
            }
            index += 1
        }
    }

    /// What belongs to a condition: the rest of the line, and what its operators and parentheses carry on.
    private func condition(behind index: Int) -> ArraySlice<Token> {
        var end = index + 1
        var depth = 0
        while end < tokens.count {
            let token = tokens[end]
            if token.startsLine, depth == 0, !["&", "|", "!"].contains(tokens[end - 1].text) { break }
            if token.isMark("(") { depth += 1 }
            if token.isMark(")") { depth -= 1 }
            end += 1
        }
        return tokens[(index + 1)..<end]
    }

    private static func questions(in condition: ArraySlice<Token>) -> [ModuleQuestion] {
        condition.indices.compactMap { index in
            guard condition[index].isWord("canImport"), index + 2 < condition.endIndex else { return nil }
            return ModuleQuestion(module: condition[index + 2].text, line: condition[index].line)
        }
    }

    private mutating func read(at index: Int, absentModules: Set<String>) {
        let start = firstModifier(before: index)
        // A word behind a period is a member, unless the period is the end of `1...` in the line before.
        if start > 0, tokens[start - 1].isMark("."), !tokens[start].startsLine { return }
        var end = index + 1
        if end + 1 < tokens.count, tokens[end].kind == .word, Self.kinds.contains(tokens[end].text),
            tokens[end + 1].isName
        {
            end += 1
        }
        guard end < tokens.count, tokens[end].isName else { return }
        let module = tokens[end].text
        end += 1
        while let length = pathPart(at: end) { end += length }
        // `import module: Module` is the label and the name of a parameter.
        if end < tokens.count, tokens[end].isMark(":"), !tokens[end].startsLine { return }
        let written = tokens[start..<end]
        imports.append(
            ImportDeclaration(
                module: module,
                text: Self.text(of: written),
                line: tokens[index].line,
                access: tokens[start..<index].lazy.compactMap { AccessLevel(modifier: $0.text) }.first,
                isTestable: written.contains { $0.isWord("testable") },
                isExported: written.contains { $0.isWord("_exported") },
                absentModules: absentModules
            )
        )
    }

    /// How many tokens go on with the path of an import: `.Part`, or `::Part` behind a module's name (SE-0491).
    private func pathPart(at index: Int) -> Int? {
        guard index + 1 < tokens.count else { return nil }
        if tokens[index].isMark("."), !tokens[index + 1].startsLine { return 2 }
        guard index + 2 < tokens.count, tokens[index].isMark(":"), tokens[index + 1].isMark(":") else { return nil }
        return tokens[index + 2].isName ? 3 : nil
    }

    /// Where the attributes and modifiers in front of an import begin.
    private func firstModifier(before index: Int) -> Int {
        var start = index
        while start > 0 {
            let previous = tokens[start - 1]
            if previous.kind == .word, Self.modifiers.contains(previous.text) {
                start -= 1
            } else if previous.isName, start > 1, tokens[start - 2].isMark("@") {
                start -= 2
            } else if previous.isMark(")"), let open = attribute(endingAt: start - 1) {
                start = open
            } else {
                break
            }
        }
        return start
    }

    /// Where `@name(…)` begins, if this parenthesis ends one.
    private func attribute(endingAt end: Int) -> Int? {
        guard let open = tokens[..<end].lastIndex(where: { $0.isMark("(") }), open > 1 else { return nil }
        return tokens[open - 1].isName && tokens[open - 2].isMark("@") ? open - 2 : nil
    }

    private static func text(of tokens: ArraySlice<Token>) -> String {
        var text = ""
        var previous: Token?
        for token in tokens {
            let isBound = ["@", ".", ":", "("].contains(previous?.text) || [".", ":", "(", ")"].contains(token.text)
            if previous != nil, !isBound { text += " " }
            text += token.text
            previous = token
        }
        return text
    }
}
