/// The parts of a step's text: its name, its value, and its options. A step takes the options that it knows, and what is left is
/// an error.
struct RecipeArguments {
    let name: Substring
    let value: Substring?
    private var options: [(name: Substring, value: Substring)] = []

    init(_ text: Substring) throws(RecipeStepProblem) {
        guard !text.isEmpty else { throw RecipeStepProblem("it is empty; separate steps with one ';'") }
        guard text.utf8.allSatisfy(\.isInRecipes) else {
            throw RecipeStepProblem("it may contain only letters and digits of ASCII, and '-', '_', '.', ',' and '='")
        }
        let parts = text.split(separator: ",", omittingEmptySubsequences: false)
        let (name, value) = Self.split(parts[0])
        self.name = name
        self.value = value
        for part in parts.dropFirst() {
            guard case (let name, let value?) = Self.split(part) else {
                throw RecipeStepProblem("an option has the form 'name=value', which '\(part)' does not have")
            }
            guard !options.contains(where: { $0.name == name }) else {
                throw RecipeStepProblem("option '\(name)' appears more than once")
            }
            options.append((name, value))
        }
    }

    /// Splits a text at its first equals sign.
    private static func split(_ text: Substring) -> (Substring, Substring?) {
        guard let index = text.firstIndex(of: "=") else { return (text, nil) }
        return (text[..<index], text[text.index(after: index)...])
    }

    /// Removes an option and returns its value, or `nil` if there is none.
    mutating func take(_ name: String) -> Substring? {
        options.firstIndex { $0.name == name }.map { options.remove(at: $0).value }
    }

    /// Removes an option and returns its number, or `nil` if there is none.
    mutating func number(_ name: String, in range: ClosedRange<Int>) throws(RecipeStepProblem) -> Int? {
        guard let text = take(name) else { return nil }
        guard let number = Int(recipeDigits: text), range.contains(number) else {
            throw RecipeStepProblem("option '\(name)'", mustBeIn: range)
        }
        return number
    }

    func checkHasNoValue() throws(RecipeStepProblem) {
        guard value == nil, options.isEmpty else { throw RecipeStepProblem("'\(name)' has no value and no options") }
    }

    func checkAreRead() throws(RecipeStepProblem) {
        guard let option = options.first else { return }
        throw RecipeStepProblem("'\(name)' has no option '\(option.name)'")
    }
}

extension Int {
    /// Reads one to six digits without a sign and without leading zeros, so that no number overflows.
    init?(recipeDigits text: some StringProtocol) {
        let digits = text.utf8
        guard (1...6).contains(digits.count), digits.count == 1 || digits.first != UInt8(ascii: "0"),
            digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
        else { return nil }
        self.init(text)
    }
}

extension UInt8 {
    /// Whether the byte may appear in a step. All these are allowed in a segment of a URL path (RFC 3986 section 3.3), and have
    /// no meaning in HTML, CSS or Markdown.
    fileprivate var isInRecipes: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "-_.,=".utf8.contains(self)
        }
    }
}
