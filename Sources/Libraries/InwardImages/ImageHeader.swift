/// What an encoded image states about itself before it is decoded.
public struct ImageHeader: Hashable, Sendable {
    /// The image format.
    public let format: ImageFormat
    /// The size of the stored pixels, before the orientation is applied.
    public let size: ImageSize
    /// How to rotate or mirror the stored pixels for display.
    public let orientation: Orientation
    /// The numbers by which a decoder can divide the sides, in ascending order. They always include 1.
    public let reductions: [Int]
    /// The number of bytes that decoding needs in addition to the decoded image.
    public let workingBytes: Int

    /// Creates a header.
    ///
    /// - Parameters:
    ///   - format: The image format.
    ///   - size: The size of the stored pixels, before the orientation is applied.
    ///   - orientation: How to rotate or mirror the stored pixels for display.
    ///   - reductions: The numbers, in addition to 1, by which a decoder can divide the sides.
    ///   - workingBytes: The number of bytes that decoding needs in addition to the decoded image.
    public init(
        format: ImageFormat,
        size: ImageSize,
        orientation: Orientation = .up,
        reductions: Set<Int> = [],
        workingBytes: Int = 0
    ) {
        self.format = format
        self.size = size
        self.orientation = orientation
        self.reductions = reductions.filter { $0 > 1 }.union([1]).sorted()
        self.workingBytes = max(0, workingBytes)
    }

    /// Returns the total number of bytes that decoding needs with a reduction.
    public func bytes(reducedBy reduction: Int) -> Int {
        let (bytes, isTooMany) = size.divided(by: reduction).byteCount.addingReportingOverflow(workingBytes)
        return isTooMany ? .max : bytes
    }
}

/// An image format.
public struct ImageFormat: Hashable, Sendable, CustomStringConvertible {
    /// The common name, such as `JPEG`.
    public let name: String
    /// The media type, such as `image/jpeg`.
    public let mediaType: String

    /// Creates a format.
    public init(name: String, mediaType: String) {
        self.name = name
        self.mediaType = mediaType
    }

    /// Portable Network Graphics (ISO/IEC 15948).
    public static let png = ImageFormat(name: "PNG", mediaType: "image/png")
    /// JPEG (ITU-T T.81) in JFIF and Exif files.
    public static let jpeg = ImageFormat(name: "JPEG", mediaType: "image/jpeg")
    /// WebP (RFC 9649).
    public static let webP = ImageFormat(name: "WebP", mediaType: "image/webp")
    /// GIF, versions 87a and 89a.
    public static let gif = ImageFormat(name: "GIF", mediaType: "image/gif")
    /// AVIF (AV1 in a HEIF container).
    public static let avif = ImageFormat(name: "AVIF", mediaType: "image/avif")
    /// HEIF with HEVC (ISO/IEC 23008-12).
    public static let heif = ImageFormat(name: "HEIF", mediaType: "image/heic")
    /// TIFF 6.0.
    public static let tiff = ImageFormat(name: "TIFF", mediaType: "image/tiff")
    /// Windows bitmaps.
    public static let bmp = ImageFormat(name: "BMP", mediaType: "image/bmp")
    /// Windows icons.
    public static let ico = ImageFormat(name: "ICO", mediaType: "image/vnd.microsoft.icon")
    /// JPEG 2000 (ITU-T T.800).
    public static let jpeg2000 = ImageFormat(name: "JPEG 2000", mediaType: "image/jp2")
    /// JPEG XL (ISO/IEC 18181).
    public static let jpegXL = ImageFormat(name: "JPEG XL", mediaType: "image/jxl")
    /// Scalable Vector Graphics.
    public static let svg = ImageFormat(name: "SVG", mediaType: "image/svg+xml")
    /// Photoshop documents.
    public static let psd = ImageFormat(name: "PSD", mediaType: "image/vnd.adobe.photoshop")

    /// The common name.
    public var description: String { name }
}
