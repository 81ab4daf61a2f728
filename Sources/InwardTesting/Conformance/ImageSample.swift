public import Entities

/// Encoded bytes and the image in them, for a format that a codec only reads.
public struct ImageSample: Hashable, Sendable {
    /// The encoded image.
    public let bytes: [UInt8]
    /// The format it is encoded in.
    public let format: ImageFormat
    /// The image that must be decoded, with its orientation.
    public let image: Image
    /// How far each part of a colour may be from what it is in the image, from 0 to 255.
    public let tolerance: Int

    /// Describes the image in encoded bytes.
    public init(_ bytes: [UInt8], format: ImageFormat, image: Image, tolerance: Int = 0) {
        self.bytes = bytes
        self.format = format
        self.image = image
        self.tolerance = tolerance
    }
}
