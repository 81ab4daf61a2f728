#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension JSONText {
    /// Returns the index of the value of the first member with a name.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - start: The index of the name of the first member, of an object whose names are plain.
    ///   - end: The index after the last member.
    /// - Returns: The index of the value, or `nil` if no member has the name.
    func index(of name: String, from start: Int, to end: Int) -> Int? {
        var index = start
        while index < end {
            guard !isEqual(elements[index], name) else { return index + 1 }
            index = elements[index + 1].indexOfNext(after: index + 1)
        }
        return nil
    }

    private func isEqual(_ element: Element, _ name: String) -> Bool {
        var position = Int(element.start)
        guard Int(element.end) - position == name.utf8.count else { return false }
        for byte in name.utf8 {
            guard bytes[position] == byte else { return false }
            position += 1
        }
        return true
    }

    /// Returns a string or the name of a member, or `nil` if the element is not a valid string.
    func string(at index: Int) -> String? {
        let element = elements[index]
        return switch element.kind {
        case .plainString: Self.text(bytes, Int(element.start)..<Int(element.end))
        case .escapedString: unescaped(element)
        default: nil
        }
    }

    /// Returns the text of some bytes, or `nil` if they are not valid UTF-8.
    private static func text(_ bytes: [UInt8], _ range: Range<Int>) -> String? {
        // Saves 50 ns: `String(validating:)` looks up generic types each time.
        if #available(macOS 26, iOS 26, watchOS 26, tvOS 26, *) {
            guard let text = try? UTF8Span(validating: bytes.span.extracting(range)) else { return nil }
            return String(copying: text)
        }
        return String(validating: bytes[range], as: UTF8.self)
    }

    /// Returns the bytes of a number.
    private func bytes(of element: Element) -> ArraySlice<UInt8> { bytes[Int(element.start)..<Int(element.end)] }

    /// Returns true or false, or `nil` if the value is neither.
    func bool(at index: Int) -> Bool? {
        switch elements[index].kind {
        case .true: true
        case .false: false
        default: nil
        }
    }

    /// Returns an integer, or `nil` if the value is not one.
    func integer(at index: Int) -> Int128? {
        let element = elements[index]
        guard element.kind == .number else { return nil }
        var value = 0
        // Most integers have few digits, which cannot overflow.
        guard element.end - element.start <= 18 else { return integer(bytes(of: element)) }
        for position in Int(element.start)..<Int(element.end) {
            let digit = bytes[position] &- UInt8(ascii: "0")
            // No number but 0 begins with 0.
            guard digit < 10, value > 0 || position == element.start || bytes[position - 1] != UInt8(ascii: "0") else {
                return integer(bytes(of: element))
            }
            value = value &* 10 &+ Int(digit)
        }
        return Int128(value)
    }

    /// Returns a number, or `nil` if the value is not a valid number, or is too large for the type.
    func number<Value: BinaryFloatingPoint & LosslessStringConvertible>(at index: Int) -> Value? {
        guard let text = numeral(at: index), let value = Value(text), value.isFinite else { return nil }
        return value
    }

    /// Returns the text of a number, or `nil` if the value is not a valid number.
    func numeral(at index: Int) -> String? {
        let element = elements[index]
        guard element.kind == .number, Self.isNumber(bytes(of: element)) else { return nil }
        return String(decoding: bytes(of: element), as: UTF8.self)
    }
}

extension JSONText {
    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    /// Returns whether a text is a number by RFC 8259, section 6.
    private static func isNumber(_ text: ArraySlice<UInt8>) -> Bool {
        var rest = text
        func hasDigits() -> Bool {
            let digits = rest.prefix(while: isDigit)
            rest = rest.dropFirst(digits.count)
            return !digits.isEmpty
        }
        if rest.first == UInt8(ascii: "-") { rest.removeFirst() }
        if rest.first == UInt8(ascii: "0") { rest.removeFirst() } else if !hasDigits() { return false }
        if rest.first == UInt8(ascii: ".") {
            rest.removeFirst()
            guard hasDigits() else { return false }
        }
        if let letter = rest.first, letter | 0x20 == UInt8(ascii: "e") {
            rest.removeFirst()
            if let sign = rest.first, sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") { rest.removeFirst() }
            guard hasDigits() else { return false }
        }
        return rest.isEmpty
    }

    /// Returns any number that is whole, such as `-1`, `1.0` or `12e2`.
    private func integer(_ text: ArraySlice<UInt8>) -> Int128? {
        guard Self.isNumber(text) else { return nil }
        let parts = text.split(maxSplits: 1) { $0 | 0x20 == UInt8(ascii: "e") }
        let fraction = parts[0].firstIndex(of: UInt8(ascii: ".")).map { parts[0].endIndex - $0 - 1 } ?? 0
        var digits = parts[0].filter { $0 != UInt8(ascii: ".") }
        let zeros = digits.reversed().prefix { $0 == UInt8(ascii: "0") }.count
        digits.removeLast(zeros)
        guard digits.last.map(Self.isDigit) == true else { return 0 }
        guard let exponent = parts.count == 1 ? 0 : Int(String(decoding: parts[1], as: UTF8.self)) else { return nil }
        let (scale, overflows) = exponent.addingReportingOverflow(zeros - fraction)
        // The type has 39 digits.
        guard !overflows, (0...39).contains(scale) else { return nil }
        digits += Array(repeating: UInt8(ascii: "0"), count: scale)
        return Int128(String(decoding: digits, as: UTF8.self))
    }

    /// Returns the characters of a string with escapes, or `nil` if it is not valid.
    private func unescaped(_ element: Element) -> String? {
        var characters: [UInt8] = []
        var position = Int(element.start)
        let end = Int(element.end)
        characters.reserveCapacity(end - position)
        while true {
            let start = position
            while position < end, bytes[position] != UInt8(ascii: "\\"), bytes[position] >= 0x20 { position += 1 }
            characters.append(contentsOf: bytes[start..<position])
            guard position < end else { return Self.text(characters, characters.indices) }
            guard bytes[position] == UInt8(ascii: "\\"), position + 1 < end else { return nil }
            let letter = bytes[position + 1]
            position += 2
            switch letter {
            case UInt8(ascii: "b"): characters.append(0x08)
            case UInt8(ascii: "f"): characters.append(0x0C)
            case UInt8(ascii: "n"): characters.append(0x0A)
            case UInt8(ascii: "r"): characters.append(0x0D)
            case UInt8(ascii: "t"): characters.append(0x09)
            case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): characters.append(letter)
            case UInt8(ascii: "u"):
                var rest = bytes[position..<end]
                guard let character = Self.escapedCharacter(&rest) else { return nil }
                characters.append(contentsOf: UTF8.encode(character) ?? UTF8.encodedReplacementCharacter)
                position = rest.startIndex
            default: return nil
            }
        }
    }

    /// Returns the character of `\u`, which is one of UTF-16, or two with another `\u` between them.
    private static func escapedCharacter(_ rest: inout ArraySlice<UInt8>) -> Unicode.Scalar? {
        func unit() -> UInt16? {
            let digits = rest.prefix(4)
            rest = rest.dropFirst(4)
            guard digits.count == 4, digits.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }) else { return nil }
            return UInt16(String(decoding: digits, as: UTF8.self), radix: 16)
        }
        guard let first = unit() else { return nil }
        guard UTF16.isSurrogate(first) else { return Unicode.Scalar(first) }
        guard UTF16.isLeadSurrogate(first), rest.popFirst() == UInt8(ascii: "\\"), rest.popFirst() == UInt8(ascii: "u"),
            let second = unit(), UTF16.isTrailSurrogate(second)
        else { return nil }
        return UTF16.decode(UTF16.EncodedScalar([first, second]))
    }
}
