import Foundation
import InwardRecordDirectories
import InwardRepositories
import InwardTransfers

/// The encoded changes of one commit: a head that describes them, the values, and a second head with the same contents.
///
/// All numbers are 64-bit little-endian. A head consists of a mark, the frame's offset in the file, the byte counts of the
/// operations and of the values, a checksum, and the operations. Because of the offset, a value that contains a copy of a frame
/// is never mistaken for a frame.
struct RecordFrame: Sendable {
    /// Marks the first or the second head of a frame.
    enum Mark: String, CaseIterable {
        case head = "RECORDS{"
        case tail = "RECORDS}"
    }

    /// The number of bytes in a head before its operations.
    static let prefixLength = 40

    /// The offset of the frame.
    let offset: Int
    /// The changes, in order.
    let operations: [RecordOperation]
    /// The offset of the values.
    let bodyOffset: Int
    /// The offset of the second head, which is the end of the values.
    let tailOffset: Int

    /// The offset of the next frame.
    var end: Int { tailOffset + (bodyOffset - offset) }

    /// Creates a frame from its head, or returns `nil` if the bytes do not describe one.
    ///
    /// - Throws: An error if a newer program wrote the frame.
    init?(
        _ prefix: RecordFramePrefix,
        operations bytes: [UInt8]
    ) throws(RecordOperationCoding.UnknownOperation) {
        guard prefix.isFulfilled(by: bytes) else { return nil }
        offset = prefix.offset
        bodyOffset = offset + Self.prefixLength + prefix.operationsLength
        tailOffset = bodyOffset + prefix.bodyLength
        guard
            let operations = try RecordOperationCoding.operations(of: bytes, body: bodyOffset..<tailOffset)
        else {
            return nil
        }
        self.operations = operations
    }

    /// Returns the size of a record in the log, without its value.
    static func byteCount(ofKeyLength length: Int) -> Int {
        2 * (RecordOperationCoding.overhead + length)
    }
}

/// The fixed-size beginning of a ``RecordFrame`` head, which contains the length of the rest.
struct RecordFramePrefix: Equatable, Sendable {
    let mark: RecordFrame.Mark
    let offset: Int
    let operationsLength: Int
    let bodyLength: Int
    let checksum: UInt64

    /// The maximum valid number. Sums of larger numbers could overflow.
    private static let bound = Int.max >> 8

    /// Creates the prefix of a head with these operations.
    init(_ mark: RecordFrame.Mark, offset: Int, operations: [UInt8], bodyLength: Int) {
        self.mark = mark
        self.offset = offset
        operationsLength = operations.count
        self.bodyLength = bodyLength
        checksum = Self.checksum(mark, offset, bodyLength, operations)
    }

    /// Decodes a prefix, or returns `nil` if the bytes are invalid.
    init?(_ bytes: ArraySlice<UInt8>) {
        guard bytes.count == RecordFrame.prefixLength,
            let mark = RecordFrame.Mark.allCases.first(where: { bytes.starts(with: $0.rawValue.utf8) })
        else { return nil }
        self.mark = mark
        var cursor = ByteCursor(Array(bytes.dropFirst(8)))
        guard let offset = cursor.count(upTo: Self.bound),
            let operationsLength = cursor.count(upTo: Self.bound),
            let bodyLength = cursor.count(upTo: Self.bound), let checksum = cursor.word()
        else { return nil }
        self.offset = offset
        self.operationsLength = operationsLength
        self.bodyLength = bodyLength
        self.checksum = checksum
    }

    /// The encoded prefix.
    var bytes: [UInt8] {
        Array(mark.rawValue.utf8) + UInt64(offset).littleEndianBytes
            + UInt64(operationsLength).littleEndianBytes
            + UInt64(bodyLength).littleEndianBytes + checksum.littleEndianBytes
    }

    /// The offset of the head in the file, according to the prefix.
    var position: Int {
        mark == .head ? offset : offset + RecordFrame.prefixLength + operationsLength + bodyLength
    }

    /// Returns whether these operations belong to the prefix.
    func isFulfilled(by operations: [UInt8]) -> Bool {
        operations.count == operationsLength
            && checksum == Self.checksum(mark, offset, bodyLength, operations)
    }

    private static func checksum(
        _ mark: RecordFrame.Mark,
        _ offset: Int,
        _ bodyLength: Int,
        _ operations: [UInt8]
    ) -> UInt64 {
        // The operations are hashed separately, so that they need not be copied into one buffer with the other parts.
        let parts = [
            Checksum(of: operations.span).value, UInt64(offset), UInt64(operations.count),
            UInt64(bodyLength),
        ]
        let bytes = Array(mark.rawValue.utf8) + parts.flatMap(\.littleEndianBytes)
        return Checksum(of: bytes.span).value
    }
}

/// The header of a log, which contains the format version of the rest.
///
/// The header is stored twice, so that one damaged byte does not destroy it. Each copy consists of a mark, the format number,
/// and a checksum of both. All later formats must begin with this header.
struct RecordLogHeader {
    /// The format that this version writes. A log without a header has format 0, which this version can still read.
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

    /// Returns the error for a log with a newer format. The log stays unchanged.
    static func newerFormat(_ format: String, path: String) -> RecordStoreError {
        RecordStoreError(
            .unavailable,
            explanation: """
                “\(path)” was written by a newer version of this program: \(format), and this version knows formats up to \
                \(currentFormat). Nothing was changed. Run the newer version, or use another directory.
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

    /// Reads the next version or fencing token.
    mutating func number() -> UInt64? {
        word().flatMap { $0 <= RecordStamp.maximumNumber ? $0 : nil }
    }

    /// Reads the next date.
    mutating func date() -> Date? {
        word().map { Date(timeIntervalSinceReferenceDate: Double(bitPattern: $0)) }
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

extension Date {
    /// The eight bytes of the date.
    var littleEndianBytes: [UInt8] { timeIntervalSinceReferenceDate.bitPattern.littleEndianBytes }
}
