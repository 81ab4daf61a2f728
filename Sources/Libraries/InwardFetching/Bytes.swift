// The texts of header fields and URLs are read as bytes, which is faster than reading characters, and as safe: no syntax of HTTP has
// a delimiter outside ASCII, and a combining character cannot hide one.

extension String {
    /// Calls a function with the bytes of the text.
    @inline(__always)
    func withBytes<Result, Failure: Error>(
        _ read: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        // The buffer is valid until the closure returns, and a span cannot leave it.
        let result = unsafe utf8.withContiguousStorageIfAvailable { buffer in
            Swift.Result { () throws(Failure) in try unsafe read(buffer.span) }
        }
        // Strings bridged from Objective-C need not be contiguous.
        guard let result else { return try read(Array(utf8).span) }
        return try result.get()
    }
}

extension Span<UInt8> {
    /// Returns the first position, at or after a start, whose byte fails a condition.
    @inline(__always)
    func end(from start: Int, while condition: (UInt8) -> Bool) -> Int {
        var end = start
        while end < count, condition(self[end]) { end += 1 }
        return end
    }

    /// Returns a range without the white space at its end.
    func withoutTrailingWhiteSpace(_ range: Range<Int>) -> Range<Int> {
        var end = range.upperBound
        while end > range.lowerBound, self[end - 1].isWhiteSpace { end -= 1 }
        return range.lowerBound..<end
    }

    /// Reads the next element of a list, and returns its range without the white space around it. Empty elements are skipped (RFC 9110
    /// section 5.6.1), and commas in quoted strings do not count.
    ///
    /// - Parameter position: Where to begin; afterwards the end of the element.
    /// - Returns: The range, `nil` at the end.
    func nextListElement(at position: inout Int) -> Range<Int>? {
        let start = end(from: position) { $0.isWhiteSpace || $0 == UInt8(ascii: ",") }
        position = start
        guard start < count else { return nil }
        var isQuoted = false
        while position < count {
            let byte = self[position]
            if byte == UInt8(ascii: "\\"), isQuoted, position + 1 < count {
                position += 1
            } else if byte == UInt8(ascii: "\"") {
                isQuoted.toggle()
            } else if byte == UInt8(ascii: ","), !isQuoted {
                break
            }
            position += 1
        }
        return withoutTrailingWhiteSpace(start..<position)
    }

    /// Returns whether the bytes encode a text, which is in lower case, if the case of ASCII letters is ignored.
    func spells(_ text: [UInt8]) -> Bool {
        // Most texts differ in length, which is faster to compare.
        guard count == text.count else { return false }
        for index in indices where self[index].lowercase != text[index] { return false }
        return true
    }

    /// The bytes in memory of their own.
    var array: [UInt8] { indices.map { self[$0] } }

    /// The text that the bytes encode.
    var text: String { String(decoding: array, as: UTF8.self) }

    /// The text that the bytes encode, with ASCII letters in lower case.
    var lowercasedText: String { String(decoding: indices.map { self[$0].lowercase }, as: UTF8.self) }
}

extension UInt8 {
    /// The byte, in lower case if it is an ASCII letter.
    var lowercase: UInt8 { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) ? self | 0x20 : self }

    /// Whether the byte is an ASCII digit.
    var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }

    /// Whether the byte is a space or a tab (RFC 9110 section 5.6.3).
    var isWhiteSpace: Bool { self == UInt8(ascii: " ") || self == UInt8(ascii: "\t") }
}

/// The content of a quoted string (RFC 9110 section 5.6.4), read byte by byte after its opening quotation mark.
struct QuotedString {
    /// The bytes without escapes.
    private(set) var content: [UInt8] = []
    private var isEscaped = false

    /// Reads the next byte and returns whether the string ends with it.
    mutating func ends(with byte: UInt8) -> Bool {
        guard !isEscaped, byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") else {
            content.append(byte)
            isEscaped = false
            return false
        }
        isEscaped = byte == UInt8(ascii: "\\")
        return !isEscaped
    }
}

extension BidirectionalCollection<UInt8> where SubSequence == Self {
    /// The text without surrounding white space.
    var trimmed: String {
        var text = drop(while: \.isWhiteSpace)
        while let last = text.last, last.isWhiteSpace { text.removeLast() }
        return String(decoding: text, as: UTF8.self)
    }
}
