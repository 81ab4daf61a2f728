/// The bytes of a picture, as its source has them.
public struct EncodedImage: Hashable, Sendable {
    /// The bytes.
    public var bytes: [UInt8]
    /// Whether they are those that were asked for, and not others in their place, which nobody keeps.
    public var isGenuine: Bool

    /// Makes the bytes of a picture, those that were asked for unless it is said otherwise.
    public init(_ bytes: [UInt8], isGenuine: Bool = true) {
        self.bytes = bytes
        self.isGenuine = isGenuine
    }
}
