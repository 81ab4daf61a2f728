/// Functions that tell regular expressions from divisions, as the compiler does (SE-0354).
enum RegularExpressionEnd {
    /// The maximum length of a single-line expression, in bytes. Without a limit, a long line with many slashes would be
    /// read once for each slash.
    private static let longest = 4096

    /// Returns the end of `/…/`, if the slash at `start` opens one: white space or an opening mark precedes it, no white space
    /// follows it, and the line has another slash that is not preceded by white space.
    static func bare(in bytes: [UInt8], from start: Int) -> Int? {
        guard start == 0 || opens(bytes[start - 1]) else { return nil }
        var index = start + 1
        guard index < bytes.count, bytes[index] != .space, bytes[index] != .tab else { return nil }
        var parentheses = 0
        var isInClass = false
        while index < min(bytes.count, start + longest), !bytes[index].isLineBreak {
            switch bytes[index] {
            case .backslash: index += 1
            case .openBracket: isInClass = true
            case .closeBracket: isInClass = false
            case .openParenthesis where !isInClass: parentheses += 1
            case .closeParenthesis where !isInClass:
                parentheses -= 1
                if parentheses < 0 { return nil }
            case .slash: return bytes[index - 1] == .space || bytes[index - 1] == .tab ? nil : index + 1
            default: break
            }
            index += 1
        }
        return nil
    }

    /// Returns the end of `#/…/#`; the end of the source if it is unclosed. An expression spans lines only if its first line
    /// is empty. Otherwise, it ends with its line at the latest.
    static func extended(in bytes: [UInt8], from start: Int, pounds: Int) -> Int {
        let endOfLine = bytes.endOfLine(from: start)
        let spansLines = bytes[start..<endOfLine].allSatisfy { $0 == .space || $0 == .tab }
        var index = start
        while index < bytes.count, spansLines || index < endOfLine {
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

    /// Returns whether a slash after this byte can open a regular expression.
    private static func opens(_ byte: UInt8) -> Bool {
        byte.isWhiteSpace || byte.isLineBreak || [UInt8]("([{,;:".utf8).contains(byte)
    }
}

extension UInt8 {
    static let newline = UInt8(ascii: "\n")
    static let carriageReturn = UInt8(ascii: "\r")
    static let space = UInt8(ascii: " ")
    static let tab = UInt8(ascii: "\t")
    static let quote = UInt8(ascii: "\"")
    static let backtick = UInt8(ascii: "`")
    static let backslash = UInt8(ascii: "\\")
    static let slash = UInt8(ascii: "/")
    static let asterisk = UInt8(ascii: "*")
    static let pound = UInt8(ascii: "#")
    static let period = UInt8(ascii: ".")
    static let exclamationMark = UInt8(ascii: "!")
    static let openParenthesis = UInt8(ascii: "(")
    static let closeParenthesis = UInt8(ascii: ")")
    static let openBracket = UInt8(ascii: "[")
    static let closeBracket = UInt8(ascii: "]")

    /// The UTF-8 byte order mark, which may precede a text.
    static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    /// Whether the byte ends a line: a line feed or a carriage return. A carriage return may be followed by a line feed.
    var isLineBreak: Bool { self == .newline || self == .carriageReturn }

    /// Whether the byte separates words within a line.
    var isWhiteSpace: Bool { self == .space || self == .tab || self == 0 || self == 11 || self == 12 }

    /// Whether the byte is a decimal digit.
    var isDigit: Bool { self >= 48 && self <= 57 }

    /// Whether the byte is an ASCII capital letter.
    var isCapital: Bool { self >= 65 && self <= 90 }

    /// Whether the byte can begin a word: a letter, `_`, `$`, or a byte of a non-ASCII character.
    var beginsWord: Bool {
        (self >= 97 && self <= 122) || (self >= 65 && self <= 90) || self == 95 || self == 36 || self >= 128
    }

    /// Whether the byte can continue a word.
    var continuesWord: Bool { beginsWord || isDigit }
}

extension [UInt8] {
    /// Returns the end of the word that continues at `start`.
    func endOfWord(from start: Int) -> Int {
        var index = start
        while index < count, self[index].continuesWord { index += 1 }
        return index
    }

    /// Returns the end of the line that continues at `start`.
    func endOfLine(from start: Int) -> Int {
        var index = start
        while index < count, !self[index].isLineBreak { index += 1 }
        return index
    }
}
