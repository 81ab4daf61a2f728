/// Takes Swift source apart into tokens, so that what stands in comments, strings and regular expressions is not
/// mistaken for code, and what stands in an interpolation is not missed.
///
/// Follows *The Swift Programming Language*, "Lexical Structure", and for regular expressions SE-0354.
struct Lexer {
    /// A comment or string that is opened and not closed.
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
        /// The parentheses that are open in the interpolation.
        var parentheses = 0
    }

    private init(_ bytes: [UInt8]) {
        self.bytes = bytes
        tokens.reserveCapacity(bytes.count / 6)
    }

    /// The tokens of a source in UTF-8.
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

    /// A line feed behind a carriage return is no line of its own.
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
        // Of a list of numbers, which can be millions, the first one says it all.
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

    // MARK: What begins with a pound sign

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

    /// `#"""#` is a string of one quotation mark: with pound signs, what closes in its line is of one line.
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

    /// Reads a string up to its end, or up to its next interpolation.
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
                // The compiler refuses a string that is not closed in its line; what follows is code again.
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

extension Token {
    /// Every byte as the text of a mark, so that no text is made for each of them.
    static let marks: [String] = (0...UInt8.max).map { String(UnicodeScalar($0)) }
}
