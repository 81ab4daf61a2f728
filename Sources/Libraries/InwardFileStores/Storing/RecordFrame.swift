import Foundation
import InwardTransfers

/// The changes of one commit as they are in the log: a head that says what they are, the bytes of what is kept, and the head again.
///
/// All numbers are of 64 bits, the lowest byte first. A head is a mark, where the frame begins in the file, how many bytes of
/// operations and of values there are, a checksum, and the operations. A frame that was written stands where it says it does,
/// so what is inside of a value is never taken for one.
struct RecordFrame: Sendable {
    /// Which of the two heads of a frame one is.
    enum Mark: String, CaseIterable {
        case head = "RECORDS{"
        case tail = "RECORDS}"
    }

    /// How many bytes a head has before its operations.
    static let prefixLength = 40

    /// Where it begins.
    let offset: Int
    /// What is changed, in order.
    let operations: [RecordOperation]
    /// Where the bytes of what is kept begin.
    let bodyOffset: Int
    /// Where they end, and the second head begins.
    let tailOffset: Int

    /// Where the next frame begins.
    var end: Int { tailOffset + (bodyOffset - offset) }

    /// Makes a frame of what its heads say; `nil` if they do not describe one.
    ///
    /// - Throws: an error if a newer program wrote it.
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

    /// What a record takes beside its value.
    static func byteCount(ofKeyLength length: Int) -> Int {
        2 * (RecordOperationCoding.overhead + length)
    }
}

/// The beginning of a head of a ``RecordFrame``, which says how long the rest is.
struct RecordFramePrefix: Equatable, Sendable {
    let mark: RecordFrame.Mark
    let offset: Int
    let operationsLength: Int
    let bodyLength: Int
    let checksum: UInt64

    /// Larger numbers are of no file, and might not be added.
    private static let bound = Int.max >> 8

    /// Makes the beginning of a head of these operations.
    init(_ mark: RecordFrame.Mark, offset: Int, operations: [UInt8], bodyLength: Int) {
        self.mark = mark
        self.offset = offset
        operationsLength = operations.count
        self.bodyLength = bodyLength
        checksum = Self.checksum(mark, offset, bodyLength, operations)
    }

    /// Reads a prefix; `nil` if the bytes are not one.
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

    /// The beginning in bytes.
    var bytes: [UInt8] {
        Array(mark.rawValue.utf8) + UInt64(offset).littleEndianBytes
            + UInt64(operationsLength).littleEndianBytes
            + UInt64(bodyLength).littleEndianBytes + checksum.littleEndianBytes
    }

    /// Where the head begins in the file, by what it says.
    var position: Int {
        mark == .head ? offset : offset + RecordFrame.prefixLength + operationsLength + bodyLength
    }

    /// Whether these are the operations that it is the beginning of.
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
        // Of the operations first, so that both heads of a frame need no copy of them.
        let parts = [
            Checksum(of: operations.span).value, UInt64(offset), UInt64(operations.count),
            UInt64(bodyLength),
        ]
        let bytes = Array(mark.rawValue.utf8) + parts.flatMap(\.littleEndianBytes)
        return Checksum(of: bytes.span).value
    }
}
