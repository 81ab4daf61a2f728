import Foundation

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
