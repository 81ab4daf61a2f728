/// The resumable state of a transfer.
///
/// A saver stores it next to the saved bytes, and does not need to interpret it.
public struct SavedPart: Hashable, Codable, Sendable {
    /// The name of the source, or `nil` if it has no stable name.
    public var source: String?
    /// The validator of the source's version, or `nil` if it has none.
    public var validator: String?
    /// The names of the steps, or `nil` if the steps cannot be resumed.
    public var steps: [String]?
    /// The number of source bytes that went into this part.
    public var loadedByteCount: Int
    /// The number of saved bytes.
    public var savedByteCount: Int
    /// The value of the ``Checksum`` of the saved bytes.
    public var checksum: UInt64

    /// Creates the state of a transfer, by default without any bytes.
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

    /// Whether a later run can verify that its bytes continue this part. If `false`, do not keep the part.
    public var canBeResumed: Bool { source != nil && validator != nil && steps != nil && loadedByteCount > 0 }

    /// Adds the processed bytes of a chunk with `count` source bytes.
    mutating func add(_ bytes: [UInt8], madeOf count: Int) {
        var checksum = Checksum(value: checksum)
        checksum.update(with: bytes.span)
        self.checksum = checksum.value
        savedByteCount += bytes.count
        loadedByteCount += count
    }
}
