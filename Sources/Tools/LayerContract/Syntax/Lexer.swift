/// A lexer that splits Swift source into tokens.
///
/// Comments produce no tokens. A string or a regular expression is one token, and the code in interpolations is split as well.
/// The lexer follows *The Swift Programming Language*, "Lexical Structure", and SE-0354 for regular expressions.
struct Lexer {
    /// An error for an unclosed comment or string.
    struct Unterminated: Error {
        let what: String
        let line: Int
    }

    private let bytes: [UInt8]
    private var position = 0
    private var line = 1
    private var startsLine = true
    private var tokens: [Token] = []
    /// The strings whose interpolations are being read, innermost last.
    private var interpolated: [OpenString] = []

    private struct OpenString {
        let pounds: Int
        let isMultiline: Bool
        let line: Int
        /// The number of open parentheses in the interpolation.
        var parentheses = 0
    }

    private init(_ bytes: [UInt8]) {
        self.bytes = bytes
        tokens.reserveCapacity(bytes.count / 6)
    }

    /// Returns the tokens of a source in UTF-8.
    ///
    /// - Complexity: O(`bytes`)
    static func tokens(of bytes: [UInt8]) throws(Unterminated) -> [Token] {
        var lexer = Lexer(bytes)
        try lexer.run()
        return lexer.tokens
    }

    private mutating func run() throws(Unterminated) {
        if bytes.starts(with: UInt8.byteOrderMark) { position = UInt8.byteOrderMark.count }
        if peek(0) == .pound, peek(1) == .exclamationMark { skipLine() }
        while position < bytes.count {
            let byte = bytes[position]
            switch byte {
            case .newline, .carriageReturn:
                readLineBreak()
            case _ where byte.isWhiteSpace:
                position += 1
            case _ where byte.beginsWord:
                readWord()
            case _ where byte.isDigit:
                readNumber()
            case .slash:
                try readSlash()
            case .quote:
                try readString(pounds: 0)
            case .pound:
                try readPound()
            case .backtick:
                readQuotedWord()
            default:
                try readMark(byte)
            }
        }
        if let open = interpolated.last { throw Unterminated(what: "A string", line: open.line) }
    }

    private func peek(_ distance: Int) -> UInt8? {
        let index = position + distance
        return index < bytes.count ? bytes[index] : nil
    }

    private mutating func append(_ kind: Token.Kind, _ text: String, line: Int? = nil, isTypeName: Bool = false) {
        let token = Token(
            kind: kind,
            text: text,
            isTypeName: isTypeName,
            line: line ?? self.line,
            startsLine: startsLine
        )
        tokens.append(token)
        startsLine = false
    }

    private func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }

    /// Reads a line break. A carriage return and the line feed after it are one line break.
    private mutating func readLineBreak() {
        if bytes[position] == .newline || peek(1) != .newline {
            line += 1
            startsLine = true
        }
        position += 1
    }

    private mutating func skipLine() {
        position = bytes.endOfLine(from: position)
    }

    private mutating func readWord() {
        let start = position
        position = bytes.endOfWord(from: start)
        append(.word, text(start..<position), isTypeName: bytes[start].isCapital)
    }

    private mutating func readQuotedWord() {
        let start = position + 1
        position = start
        while let byte = peek(0), byte != .backtick, !byte.isLineBreak { position += 1 }
        let isTypeName = start < bytes.count && bytes[start].isCapital
        append(.quotedWord, text(start..<position), isTypeName: isTypeName)
        if peek(0) == .backtick { position += 1 }
    }

    private mutating func readNumber() {
        while let byte = peek(0), byte.continuesWord || (byte == .period && peek(1)?.isDigit == true) { position += 1 }
        // A list can have millions of numbers, so only its first one is kept.
        if tokens.count > 1, tokens[tokens.count - 1].isMark(","), tokens[tokens.count - 2].kind == .literal {
            tokens.removeLast()
        } else {
            append(.literal, "")
        }
    }

    private mutating func readMark(_ byte: UInt8) throws(Unterminated) {
        position += 1
        if byte == .openParenthesis, !interpolated.isEmpty { interpolated[interpolated.count - 1].parentheses += 1 }
        if byte == .closeParenthesis, let open = interpolated.last {
            if open.parentheses == 0 {
                interpolated.removeLast()
                return try readStringBody(open, isFirst: false)
            }
            interpolated[interpolated.count - 1].parentheses -= 1
        }
        append(.mark, Token.marks[Int(byte)])
    }

    // MARK: Comments and regular expressions

    private mutating func readSlash() throws(Unterminated) {
        switch peek(1) {
        case .slash:
            skipLine()
        case .asterisk:
            try skipComment()
        default:
            if let end = RegularExpressionEnd.bare(in: bytes, from: position) {
                position = end
                append(.literal, "")
            } else {
                try readMark(.slash)
            }
        }
    }

    private mutating func skipComment() throws(Unterminated) {
        let start = line
        var depth = 0
        repeat {
            guard let byte = peek(0) else { throw Unterminated(what: "A comment", line: start) }
            if byte == .slash, peek(1) == .asterisk {
                depth += 1
                position += 2
            } else if byte == .asterisk, peek(1) == .slash {
                depth -= 1
                position += 2
            } else if byte.isLineBreak {
                readLineBreak()
            } else {
                position += 1
            }
        } while depth > 0
    }

    // MARK: Number signs

    private mutating func readPound() throws(Unterminated) {
        var pounds = 0
        while peek(pounds) == .pound { pounds += 1 }
        switch peek(pounds) {
        case .quote:
            position += pounds
            try readString(pounds: pounds)
        case .slash:
            let end = RegularExpressionEnd.extended(in: bytes, from: position + pounds + 1, pounds: pounds)
            guard end < bytes.count || bytes.last == .pound else {
                throw Unterminated(what: "A regular expression", line: line)
            }
            let start = line
            line += bytes[position..<end].count { $0 == .newline }
            position = end
            append(.literal, "", line: start)
        case .some(let byte) where pounds == 1 && byte.beginsWord:
            let start = position + 1
            position = start
            position = bytes.endOfWord(from: start)
            append(.directive, text(start..<position))
        default:
            position += pounds - 1
            try readMark(.pound)
        }
    }

    // MARK: Strings

    private mutating func readString(pounds: Int) throws(Unterminated) {
        let isMultiline = peek(1) == .quote && peek(2) == .quote && !(pounds > 0 && closesInItsLine(pounds))
        position += isMultiline ? 3 : 1
        try readStringBody(OpenString(pounds: pounds, isMultiline: isMultiline, line: line), isFirst: true)
    }

    /// Returns whether a string with number signs is closed on its line and therefore is a single-line string: `#"""#` is a
    /// string of one quotation mark.
    private func closesInItsLine(_ pounds: Int) -> Bool {
        var index = position + 2
        while index < bytes.count, !bytes[index].isLineBreak {
            let end = index + 1 + pounds
            if bytes[index] == .quote, end <= bytes.count, bytes[(index + 1)..<end].allSatisfy({ $0 == .pound }) {
                return true
            }
            index += 1
        }
        return false
    }

    /// Reads a string up to its end or its next interpolation.
    private mutating func readStringBody(_ string: OpenString, isFirst: Bool) throws(Unterminated) {
        let start = position
        while let byte = peek(0) {
            switch byte {
            case .quote where closes(string):
                if isFirst { append(.string, text(start..<position), line: string.line) }
                position += (string.isMultiline ? 3 : 1) + string.pounds
                return
            case .backslash where isFollowedByPounds(string.pounds):
                position += 1 + string.pounds
                if peek(0) == .openParenthesis {
                    if isFirst { append(.string, "", line: string.line) }
                    position += 1
                    var open = string
                    open.parentheses = 0
                    interpolated.append(open)
                    return
                }
                if peek(0)?.isLineBreak != true { position += 1 }
            case .newline, .carriageReturn:
                // The compiler rejects a string that is not closed on its line. Treat what follows as code.
                if !string.isMultiline { return append(.string, "", line: string.line) }
                readLineBreak()
            default:
                position += 1
            }
        }
        if string.isMultiline { throw Unterminated(what: "A string", line: string.line) }
    }

    private func closes(_ string: OpenString) -> Bool {
        let quotes = string.isMultiline ? 3 : 1
        for distance in 0..<quotes where peek(distance) != .quote { return false }
        for distance in 0..<string.pounds where peek(quotes + distance) != .pound { return false }
        return true
    }

    private func isFollowedByPounds(_ pounds: Int) -> Bool {
        for distance in 0..<pounds where peek(1 + distance) != .pound { return false }
        return true
    }
}

/// A token of Swift source.
struct Token {
    enum Kind {
        /// A keyword, or a name without backticks.
        case word
        /// A name in backticks, which is never a keyword.
        case quotedWord
        /// A string. `text` is its contents; it is empty if the string has interpolations.
        case string
        /// A number or a regular expression.
        case literal
        /// A single punctuation character, such as `{`.
        case mark
        /// `#if`, `#elseif`, `#else`, `#endif`, or any other word after `#`. `text` is the word.
        case directive
    }

    let kind: Kind
    let text: String
    /// Whether the token is a word that begins with a capital letter, as type names do.
    let isTypeName: Bool
    /// The number of the token's first line, starting at 1.
    let line: Int
    /// Whether the token is the first on its line.
    let startsLine: Bool

    /// Returns whether the token is the given mark.
    func isMark(_ mark: String) -> Bool { kind == .mark && text == mark }

    /// Returns whether the token is the given keyword.
    func isWord(_ word: String) -> Bool { kind == .word && text == word }

    /// Whether the token is a word, in backticks or not.
    var isName: Bool { kind == .word || kind == .quotedWord }
}

extension Token {
    /// The text of a mark for each byte, so that marks share their strings.
    static let marks: [String] = (0...UInt8.max).map { String(UnicodeScalar($0)) }
}
