/// Reads numbers and bytes in sequence, and never past the end.
struct ByteCursor {
    private let bytes: [UInt8]
    private var position = 0

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Whether nothing is left.
    var isAtEnd: Bool { position == bytes.count }

    /// The next byte.
    mutating func byte() -> UInt8? { take(1)?.first }

    /// The next eight bytes, the lowest first.
    mutating func word() -> UInt64? {
        take(8)?.reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// Reads the next number, if it does not exceed a bound.
    mutating func count(upTo bound: Int) -> Int? {
        guard let number = word().flatMap({ Int(exactly: $0) }), number <= bound else { return nil }
        return number
    }

    /// So many of the next bytes.
    mutating func take(_ count: Int) -> ArraySlice<UInt8>? {
        guard count <= bytes.count - position else { return nil }
        defer { position += count }
        return bytes[position..<position + count]
    }
}
