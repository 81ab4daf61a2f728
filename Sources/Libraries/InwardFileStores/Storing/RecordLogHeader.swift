import InwardRepositories
import InwardTransfers

/// The beginning of a log, which says in which format the rest is written.
///
/// It is there twice, so that one damaged byte does not hide it. Each copy is a mark, the number of the format, and a checksum of
/// both. Every later format begins like this, whatever comes after.
struct RecordLogHeader {
    /// The format that this program writes. Logs without a header are of the format 0, and can be read.
    static let currentFormat: UInt64 = 1
    /// How many bytes both copies have.
    static let length = 2 * copyLength

    private static let copyLength = 24
    private static let mark = Array("INWARDRL".utf8)

    /// The format.
    let format: UInt64
    /// Whether both copies are sound.
    let isWhole: Bool

    /// Reads the beginning of a log; `nil` if no copy is sound.
    init?(_ bytes: [UInt8]) {
        let formats = [0, Self.copyLength].map { start in
            bytes.count < start + Self.copyLength ? nil : Self.format(of: bytes[start..<start + Self.copyLength])
        }
        guard let format = formats.compactMap(\.self).first else { return nil }
        self.format = format
        isWhole = formats == [format, format]
    }

    /// A header in bytes.
    static func bytes(format: UInt64 = currentFormat) -> [UInt8] {
        let copy = mark + format.littleEndianBytes
        let sum = Checksum(of: copy.span).value.littleEndianBytes
        return copy + sum + copy + sum
    }

    /// Why a log of a newer format is left as it is.
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

extension UInt64 {
    /// Its eight bytes, the lowest first.
    var littleEndianBytes: [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: self &>> UInt64(8 &* $0)) }
    }
}
