/// How far a transfer is, in bytes of its source.
public struct TransferProgress: Hashable, Sendable {
    /// How many bytes are done, those of earlier runs among them.
    public let doneByteCount: Int
    /// How many there are; `nil` if that is not known.
    public let totalByteCount: Int?

    /// Says how far a transfer is.
    public init(doneByteCount: Int, totalByteCount: Int?) {
        self.doneByteCount = doneByteCount
        self.totalByteCount = totalByteCount
    }
}
