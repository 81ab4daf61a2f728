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
