public import Entities

/// Encoded bytes, and the picture that is in them: for a form that a codec reads and does not write.
public struct ImageSample: Hashable, Sendable {
    /// The picture as it is encoded.
    public let bytes: [UInt8]
    /// The form it is encoded in.
    public let format: ImageFormat
    /// The picture as it is to be decoded, with its orientation.
    public let image: Image
    /// How far each part of a colour may be from what it is in the picture, from 0 to 255.
    public let tolerance: Int

    /// Names the picture that is in encoded bytes.
    public init(_ bytes: [UInt8], format: ImageFormat, image: Image, tolerance: Int = 0) {
        self.bytes = bytes
        self.format = format
        self.image = image
        self.tolerance = tolerance
    }
}
