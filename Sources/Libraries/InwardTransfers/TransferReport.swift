/// What a transfer that is done has done.
public struct TransferReport: Hashable, Sendable {
    /// How many bytes were loaded for it, in this run and in those that it goes on from.
    public let loadedByteCount: Int
    /// How many bytes were saved.
    public let savedByteCount: Int
    /// The value of the ``Checksum`` of what was saved.
    public let checksum: UInt64
    /// Which version was transferred; `nil` if nothing tells.
    public let validator: String?
    /// How many bytes of the source earlier runs had done already.
    public let resumedAt: Int
    /// How often it was begun anew, because the source had changed on the way.
    public let restartCount: Int

    init(_ part: SavedPart, resumedAt: Int, restartCount: Int) {
        loadedByteCount = part.loadedByteCount
        savedByteCount = part.savedByteCount
        checksum = part.checksum
        validator = part.validator
        self.resumedAt = resumedAt
        self.restartCount = restartCount
    }
}
