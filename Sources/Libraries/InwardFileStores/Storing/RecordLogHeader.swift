import InwardRepositories
import InwardTransfers

/// The header of a log, which contains the format version of the rest.
///
/// The header is stored twice, so that one damaged byte does not hide it. Each copy consists of a mark, the format number, and a
/// checksum of both. All later formats begin the same way.
struct RecordLogHeader {
    /// The format that this version writes. A log without a header has format 0, which can still be read.
    static let currentFormat: UInt64 = 1
    /// The length of both copies, in bytes.
    static let length = 2 * copyLength

    private static let copyLength = 24
    private static let mark = Array("INWARDRL".utf8)

    /// The format number.
    let format: UInt64
    /// Whether both copies are intact.
    let isWhole: Bool

    /// Decodes a header, or returns `nil` if neither copy is intact.
    init?(_ bytes: [UInt8]) {
        let formats = [0, Self.copyLength].map { start in
            bytes.count < start + Self.copyLength ? nil : Self.format(of: bytes[start..<start + Self.copyLength])
        }
        guard let format = formats.compactMap(\.self).first else { return nil }
        self.format = format
        isWhole = formats == [format, format]
    }

    /// Returns an encoded header.
    static func bytes(format: UInt64 = currentFormat) -> [UInt8] {
        let copy = mark + format.littleEndianBytes
        let sum = Checksum(of: copy.span).value.littleEndianBytes
        return copy + sum + copy + sum
    }

    /// Returns the error for a log of a newer format, which is left unchanged.
    static func newerFormat(_ format: String, path: String) -> RecordStoreError {
        RecordStoreError(
            .unavailable,
            explanation: """
                “\(path)” was written by a newer version of this program: \(format), and this one knows the formats up to \
                \(currentFormat). Nothing was changed. Run the newer version, or name another directory.
                """
        )
    }

    private static func format(of copy: ArraySlice<UInt8>) -> UInt64? {
        let bytes = Array(copy)
        var cursor = ByteCursor(Array(bytes.dropFirst(mark.count)))
        guard bytes.starts(with: mark), let format = cursor.word(),
            cursor.word() == Checksum(of: Array(bytes.prefix(16)).span).value
        else { return nil }
        return format
    }
}

/// Reads numbers and bytes in sequence, without reading past the end.
struct ByteCursor {
    private let bytes: [UInt8]
    private var position = 0

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Whether all bytes have been read.
    var isAtEnd: Bool { position == bytes.count }

    /// Reads the next byte.
    mutating func byte() -> UInt8? { take(1)?.first }

    /// Reads the next eight bytes as a little-endian number.
    mutating func word() -> UInt64? {
        take(8)?.reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// Reads the next number, if it does not exceed a bound.
    mutating func count(upTo bound: Int) -> Int? {
        guard let number = word().flatMap({ Int(exactly: $0) }), number <= bound else { return nil }
        return number
    }

    /// Reads the given number of bytes.
    mutating func take(_ count: Int) -> ArraySlice<UInt8>? {
        guard count <= bytes.count - position else { return nil }
        defer { position += count }
        return bytes[position..<position + count]
    }
}

extension UInt64 {
    /// The eight bytes of the number in little-endian order.
    var littleEndianBytes: [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: self &>> UInt64(8 &* $0)) }
    }
}
