public import InwardImages

/// A format that a codec both writes and reads, and what must survive of an image.
///
///     let webP = ImageRoundTrip(ImageEncoding(.webP, quality: 95), tolerance: 12, longestSide: 16_383)
///
/// The parameters demand everything unless you say that the format cannot do it, except sides over 65,535: those may be refused
/// unless you demand longer ones.
public struct ImageRoundTrip: Hashable, Sendable {
    /// How images are written.
    public let encoding: ImageEncoding
    /// How far each part of a colour may be from what it was, in an image without edges; 0 if any image comes back exactly.
    public let tolerance: Int
    /// Whether alpha is kept.
    public let keepsAlpha: Bool
    /// Whether the format stores an orientation.
    public let keepsOrientation: Bool
    /// The longest side that must be written. A longer one may be refused as unencodable.
    public let longestSide: Int
    /// Whether the header can be read from the first half of the bytes.
    public let hasLeadingHeader: Bool
    /// Whether bytes that are cut short give the rows that they hold, where truncation is allowed.
    public let keepsTruncatedRows: Bool
    /// Whether the codec looks at its deadline between the steps of its work.
    public let isInterruptible: Bool

    /// Describes what a codec writes and reads.
    ///
    /// - Parameters:
    ///   - encoding: How images are written.
    ///   - tolerance: How far each part of a colour may be from what it was, from 0 to 255, in an image without edges. At 0 any
    ///     image has to come back exactly.
    ///   - keepsAlpha: Whether alpha is kept. For a lossy format, alpha below one half is not tried.
    ///   - keepsOrientation: Whether the format stores an orientation.
    ///   - longestSide: The longest side that must be written. A longer one may be refused as `unencodable`.
    ///   - hasLeadingHeader: Whether the header can be read from the first half of the bytes.
    ///   - keepsTruncatedRows: Whether bytes that are cut short give the rows that they hold, where truncation is allowed.
    ///   - isInterruptible: Whether the codec looks at its deadline between the steps of its work. Pass `false` for a library that
    ///     encodes or decodes in one piece.
    public init(
        _ encoding: ImageEncoding,
        tolerance: Int = 0,
        keepsAlpha: Bool = true,
        keepsOrientation: Bool = true,
        longestSide: Int = 65_535,
        hasLeadingHeader: Bool = true,
        keepsTruncatedRows: Bool = true,
        isInterruptible: Bool = true
    ) {
        self.encoding = encoding
        self.tolerance = min(max(0, tolerance), 255)
        self.keepsAlpha = keepsAlpha
        self.keepsOrientation = keepsOrientation
        self.longestSide = longestSide
        self.hasLeadingHeader = hasLeadingHeader
        self.keepsTruncatedRows = keepsTruncatedRows
        self.isInterruptible = isInterruptible
    }

    /// PNG, which is lossless and has sides of up to 2,147,483,647 pixels.
    public static let png = ImageRoundTrip(.png, longestSide: 2_147_483_647)

    /// JPEG of a high quality, which keeps no alpha, and colours within 12 steps of 255.
    public static let jpeg = ImageRoundTrip(.jpeg(quality: 95), tolerance: 12, keepsAlpha: false)

    /// The format.
    var format: ImageFormat { encoding.format }
}
