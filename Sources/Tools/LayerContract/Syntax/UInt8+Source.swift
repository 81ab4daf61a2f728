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
