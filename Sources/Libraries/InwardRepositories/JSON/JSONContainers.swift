/// The members of an object.
struct JSONObject<Key: CodingKey>: KeyedDecodingContainerProtocol {
    /// Objects with more members have an index.
    private static var maximumSearched: Int { 16 }

    private let decoder: JSONRecordDecoder
    private let end: Int
    /// The indices of the values, for objects with many members or unusual names.
    ///
    /// By the bytes of their names, because comparing strings by Unicode's rules can take quadratic time.
    private let values: [[UInt8]: Int]?

    private var text: JSONText { decoder.text }

    init(_ decoder: JSONRecordDecoder) throws {
        let element = decoder.text.elements[decoder.index]
        guard element.isObject else { throw decoder.mismatch([String: Any].self) }
        self.decoder = decoder
        end = Int(element.end)
        // Each member has two elements or more.
        let isSearched = element.kind == .plainObject && end - decoder.index <= 2 * Self.maximumSearched + 1
        values = isSearched ? nil : try Self.values(of: decoder, to: end)
    }

    private static func values(of decoder: JSONRecordDecoder, to end: Int) throws -> [[UInt8]: Int] {
        let text = decoder.text
        var values: [[UInt8]: Int] = [:]
        var index = decoder.index + 1
        while index < end {
            guard let name = text.string(at: index) else { throw decoder.corrupted("A name is not a valid string.") }
            // The first of several members with a name counts.
            let bytes = Array(name.utf8)
            if values[bytes] == nil { values[bytes] = index + 1 }
            index = text.elements[index + 1].indexOfNext(after: index + 1)
        }
        return values
    }

    /// Returns the index of the value of a member, or `nil` if no member has the name.
    private func index(of name: String) -> Int? {
        if let values { return values[Array(name.utf8)] }
        return text.index(of: name, from: decoder.index + 1, to: end)
    }

    private func member(_ key: Key) throws -> JSONRecordDecoder {
        JSONRecordDecoder(key, at: try value(key), in: decoder)
    }

    private func value(_ key: Key) throws -> Int {
        guard let index = index(of: key.stringValue) else {
            throw DecodingError.keyNotFound(key, decoder.context("The object has no member “\(key.stringValue)”."))
        }
        return index
    }

    var codingPath: [any CodingKey] { decoder.codingPath }

    var allKeys: [Key] {
        var keys: [Key] = []
        var name = decoder.index + 1
        while name < end {
            // Of several members with a name, only the first counts.
            if let text = text.string(at: name), index(of: text) == name + 1, let key = Key(stringValue: text) {
                keys.append(key)
            }
            name = text.elements[name + 1].indexOfNext(after: name + 1)
        }
        return keys
    }

    func contains(_ key: Key) -> Bool { index(of: key.stringValue) != nil }
    func decodeNil(forKey key: Key) throws -> Bool { text.elements[try value(key)].kind == .null }

    func decode(_ type: String.Type, forKey key: Key) throws -> String {
        try text.string(at: value(key)) ?? member(key).decode(type)
    }

    func decode(_ type: Int.Type, forKey key: Key) throws -> Int {
        try text.integer(at: value(key)).flatMap { Int(exactly: $0) } ?? member(key).decode(type)
    }

    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try member(key).decode(type) }
    func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try member(key).decode(type) }
    func decode(_ type: Float.Type, forKey key: Key) throws -> Float { try member(key).decode(type) }
    func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try member(key).decode(type) }
    func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try member(key).decode(type) }
    func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try member(key).decode(type) }
    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try member(key).decode(type) }
    func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try member(key).decode(type) }
    func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try member(key).decode(type) }
    func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try member(key).decode(type) }
    func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try member(key).decode(type) }
    func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try member(key).decode(type) }
    func decode(_ type: Int128.Type, forKey key: Key) throws -> Int128 { try member(key).decode(type) }
    func decode(_ type: UInt128.Type, forKey key: Key) throws -> UInt128 { try member(key).decode(type) }
    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value { try member(key).value(type) }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type,
        forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> {
        try member(key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try member(key).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder { superclass(JSONSuperKey()) }
    func superDecoder(forKey key: Key) throws -> any Decoder { superclass(key) }

    /// Returns the decoder of a superclass, which may need nothing, so a missing member is null.
    private func superclass(_ key: any CodingKey) -> JSONRecordDecoder {
        JSONRecordDecoder(key, at: index(of: key.stringValue) ?? text.absence, in: decoder)
    }
}

/// The name of the member in which a class keeps what its superclass needs.
private struct JSONSuperKey: CodingKey {
    var stringValue: String { "super" }
    var intValue: Int? { nil }

    init() {}
    init?(stringValue: String) { nil }
    init?(intValue: Int) { nil }
}

/// The elements of an array.
struct JSONArray: UnkeyedDecodingContainer {
    private let decoder: JSONRecordDecoder
    private let end: Int
    private var next: Int
    private(set) var currentIndex = 0

    init(_ decoder: JSONRecordDecoder) throws {
        let element = decoder.text.elements[decoder.index]
        guard element.kind == .array else { throw decoder.mismatch([Any].self) }
        self.decoder = decoder
        end = Int(element.end)
        next = decoder.index + 1
    }

    var codingPath: [any CodingKey] { decoder.codingPath }
    var isAtEnd: Bool { next == end }

    /// Takes time that is proportional to the count.
    var count: Int? {
        var count = currentIndex
        var index = next
        while index < end {
            count += 1
            index = decoder.text.elements[index].indexOfNext(after: index)
        }
        return count
    }

    /// Decodes the next element, and goes to the one after it unless that fails.
    private mutating func decodeNext<Value>(
        _ type: any Any.Type,
        _ decode: (JSONRecordDecoder) throws -> Value
    ) throws -> Value {
        let element = JSONRecordDecoder(JSONRecordDecoder.Position(currentIndex), at: next, in: decoder)
        guard !isAtEnd else {
            throw DecodingError.valueNotFound(type, element.context("The array has no more elements."))
        }
        let value = try decode(element)
        next = decoder.text.elements[next].indexOfNext(after: next)
        currentIndex += 1
        return value
    }

    mutating func decodeNil() throws -> Bool {
        guard isAtEnd || decoder.text.elements[next].kind == .null else { return false }
        return try decodeNext(Any?.self) { $0.decodeNil() }
    }

    mutating func decode(_ type: Bool.Type) throws -> Bool { try decodeNext(type) { try $0.decode(type) } }
    mutating func decode(_ type: String.Type) throws -> String { try decodeNext(type) { try $0.decode(type) } }
    mutating func decode(_ type: Double.Type) throws -> Double { try decodeNext(type) { try $0.decode(type) } }
    mutating func decode(_ type: Float.Type) throws -> Float { try decodeNext(type) { try $0.decode(type) } }
    mutating func decode(_ type: Int.Type) throws -> Int { try decodeNext(type) { try $0.integer() } }
    mutating func decode(_ type: Int8.Type) throws -> Int8 { try decodeNext(type) { try $0.integer() } }
    mutating func decode(_ type: Int16.Type) throws -> Int16 { try decodeNext(type) { try $0.integer() } }
    mutating func decode(_ type: Int32.Type) throws -> Int32 { try decodeNext(type) { try $0.integer() } }
    mutating func decode(_ type: Int64.Type) throws -> Int64 { try decodeNext(type) { try $0.integer() } }
    mutating func decode(_ type: UInt.Type) throws -> UInt { try decodeNext(type) { try $0.integer() } }
    mutating func decode(_ type: UInt8.Type) throws -> UInt8 { try decodeNext(type) { try $0.integer() } }
    mutating func decode(_ type: UInt16.Type) throws -> UInt16 { try decodeNext(type) { try $0.integer() } }
    mutating func decode(_ type: UInt32.Type) throws -> UInt32 { try decodeNext(type) { try $0.integer() } }
    mutating func decode(_ type: UInt64.Type) throws -> UInt64 { try decodeNext(type) { try $0.integer() } }
    mutating func decode(_ type: Int128.Type) throws -> Int128 { try decodeNext(type) { try $0.integer() } }
    mutating func decode(_ type: UInt128.Type) throws -> UInt128 { try decodeNext(type) { try $0.decode(type) } }
    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try decodeNext(type) { try $0.value(type) }
    }

    mutating func nestedContainer<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        try decodeNext(type) { try $0.container(keyedBy: type) }
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try decodeNext([Any].self) { try $0.unkeyedContainer() }
    }

    mutating func superDecoder() throws -> any Decoder { try decodeNext((any Decoder).self) { $0 } }
}
