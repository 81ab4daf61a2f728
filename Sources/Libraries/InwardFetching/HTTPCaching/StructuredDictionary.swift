/// A dictionary of structured fields (RFC 9651 section 3.2), with the types of values that cache directives have.
///
/// All types are parsed, and an error anywhere makes the whole field invalid, as the standard demands. Parameters are skipped.
struct StructuredDictionary: Hashable, Sendable {
    /// A value.
    enum Value: Hashable, Sendable {
        case integer(Int64)
        case string(String)
        case boolean(Bool)
        /// A decimal, token, byte sequence, date, display string or inner list.
        case other
    }

    /// The members by key. Of several with one key the last counts.
    private(set) var members: [String: Value] = [:]

    /// Parses the value of a field; `nil` if it is malformed (RFC 9651 section 4.2).
    init?(_ text: String) {
        var parser = StructuredFieldParser(text)
        guard let members = parser.parseDictionary() else { return nil }
        self.members = members
    }
}

/// The parser of RFC 9651 section 4.2. Every method returns `nil` if the text is malformed.
private struct StructuredFieldParser {
    typealias Value = StructuredDictionary.Value

    private var rest: Substring.UTF8View

    init(_ text: String) {
        rest = text.utf8[...]
    }

    mutating func parseDictionary() -> [String: Value]? {
        rest = rest.drop { $0 == UInt8(ascii: " ") }
        var members: [String: Value] = [:]
        while !rest.isEmpty {
            guard let key = parseKey() else { return nil }
            if take("=") {
                guard let value = parseMember() else { return nil }
                members[key] = value
            } else {
                guard skipParameters() else { return nil }
                members[key] = .boolean(true)
            }
            rest = rest.drop(while: \.isWhiteSpace)
            if rest.isEmpty { return members }
            guard take(",") else { return nil }
            rest = rest.drop(while: \.isWhiteSpace)
            // A comma at the end.
            if rest.isEmpty { return nil }
        }
        return members
    }

    private mutating func parseMember() -> Value? {
        let value = rest.first == UInt8(ascii: "(") ? parseInnerList() : parseBareItem()
        return skipParameters() ? value : nil
    }

    private mutating func parseInnerList() -> Value? {
        guard take("(") else { return nil }
        while !rest.isEmpty {
            rest = rest.drop { $0 == UInt8(ascii: " ") }
            if take(")") { return .other }
            guard parseBareItem() != nil, skipParameters(),
                rest.first == UInt8(ascii: " ") || rest.first == UInt8(ascii: ")")
            else { return nil }
        }
        return nil
    }

    private mutating func skipParameters() -> Bool {
        while take(";") {
            rest = rest.drop { $0 == UInt8(ascii: " ") }
            guard parseKey() != nil else { return false }
            if take("="), parseBareItem() == nil { return false }
        }
        return true
    }

    private mutating func parseKey() -> String? {
        guard let first = rest.first, first.isLowercaseLetter || first == UInt8(ascii: "*") else { return nil }
        let key = rest.prefix { $0.isLowercaseLetter || $0.isDigit || "_-.*".utf8.contains($0) }
        rest = rest[key.endIndex...]
        return String(Substring(key))
    }

    private mutating func parseBareItem() -> Value? {
        switch rest.first {
        case UInt8(ascii: "\""): return parseString().map(Value.string)
        case UInt8(ascii: ":"): return parseBytes()
        case UInt8(ascii: "?"): return parseBoolean()
        case UInt8(ascii: "@"): return parseDate()
        case UInt8(ascii: "%"): return parseDisplayString()
        case UInt8(ascii: "-"): return parseNumber()
        case let first? where first.isDigit: return parseNumber()
        case let first? where first.isLetter || first == UInt8(ascii: "*"):
            rest = rest.drop { $0.isTokenCharacter || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: "/") }
            return .other
        default: return nil
        }
    }

    /// Parses an integer of up to 15 digits, or a decimal of up to 12 digits and 3 digits after the point.
    private mutating func parseNumber() -> Value? {
        let isNegative = take("-")
        let digits = takeDigits()
        guard !digits.isEmpty, digits.count <= 15 else { return nil }
        if take(".") {
            let fraction = takeDigits()
            return digits.count <= 12 && (1...3).contains(fraction.count) ? .other : nil
        }
        return Int64(Substring(digits)).map { .integer(isNegative ? -$0 : $0) }
    }

    private mutating func takeDigits() -> Substring.UTF8View {
        let digits = rest.prefix(while: \.isDigit)
        rest = rest[digits.endIndex...]
        return digits
    }

    private mutating func parseString() -> String? {
        guard take("\"") else { return nil }
        var bytes: [UInt8] = []
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: bytes, as: UTF8.self)
            case UInt8(ascii: "\\"):
                guard let escaped = rest.popFirst(), escaped == UInt8(ascii: "\"") || escaped == UInt8(ascii: "\\")
                else { return nil }
                bytes.append(escaped)
            case 0x20...0x7E: bytes.append(byte)
            default: return nil
            }
        }
        return nil
    }

    private mutating func parseBytes() -> Value? {
        guard take(":"), let end = rest.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        let isBase64 = rest[..<end].allSatisfy { $0.isLetter || $0.isDigit || "+/=".utf8.contains($0) }
        rest = rest[rest.index(after: end)...]
        return isBase64 ? .other : nil
    }

    private mutating func parseBoolean() -> Value? {
        guard take("?") else { return nil }
        if take("1") { return .boolean(true) }
        return take("0") ? .boolean(false) : nil
    }

    private mutating func parseDate() -> Value? {
        guard take("@"), case .integer = parseNumber() else { return nil }
        return .other
    }

    private mutating func parseDisplayString() -> Value? {
        guard take("%\"") else { return nil }
        var bytes: [UInt8] = []
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "\""): return String(validating: bytes, as: UTF8.self) == nil ? nil : .other
            case UInt8(ascii: "%"):
                guard let high = rest.popFirst()?.lowercaseHexValue, let low = rest.popFirst()?.lowercaseHexValue
                else { return nil }
                bytes.append(high << 4 | low)
            case 0x20...0x7E: bytes.append(byte)
            default: return nil
            }
        }
        return nil
    }

    /// Removes a text from the beginning, if it is there.
    private mutating func take(_ text: StaticString) -> Bool {
        let text = "\(text)"
        guard rest.starts(with: text.utf8) else { return false }
        rest = rest.dropFirst(text.utf8.count)
        return true
    }
}

extension UInt8 {
    fileprivate var isLowercaseLetter: Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self) }
    fileprivate var isLetter: Bool { isLowercaseLetter || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) }

    /// The value of a hexadecimal digit in lower case, the only case that display strings allow.
    fileprivate var lowercaseHexValue: UInt8? {
        if isDigit { return self - UInt8(ascii: "0") }
        return (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(self) ? self - UInt8(ascii: "a") + 10 : nil
    }
}
