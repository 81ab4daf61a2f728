/// A piece of data on its way, as the steps of a transfer see it.
public struct DataPiece: Hashable, Sendable {
    /// The bytes. A step may make others of them, more or fewer.
    public var bytes: [UInt8]
    /// How many bytes of the source come before it.
    public let offset: Int
    /// Whether it is the last: what a step wants to add to the end it adds to this one. It may be without a byte.
    public let isLast: Bool

    /// Makes a piece.
    public init(_ bytes: [UInt8], at offset: Int, isLast: Bool) {
        self.bytes = bytes
        self.offset = offset
        self.isLast = isLast
    }

    /// How many bytes of the source come before the next piece.
    var end: Int { offset + bytes.count }

    /// What is behind an offset, which lies in the piece or at its end.
    func dropping(before offset: Int) -> DataPiece {
        guard offset > self.offset else { return self }
        return DataPiece(Array(bytes.dropFirst(offset - self.offset)), at: offset, isLast: isLast)
    }
}
