/// What of a transfer is saved, in the numbers that it can be taken up again by.
///
/// A saver keeps it beside what it has saved, and need not understand it.
public struct SavedPart: Hashable, Codable, Sendable {
    /// What the source is called; `nil` if it has no name that is the same in each run.
    public var source: String?
    /// What tells the version of the source; `nil` if nothing does.
    public var validator: String?
    /// What was done to the bytes, step by step; `nil` if that cannot be taken up in the middle.
    public var steps: [String]?
    /// How many bytes of the source this part is made of.
    public var loadedByteCount: Int
    /// How many bytes the part has.
    public var savedByteCount: Int
    /// The value of the ``Checksum`` of the part.
    public var checksum: UInt64

    /// Makes the part of a transfer that has saved so much.
    public init(
        source: String?,
        validator: String?,
        steps: [String]?,
        loadedByteCount: Int = 0,
        savedByteCount: Int = 0,
        checksum: UInt64 = 0
    ) {
        self.source = source
        self.validator = validator
        self.steps = steps
        self.loadedByteCount = loadedByteCount
        self.savedByteCount = savedByteCount
        self.checksum = checksum
    }

    /// Whether a later run can know that what it has is the rest of this. If not, there is no use in keeping it.
    public var canBeResumed: Bool { source != nil && validator != nil && steps != nil && loadedByteCount > 0 }

    /// Adds what was made of a piece.
    mutating func add(_ bytes: [UInt8], madeOf count: Int) {
        var checksum = Checksum(value: checksum)
        checksum.update(with: bytes.span)
        self.checksum = checksum.value
        savedByteCount += bytes.count
        loadedByteCount += count
    }
}
