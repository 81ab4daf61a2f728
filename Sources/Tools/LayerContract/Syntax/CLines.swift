/// The logical lines of a C, C++, or Objective-C source, with comments removed and spliced lines joined.
///
/// Follows the translation phases of C17 §5.1.1.2. String literals are emptied, except in directives. So are C++ raw strings.
struct CLines {
    /// A logical line.
    struct Line {
        let text: String
        /// The number of the line's first physical line, starting at 1.
        let number: Int
    }

    private(set) var lines: [Line] = []
    private let keepsStrings: Bool
    /// The source without spliced line breaks; `numbers` holds the line of each byte.
    private var bytes: [UInt8] = []
    private var numbers: [Int] = []
    private var position = 0
    private var text: [UInt8] = []
    private var number = 1

    /// Reads a source.
    ///
    /// - Parameters:
    ///   - source: the source in UTF-8.
    ///   - keepsStrings: whether all strings keep their contents, as module maps require.
    /// - Complexity: O(`source`)
    init(_ source: [UInt8], keepsStrings: Bool = false) {
        self.keepsStrings = keepsStrings
        splice(source)
        while position < bytes.count { readNext() }
        endLine()
    }

    /// Removes each backslash at the end of a line, together with the line break. As in compilers, white space may separate
    /// the two.
    private mutating func splice(_ source: [UInt8]) {
        bytes.reserveCapacity(source.count)
        numbers.reserveCapacity(source.count)
        var index = source.starts(with: UInt8.byteOrderMark) ? UInt8.byteOrderMark.count : 0
        var line = 1
        while index < source.count {
            if source[index] == .backslash {
                var end = index + 1
                while end < source.count, source[end].isWhiteSpace, !source[end].isLineBreak { end += 1 }
                if end < source.count, source[end].isLineBreak {
                    let isPair = source[end] == .carriageReturn && end + 1 < source.count && source[end + 1] == .newline
                    index = end + (isPair ? 2 : 1)
                    line += 1
                    continue
                }
            }
            let isPair = source[index] == .carriageReturn && index + 1 < source.count && source[index + 1] == .newline
            if isPair { index += 1 }
            bytes.append(source[index].isLineBreak ? .newline : source[index])
            numbers.append(line)
            if source[index].isLineBreak { line += 1 }
            index += 1
        }
    }

    private func peek(_ distance: Int) -> UInt8? {
        position + distance < bytes.count ? bytes[position + distance] : nil
    }

    private mutating func append(_ byte: UInt8) {
        if text.isEmpty { number = numbers[min(position, numbers.count - 1)] }
        text.append(byte)
    }

    private mutating func endLine() {
        let line = String(decoding: text, as: UTF8.self).trimmed
        if !line.isEmpty { lines.append(Line(text: line, number: number)) }
        text = []
    }

    private mutating func readNext() {
        let byte = bytes[position]
        switch byte {
        case .newline:
            endLine()
            position += 1
        case .slash where peek(1) == .slash && !isInHeaderName:
            while let next = peek(0), next != .newline { position += 1 }
        case .slash where peek(1) == .asterisk && !isInHeaderName:
            skipComment()
        case .quote:
            if Self.rawPrefixes.contains(lastWord), skipRawString() { return }
            readLiteral(.quote)
        case UInt8(ascii: "'") where text.last?.continuesWord != true:
            // After a digit, the character is a C++ digit separator.
            readLiteral(byte)
        case _ where byte.isWhiteSpace && text.isEmpty:
            position += 1
        default:
            append(byte)
            position += 1
        }
    }

    /// Whether the position is within `<…>` of an include, where nothing begins a comment.
    private var isInHeaderName: Bool {
        guard isDirective, let open = text.lastIndex(of: UInt8(ascii: "<")) else { return false }
        let word = String(decoding: text[..<open], as: UTF8.self).trimmed
        return !text[open...].contains(UInt8(ascii: ">"))
            && ["include", "include_next", "import"].contains(where: word.hasSuffix)
    }

    /// The prefixes of raw strings.
    private static let rawPrefixes: Set<String> = ["R", "LR", "uR", "UR", "u8R"]

    private var lastWord: String {
        String(decoding: text.reversed().prefix { $0.continuesWord }.reversed(), as: UTF8.self)
    }

    private var isDirective: Bool { text.first == .pound || text.first == UInt8(ascii: "%") }

    private mutating func skipComment() {
        if !text.isEmpty { append(.space) }
        position += 2
        while position < bytes.count, !(peek(0) == .asterisk && peek(1) == .slash) { position += 1 }
        position += 2
    }

    /// Reads a string or character literal, up to its closing mark or the end of the line.
    private mutating func readLiteral(_ mark: UInt8) {
        let keeps = keepsStrings || isDirective || String(decoding: text.suffix(16), as: UTF8.self).contains("_Pragma")
        append(mark)
        position += 1
        while let byte = peek(0), byte != mark, byte != .newline {
            let length = byte == .backslash && peek(1) != nil && peek(1) != .newline ? 2 : 1
            if keeps { for distance in 0..<length { peek(distance).map { append($0) } } }
            position += length
        }
        guard peek(0) == mark else { return }
        append(mark)
        position += 1
    }

    /// Skips a raw string `R"delimiter(…)delimiter"`, if one begins here.
    private mutating func skipRawString() -> Bool {
        let start = position + 1
        guard let open = bytes[start...].prefix(17).firstIndex(of: .openParenthesis) else { return false }
        let end = [.closeParenthesis] + bytes[start..<open] + [.quote]
        var index = open + 1
        while index + end.count <= bytes.count {
            if bytes[index..<(index + end.count)].elementsEqual(end) {
                position = index + end.count
                text += [.quote, .quote]
                return true
            }
            index += 1
        }
        return false
    }
}
