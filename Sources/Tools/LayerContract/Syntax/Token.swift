/// A piece of Swift source: a word, a string, a mark.
struct Token {
    enum Kind {
        /// A word: a keyword or a name, in backticks or not.
        case word
        /// A word in backticks, which is a name and never a keyword.
        case quotedWord
        /// A string without interpolation; `text` is what stands between its quotes. Others have no text.
        case string
        /// A number or a regular expression.
        case literal
        /// A single mark, such as `{`.
        case mark
        /// `#if`, `#elseif`, `#else`, `#endif` and everything else behind a `#`; `text` is the word.
        case directive
    }

    let kind: Kind
    let text: String
    /// Whether it is a word that begins with a capital letter, as the names of types do.
    let isTypeName: Bool
    /// The line it begins in, from 1.
    let line: Int
    /// Whether it is the first of its line.
    let startsLine: Bool

    /// Whether it is this mark.
    func isMark(_ mark: String) -> Bool { kind == .mark && text == mark }

    /// Whether it is this keyword.
    func isWord(_ word: String) -> Bool { kind == .word && text == word }

    /// Whether it names something.
    var isName: Bool { kind == .word || kind == .quotedWord }
}
