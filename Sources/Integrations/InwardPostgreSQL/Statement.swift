#if PostgreSQL
/// A statement with its parameters. SQL never contains data.
struct Statement {
    /// The SQL, or the name of a prepared statement.
    let text: String
    let isPrepared: Bool
    let parameters: [Parameter]

    /// A statement that is prepared on each connection.
    init(_ prepared: PreparedStatement, _ parameters: [Parameter] = []) {
        self.init(text: prepared.rawValue, isPrepared: true, parameters: parameters)
    }

    /// A statement that is not prepared.
    init(sql: String, _ parameters: [Parameter] = []) {
        self.init(text: sql, isPrepared: false, parameters: parameters)
    }

    private init(text: String, isPrepared: Bool, parameters: [Parameter]) {
        self.text = text
        self.isPrepared = isPrepared
        self.parameters = parameters
    }
}

/// A value for a placeholder of a statement.
enum Parameter {
    case bytes([UInt8])
    case text(String)
    case integer(Int64)
    case number(Double)
    case byteArrays([[UInt8]])
    /// `nil` is `NULL`.
    case integers([Int64?])
    case numbers([Double?])
}

/// Parameters in PostgreSQL's binary format.
struct EncodedParameters {
    /// The object identifiers of the element types of arrays.
    private enum ElementType {
        static let bytea: Int32 = 17
        static let int8: Int32 = 20
        static let float8: Int32 = 701
    }

    /// The values, one after the other.
    private(set) var bytes: [UInt8] = []
    /// The length of each value.
    private(set) var lengths: [Int32] = []

    init(_ parameters: [Parameter]) {
        for parameter in parameters {
            let start = bytes.count
            switch parameter {
            case .bytes(let value): bytes += value
            case .text(let text): bytes += text.utf8
            case .integer(let value): append(value)
            case .number(let value): append(value.bitPattern)
            case .byteArrays(let values): append(values, ElementType.bytea) { $0.bytes += $1 }
            case .integers(let values): append(values, ElementType.int8) { $0.append($1) }
            case .numbers(let values): append(values, ElementType.float8) { $0.append($1.bitPattern) }
            }
            lengths.append(Int32(clamping: bytes.count - start))
        }
    }

    private mutating func append(_ value: some FixedWidthInteger) {
        for shift in stride(from: value.bitWidth - 8, through: 0, by: -8) {
            bytes.append(UInt8(truncatingIfNeeded: value >> shift))
        }
    }

    /// Appends an array: the number of dimensions, whether it contains `NULL`, the element type, the size and first index of
    /// the dimension, and each element after its length.
    private mutating func append<Element>(
        _ values: [Element?],
        _ type: Int32,
        _ encode: (inout Self, Element) -> Void
    ) {
        append(values.isEmpty ? 0 : 1 as Int32)
        append(values.contains { $0 == nil } ? 1 : 0 as Int32)
        append(type)
        guard !values.isEmpty else { return }
        append(Int32(clamping: values.count))
        append(1 as Int32)
        for value in values {
            guard let value else {
                append(-1 as Int32)
                continue
            }
            let place = bytes.count
            append(0 as Int32)
            encode(&self, value)
            let length = Int32(clamping: bytes.count - place - 4)
            for (index, shift) in [24, 16, 8, 0].enumerated() {
                bytes[place + index] = UInt8(truncatingIfNeeded: length >> shift)
            }
        }
    }
}

/// A row of a result, in PostgreSQL's binary format.
struct Row: Hashable {
    let values: [[UInt8]?]

    /// Returns the bytes in a column, or `nil` if they are `NULL`.
    func bytes(_ column: Int) -> [UInt8]? { values[column] }

    /// Returns the text in a column.
    func text(_ column: Int) -> String? { values[column].map { String(decoding: $0, as: UTF8.self) } }

    /// Returns the integer in a column, which may have 1 to 8 bytes.
    func integer(_ column: Int) -> Int64? {
        guard let bytes = values[column], (1...8).contains(bytes.count) else { return nil }
        let isNegative = bytes[0] & 0x80 != 0
        return bytes.reduce(isNegative ? -1 : 0) { $0 << 8 | Int64($1) }
    }

    /// Returns the number in a column.
    func number(_ column: Int) -> Double? {
        integer(column).map { Double(bitPattern: UInt64(bitPattern: $0)) }
    }
}
#endif
