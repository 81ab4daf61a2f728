public import InwardImages

/// Encoded bytes and the image in them, for a format that a codec only reads.
///
/// Choose an image with edges and, where the format has alpha, with alpha that differs: shifts and lost alpha are found by those.
/// Pass two samples of different images for each format, so that the check finds out whether calls mix them, and one of at least
/// 320 rows, so that it finds out whether the codec can be interrupted.
public struct ImageSample: Hashable, Sendable {
    /// The encoded image.
    public let bytes: [UInt8]
    /// The format it is encoded in.
    public let format: ImageFormat
    /// The image that must be decoded, with its orientation.
    public let image: Image
    /// How far each part of a colour may be from what it is in the image, from 0 to 255.
    public let tolerance: Int
    /// Whether the header can be read from the first half of the bytes.
    public let hasLeadingHeader: Bool
    /// Whether three quarters of the bytes give the first third of the rows, where truncation is allowed.
    public let keepsTruncatedRows: Bool
    /// Whether the codec looks at its deadline between the steps of its work.
    public let isInterruptible: Bool

    /// Describes the image in encoded bytes.
    ///
    /// - Parameters:
    ///   - bytes: The encoded image.
    ///   - format: The format it is encoded in.
    ///   - image: The image that must be decoded, with its orientation.
    ///   - tolerance: How far each part of a colour may be from what it is in the image, from 0 to 255.
    ///   - hasLeadingHeader: Whether the header can be read from the first half of the bytes.
    ///   - keepsTruncatedRows: Whether three quarters of the bytes give the first third of the rows, where truncation is allowed.
    ///   - isInterruptible: Whether the codec looks at its deadline between the steps of its work. That is demanded of images of at
    ///     least 320 rows.
    public init(
        _ bytes: [UInt8],
        format: ImageFormat,
        image: Image,
        tolerance: Int = 0,
        hasLeadingHeader: Bool = true,
        keepsTruncatedRows: Bool = true,
        isInterruptible: Bool = true
    ) {
        self.bytes = bytes
        self.format = format
        self.image = image
        self.tolerance = tolerance
        self.hasLeadingHeader = hasLeadingHeader
        self.keepsTruncatedRows = keepsTruncatedRows
        self.isInterruptible = isInterruptible
    }
}
