#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A JSON text (RFC 8259) and the places of its values.
///
/// It has the same syntax as Foundation's decoder, which also accepts a comma after the last value of an array or an object. Numbers and
/// strings are checked only when they are read, so that a damaged one costs nothing but its record.
final class JSONText: Sendable {
    /// The place of a value, or of the name of a member.
    struct Element {
        enum Kind: UInt8 {
            case null
            case `false`
            case `true`
            case number
            /// A string whose characters are its bytes, if they are valid UTF-8.
            case plainString
            /// A string with escapes or with control characters, which are not allowed.
            case escapedString
            case array
            /// An object whose names are plain and ASCII. Its elements are a name, a value, the next name, and so on.
            case plainObject
            /// Another object.
            case object
        }

        fileprivate(set) var kind: Kind
        /// Where the value begins in the bytes. A string begins after its quotation mark.
        let start: UInt32
        /// Where the value ends in the bytes. For an array or an object, the index of the element after its last one.
        fileprivate(set) var end: UInt32

        /// Returns the index of the element after this one and what it contains.
        func indexOfNext(after index: Int) -> Int { kind == .array || isObject ? Int(end) : index + 1 }

        var isObject: Bool { kind == .plainObject || kind == .object }
    }

    let bytes: [UInt8]
    /// The whole value, then what it consists of, in the order of the text, and then null.
    let elements: [Element]

    /// Finds the values of a text.
    ///
    /// - Throws: a `DecodingError` if the text is not JSON, is nested more than 512 levels deep, or has more than 4 GB.
    init(_ text: Data) throws {
        guard text.count < UInt32.max else { throw Self.error("The text has more than 4 GB.") }
        bytes = [UInt8](text)
        var scanner = JSONScanner(bytes: bytes)
        guard scanner.scan() else { throw Self.error("The text is not JSON from byte \(scanner.position).") }
        elements = scanner.elements + [Element(kind: .null, start: 0, end: 0)]
    }

    private static func error(_ explanation: String) -> DecodingError {
        .dataCorrupted(DecodingError.Context(codingPath: [], debugDescription: explanation))
    }

    /// The element of a value that does not exist.
    var absence: Int { elements.count - 1 }

    /// Returns whether a text may have another encoding than UTF-8, or begins with a byte order mark. RFC 8259 allows neither between
    /// systems.
    static func isForeign(_ text: Data) -> Bool { text.prefix(4).contains { [0, 0xEF, 0xFE, 0xFF].contains($0) } }
}

/// Finds the values of a JSON text, without recursion, because the text may be nested deeply.
private struct JSONScanner {
    private static let maximumDepth = 512

    let bytes: [UInt8]
    private(set) var position = 0
    private(set) var elements: [JSONText.Element] = []
    /// The indices of the arrays and objects that have begun and not ended.
    private var open: [Int] = []

    init(bytes: [UInt8]) { self.bytes = bytes }

    /// Returns whether the whole text is one value. If it is not, the position is where it stops being one.
    mutating func scan() -> Bool {
        // Records have about one value for each 16 bytes.
        elements.reserveCapacity(bytes.count / 16 + 1)
        guard scanValue() else { return false }
        var isAfterValue = open.isEmpty
        while let container = open.last {
            let isObject = elements[container].isObject
            let byte = nextByte()
            if byte == (isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) {
                position += 1
                elements[container].end = UInt32(elements.count)
                open.removeLast()
                isAfterValue = true
            } else if isAfterValue {
                guard byte == UInt8(ascii: ",") else { return false }
                position += 1
                isAfterValue = false
            } else {
                guard !isObject || scanName(in: container) else { return false }
                let depth = open.count
                guard scanValue() else { return false }
                isAfterValue = open.count == depth
            }
        }
        return nextByte() == nil
    }

    /// Skips whitespace. Returns the byte after it without skipping that as well, or `nil` at the end.
    private mutating func nextByte() -> UInt8? {
        while position < bytes.count {
            switch bytes[position] {
            case 0x20, 0x0A, 0x0D, 0x09: position += 1
            case let byte: return byte
            }
        }
        return nil
    }

    /// Scans the name of a member, and the colon after it.
    private mutating func scanName(in object: Int) -> Bool {
        guard nextByte() == UInt8(ascii: "\""), scanString() else { return false }
        if let name = elements.last, name.kind != .plainString || !isASCII(name) { elements[object].kind = .object }
        guard nextByte() == UInt8(ascii: ":") else { return false }
        position += 1
        return true
    }

    private func isASCII(_ string: JSONText.Element) -> Bool {
        bytes[Int(string.start)..<Int(string.end)].allSatisfy { $0 < 0x80 }
    }

    /// Scans a value, or the beginning of an array or an object.
    private mutating func scanValue() -> Bool {
        guard let byte = nextByte() else { return false }
        switch byte {
        case UInt8(ascii: "\""): return scanString()
        case UInt8(ascii: "{"): return begin(.plainObject)
        case UInt8(ascii: "["): return begin(.array)
        case UInt8(ascii: "t"): return scan("true", as: .true)
        case UInt8(ascii: "f"): return scan("false", as: .false)
        case UInt8(ascii: "n"): return scan("null", as: .null)
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
            scanNumber()
            return true
        default: return false
        }
    }

    private mutating func scanNumber() {
        let start = position
        scanning: while position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: "."),
                UInt8(ascii: "e"), UInt8(ascii: "E"):
                position += 1
            default: break scanning
            }
        }
        append(.number, from: start)
    }

    private mutating func begin(_ kind: JSONText.Element.Kind) -> Bool {
        guard open.count < Self.maximumDepth else { return false }
        open.append(elements.count)
        append(kind, from: position)
        position += 1
        return true
    }

    private mutating func scan(_ literal: StaticString, as kind: JSONText.Element.Kind) -> Bool {
        let start = position
        guard bytes[position...].starts(with: literal.description.utf8) else { return false }
        position += literal.utf8CodeUnitCount
        append(kind, from: start)
        return true
    }

    private mutating func scanString() -> Bool {
        let start = position + 1
        var end = start
        var isPlain = true
        while end < bytes.count {
            let byte = bytes[end]
            if byte == UInt8(ascii: "\"") {
                position = end
                append(isPlain ? .plainString : .escapedString, from: start)
                position = end + 1
                return true
            }
            if byte == UInt8(ascii: "\\") {
                isPlain = false
                end += 1
            } else if byte < 0x20 {
                isPlain = false
            }
            end += 1
        }
        position = bytes.count
        return false
    }

    private mutating func append(_ kind: JSONText.Element.Kind, from start: Int) {
        elements.append(JSONText.Element(kind: kind, start: UInt32(start), end: UInt32(position)))
    }
}
