/// An import declaration in a source file.
///
/// ```swift
/// func imports(of module: String, in sources: [SourceFacts]) -> [String] {
///     sources.flatMap { source in
///         source.imports.filter { $0.module == module }.map { "\(source.path):\($0.line): \($0.text)" }
///     }
/// }
/// ```
public struct ImportDeclaration: Hashable, Sendable {
    /// The imported module, such as `Foundation`, even for `import struct Foundation.Date`.
    public let module: String
    /// The import as written, on one line.
    public let text: String
    /// The line number, starting at 1.
    public let line: Int
    /// The explicit access level, or `nil` if the import has none.
    public let access: AccessLevel?
    /// Whether the import is `@testable`.
    public let isTestable: Bool
    /// Whether the import is `@_exported`.
    public let isExported: Bool
    /// The modules that cannot be imported where this import is compiled, according to the conditions around it.
    public let absentModules: Set<String>
}

/// A compilation condition that asks whether a module can be imported.
///
/// ```swift
/// let source = Array("#if canImport(Glibc)\nimport Glibc\n#endif".utf8)
/// let facts = try SourceFacts(reading: source, path: "Sources/App/Row.swift", target: "App", subject: nil)
/// print(facts.questions.map(\.module))  // ["Glibc"]
/// ```
public struct ModuleQuestion: Hashable, Sendable {
    /// The name of the module.
    public let module: String
    /// The line number of the condition, starting at 1.
    public let line: Int
}

/// A scanner that finds the imports of a source, in every branch of conditional compilation.
struct ImportScanner {
    private static let modifiers: Set<String> = ["public", "package", "internal", "fileprivate", "private", "open"]
    private static let kinds: Set<String> = [
        "typealias", "struct", "class", "enum", "actor", "protocol", "let", "var", "func",
    ]

    private(set) var imports: [ImportDeclaration] = []
    /// The modules that conditions ask for, with their lines.
    private(set) var questions: [ModuleQuestion] = []

    private let tokens: [Token]

    /// Scans the tokens of a source.
    init(_ tokens: [Token]) {
        self.tokens = tokens
        var conditions = ConditionalCompilation()
        var index = 0
        while index < tokens.count {
            let token = tokens[index]
            switch token.kind {
            case .directive where ["if", "elseif", "else", "endif"].contains(token.text):
                let condition = condition(after: index)
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

    /// Returns the tokens of a condition: the rest of the line, and any lines that operators or parentheses continue it on.
    private func condition(after index: Int) -> ArraySlice<Token> {
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
        // A word after a period is a member, unless the period ends `1...` on the previous line.
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
        // In `import module: Module`, the words are the label and the name of a parameter.
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

    /// Returns the number of tokens that extend an import path: `.Part`, or `::Part` after a module name (SE-0491).
    private func pathPart(at index: Int) -> Int? {
        guard index + 1 < tokens.count else { return nil }
        if tokens[index].isMark("."), !tokens[index + 1].startsLine { return 2 }
        guard index + 2 < tokens.count, tokens[index].isMark(":"), tokens[index + 1].isMark(":") else { return nil }
        return tokens[index + 2].isName ? 3 : nil
    }

    /// Returns the index of the first attribute or modifier before an import.
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

    /// Returns the start of `@name(…)`, if the closing parenthesis ends one.
    private func attribute(endingAt end: Int) -> Int? {
        guard let open = tokens.openParenthesis(closedAt: end), open > 1 else { return nil }
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

/// The enclosing `#if` branches of a position, and what their conditions imply about modules.
struct ConditionalCompilation {
    private struct Branch {
        /// The modules that are absent because the previous conditions were false.
        var earlier: Set<String> = []
        /// The modules that are absent if this condition is true.
        var own: Set<String> = []
        /// The modules that are absent if this condition is false.
        var otherwise: Set<String> = []
    }

    private var branches: [Branch] = []

    /// The modules that cannot be imported at the current position.
    var absentModules: Set<String> {
        branches.reduce(into: []) { absent, branch in
            absent.formUnion(branch.earlier)
            absent.formUnion(branch.own)
        }
    }

    /// Enters or leaves a branch.
    ///
    /// - Parameters:
    ///   - directive: The word after the number sign.
    ///   - condition: The tokens after the directive.
    mutating func read(_ directive: String, condition: ArraySlice<Token>) {
        switch directive {
        case "if":
            branches.append(Branch(own: Self.absent(ifTrue: condition), otherwise: Self.absent(ifFalse: condition)))
        case "elseif":
            advance(own: Self.absent(ifTrue: condition), otherwise: Self.absent(ifFalse: condition))
        case "else":
            advance(own: [], otherwise: [])
        case "endif":
            _ = branches.popLast()
        default:
            break
        }
    }

    private mutating func advance(own: Set<String>, otherwise: Set<String>) {
        guard let last = branches.popLast() else { return }
        branches.append(Branch(earlier: last.earlier.union(last.otherwise), own: own, otherwise: otherwise))
    }

    /// Returns the modules that are absent if the condition is true: A for `!canImport(A) && …`.
    private static func absent(ifTrue condition: ArraySlice<Token>) -> Set<String> {
        terms(of: condition, joinedBy: "&").reduce(into: []) { absent, term in
            if term.first?.isMark("!") == true { absent.formUnion(Self.absent(ifFalse: term.dropFirst())) }
        }
    }

    /// Returns the modules that are absent if the condition is false: A for `canImport(A) || …`.
    private static func absent(ifFalse condition: ArraySlice<Token>) -> Set<String> {
        Set(terms(of: condition, joinedBy: "|").compactMap(module))
    }

    /// Returns the operands of a condition whose only operator is `mark`; nothing if it has other operators.
    private static func terms(of condition: ArraySlice<Token>, joinedBy mark: String) -> [ArraySlice<Token>] {
        let condition = withoutParentheses(condition)
        var terms: [ArraySlice<Token>] = []
        var start = condition.startIndex
        var depth = 0
        for index in condition.indices {
            if condition[index].isMark("(") { depth += 1 }
            if condition[index].isMark(")") { depth -= 1 }
            guard depth == 0, condition[index].isMark("&") || condition[index].isMark("|") else { continue }
            guard condition[index].isMark(mark) else { return [] }
            terms.append(condition[start..<index])
            start = index + 1
        }
        terms.append(condition[start...])
        return terms.map(withoutParentheses)
    }

    /// Returns the tokens without parentheses that enclose all of them.
    private static func withoutParentheses(_ tokens: ArraySlice<Token>) -> ArraySlice<Token> {
        guard tokens.first?.isMark("(") == true, tokens.last?.isMark(")") == true else { return tokens }
        var depth = 0
        for index in tokens.indices.dropLast() {
            if tokens[index].isMark("(") { depth += 1 }
            if tokens[index].isMark(")") { depth -= 1 }
            if depth == 0 { return tokens }
        }
        return withoutParentheses(tokens.dropFirst().dropLast())
    }

    /// Returns the module of `canImport(A)`. A check for a version is ignored, because an older version may be available.
    private static func module(of term: ArraySlice<Token>) -> String? {
        let term = Array(term)
        guard term.count == 4, term[0].isWord("canImport"), term[1].isMark("("), term[3].isMark(")") else { return nil }
        return term[2].text
    }
}
