/// Tells a regular expression from a division, as the compiler does (SE-0354).
enum RegularExpressionEnd {
    /// How far an expression in a line is looked for, in bytes. Without an end to it, a long line full of slashes would
    /// be read once for each of them.
    private static let longest = 4096

    /// Where `/…/` ends, if the slash at this place begins one: space or an opening mark stands in front, no space
    /// follows, and the line holds another slash without a space before it.
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

    /// Where `#/…/#` ends; the end of the source if it never does. It spans lines only if its first one is empty, and
    /// ends with its line otherwise.
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

    /// Whether what stands in front leaves the slash to what follows.
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

    /// What a text in UTF-8 may begin with, to no effect.
    static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    /// Whether it ends a line: a line feed, or a carriage return with or without one behind it.
    var isLineBreak: Bool { self == .newline || self == .carriageReturn }

    /// Whether it separates words within a line.
    var isWhiteSpace: Bool { self == .space || self == .tab || self == 0 || self == 11 || self == 12 }

    /// Whether it is a decimal digit.
    var isDigit: Bool { self >= 48 && self <= 57 }

    /// Whether it is a capital letter of ASCII.
    var isCapital: Bool { self >= 65 && self <= 90 }

    /// Whether a word can begin with it: a letter, `_`, `$`, or a part of what is not ASCII.
    var beginsWord: Bool {
        (self >= 97 && self <= 122) || (self >= 65 && self <= 90) || self == 95 || self == 36 || self >= 128
    }

    /// Whether a word can go on with it.
    var continuesWord: Bool { beginsWord || isDigit }
}

extension [UInt8] {
    /// Where the word ends that goes on at this place.
    func endOfWord(from start: Int) -> Int {
        var index = start
        while index < count, self[index].continuesWord { index += 1 }
        return index
    }

    /// Where the line ends that goes on at this place.
    func endOfLine(from start: Int) -> Int {
        var index = start
        while index < count, !self[index].isLineBreak { index += 1 }
        return index
    }
}
