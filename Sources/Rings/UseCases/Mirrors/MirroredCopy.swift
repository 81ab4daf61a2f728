/// A whole copy of something of an upstream, as a mirror remembers it.
public struct MirroredCopy: Hashable, Codable, Sendable {
    /// What the source is called; `nil` if it has no name that is the same in each run.
    public let source: String?
    /// What tells the version of the source; `nil` if nothing does.
    public let validator: String?
    /// How many bytes it has.
    public let byteCount: Int
    /// The value of the `Checksum` of the bytes.
    public let checksum: UInt64

    /// Makes a copy.
    public init(source: String?, validator: String?, byteCount: Int, checksum: UInt64) {
        self.source = source
        self.validator = validator
        self.byteCount = byteCount
        self.checksum = checksum
    }
}
