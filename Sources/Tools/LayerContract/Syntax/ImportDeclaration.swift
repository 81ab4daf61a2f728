/// An import of a source file.
public struct ImportDeclaration: Hashable, Sendable {
    /// The module: `Foundation`, also of `import struct Foundation.Date`.
    public let module: String
    /// The import as it is written, on one line.
    public let text: String
    /// Its line, from 1.
    public let line: Int
    /// The access level that it says; `nil` if it says none.
    public let access: AccessLevel?
    /// Whether it says `@testable`.
    public let isTestable: Bool
    /// Whether it says `@_exported`.
    public let isExported: Bool
    /// The modules of which its branch of a conditional compilation says that they cannot be imported.
    public let absentModules: Set<String>
}

/// A condition that asks whether a module can be imported.
public struct ModuleQuestion: Hashable, Sendable {
    /// The module.
    public let module: String
    /// The line of the question, from 1.
    public let line: Int
}

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

/// The branches of `#if` that surround a place, and what they say of modules.
struct ConditionalCompilation {
    private struct Branch {
        /// What the conditions before this one say by not having held.
        var earlier: Set<String> = []
        /// What the condition itself says.
        var own: Set<String> = []
        /// What the condition says once it has not held.
        var otherwise: Set<String> = []
    }

    private var branches: [Branch] = []

    /// The modules that cannot be imported here.
    var absentModules: Set<String> {
        branches.reduce(into: []) { absent, branch in
            absent.formUnion(branch.earlier)
            absent.formUnion(branch.own)
        }
    }

    /// Enters or leaves a branch.
    ///
    /// - Parameters:
    ///   - directive: the word behind the pound sign.
    ///   - condition: the tokens behind the directive.
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

    /// Of `!canImport(A) && …`: A.
    private static func absent(ifTrue condition: ArraySlice<Token>) -> Set<String> {
        terms(of: condition, joinedBy: "&").reduce(into: []) { absent, term in
            if term.first?.isMark("!") == true { absent.formUnion(Self.absent(ifFalse: term.dropFirst())) }
        }
    }

    /// Of `canImport(A) || …`: A.
    private static func absent(ifFalse condition: ArraySlice<Token>) -> Set<String> {
        Set(terms(of: condition, joinedBy: "|").compactMap(module))
    }

    /// What stands between the operators of a condition that has no other operators; nothing if it has others.
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

    /// What stands in parentheses that are around all of it.
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

    /// Of `canImport(A)`: A. That a module of some version is not there says nothing of whether it is there at all.
    private static func module(of term: ArraySlice<Token>) -> String? {
        let term = Array(term)
        guard term.count == 4, term[0].isWord("canImport"), term[1].isMark("("), term[3].isMark(")") else { return nil }
        return term[2].text
    }
}
