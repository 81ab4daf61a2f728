#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Decodes a value of a JSON text, as `JSONDecoder` does with its default strategies, but lists of records in half the time.
///
/// Its errors have the path of the field, even if a number does not fit or a string is not valid Unicode.
final class JSONRecordDecoder: Decoder {
    /// A position in an array.
    struct Position: CodingKey {
        let position: Int

        var intValue: Int? { position }
        var stringValue: String { String(position) }

        init(_ position: Int) { self.position = position }
        init?(intValue: Int) { self.init(intValue) }
        init?(stringValue: String) { nil }
    }

    let text: JSONText
    /// The element of the value.
    let index: Int
    private let parent: JSONRecordDecoder?
    /// The place of the value in its parent.
    private let key: (any CodingKey)?

    private init(_ text: JSONText) { (self.text, index, parent, key) = (text, 0, nil, nil) }

    /// Creates the decoder of a value in another one.
    init(_ key: any CodingKey, at index: Int, in parent: JSONRecordDecoder) {
        text = parent.text
        self.index = index
        self.parent = parent
        self.key = key
    }

    /// Decodes a complete text.
    ///
    /// - Throws: a `DecodingError`, or what the type throws.
    static func decode<Value: Decodable>(_ type: Value.Type, from body: Data) throws -> Value {
        guard !JSONText.isForeign(body) else { return try JSONDecoder().decode(type, from: body) }
        return try Self(JSONText(body)).value(type)
    }

    var codingPath: [any CodingKey] {
        var path: [any CodingKey] = []
        var place = self
        while let key = place.key, let parent = place.parent {
            path.append(key)
            place = parent
        }
        return path.reversed()
    }

    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(try JSONObject<Key>(self))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { try JSONArray(self) }

    func singleValueContainer() throws -> any SingleValueDecodingContainer { self }

    /// Returns the error that the value is not of a type.
    func mismatch(_ type: any Any.Type) -> DecodingError {
        decodeNil()
            ? .valueNotFound(type, context("The value is null."))
            : .typeMismatch(type, context("The value is not of the type \(type)."))
    }

    /// Returns the error that the value is damaged.
    func corrupted(_ explanation: String) -> DecodingError { .dataCorrupted(context(explanation)) }

    func context(_ explanation: String) -> DecodingError.Context {
        DecodingError.Context(codingPath: codingPath, debugDescription: explanation)
    }
}

extension JSONRecordDecoder: SingleValueDecodingContainer {
    func decodeNil() -> Bool { text.elements[index].kind == .null }
    func decode(_ type: Bool.Type) throws -> Bool { try text.bool(at: index) ?? { throw mismatch(type) }() }
    func decode(_ type: String.Type) throws -> String { try text.string(at: index) ?? { throw mismatch(type) }() }
    func decode(_ type: Double.Type) throws -> Double { try text.number(at: index) ?? { throw mismatch(type) }() }
    func decode(_ type: Float.Type) throws -> Float { try text.number(at: index) ?? { throw mismatch(type) }() }
    func decode(_ type: Int.Type) throws -> Int { try integer() }
    func decode(_ type: Int8.Type) throws -> Int8 { try integer() }
    func decode(_ type: Int16.Type) throws -> Int16 { try integer() }
    func decode(_ type: Int32.Type) throws -> Int32 { try integer() }
    func decode(_ type: Int64.Type) throws -> Int64 { try integer() }
    func decode(_ type: UInt.Type) throws -> UInt { try integer() }
    func decode(_ type: UInt8.Type) throws -> UInt8 { try integer() }
    func decode(_ type: UInt16.Type) throws -> UInt16 { try integer() }
    func decode(_ type: UInt32.Type) throws -> UInt32 { try integer() }
    func decode(_ type: UInt64.Type) throws -> UInt64 { try integer() }
    func decode(_ type: Int128.Type) throws -> Int128 { try integer() }

    func decode(_ type: UInt128.Type) throws -> UInt128 {
        // Only this type has larger numbers than those that the text reads.
        try text.numeral(at: index).flatMap { UInt128($0) } ?? integer()
    }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try value(type) }

    func integer<Value: FixedWidthInteger>() throws -> Value {
        guard let value = text.integer(at: index).flatMap({ Value(exactly: $0) }) else { throw mismatch(Value.self) }
        return value
    }

    /// Returns a value of any type. JSON has its own form for some types, and the others decode themselves.
    func value<Value: Decodable>(_ type: Value.Type) throws -> Value {
        let special: Any
        if type == URL.self {
            guard let url = URL(string: try decode(String.self)) else { throw corrupted("The text is not a URL.") }
            special = url
        } else if type == Data.self {
            let base64 = try decode(String.self)
            guard let data = Data(base64Encoded: base64) else { throw corrupted("The text is not base64.") }
            special = data
        } else if type == Decimal.self {
            let numeral = text.numeral(at: index)
            guard let number = numeral.flatMap({ Decimal(string: $0) }) else { throw mismatch(type) }
            special = number
        } else {
            return try Value(from: self)
        }
        guard let value = special as? Value else { throw mismatch(type) }
        return value
    }
}
