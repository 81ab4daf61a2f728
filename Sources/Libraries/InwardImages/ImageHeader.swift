/// What an encoded image says of itself before it is decoded.
public struct ImageHeader: Hashable, Sendable {
    /// The form it is encoded in.
    public let format: ImageFormat
    /// How large it is, as it is stored.
    public let size: ImageSize
    /// How it is to be turned to show it.
    public let orientation: Orientation
    /// What its sides can be divided by while it is decoded, in rising order; 1 is always among them.
    public let reductions: [Int]
    /// How many bytes decoding it takes beside those of the image that comes out.
    public let workingBytes: Int

    /// Says what an image is.
    ///
    /// - Parameters:
    ///   - format: The form it is encoded in.
    ///   - size: How large it is, as it is stored.
    ///   - orientation: How it is to be turned to show it.
    ///   - reductions: What its sides can be divided by while it is decoded, beside 1.
    ///   - workingBytes: How many bytes decoding it takes beside those of the image that comes out.
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

    /// How many bytes decoding it takes in all, where its sides are divided by a number meanwhile.
    public func bytes(reducedBy reduction: Int) -> Int {
        let (bytes, isTooMany) = size.divided(by: reduction).byteCount.addingReportingOverflow(workingBytes)
        return isTooMany ? .max : bytes
    }
}

/// A form that images are encoded in.
public struct ImageFormat: Hashable, Sendable, CustomStringConvertible {
    /// What people call it, such as `JPEG`.
    public let name: String
    /// What it is called where images travel, such as `image/jpeg`.
    public let mediaType: String

    /// Names a form.
    public init(name: String, mediaType: String) {
        self.name = name
        self.mediaType = mediaType
    }

    /// Portable Network Graphics (ISO/IEC 15948).
    public static let png = ImageFormat(name: "PNG", mediaType: "image/png")
    /// JPEG (ITU-T T.81), as JFIF and Exif files hold it.
    public static let jpeg = ImageFormat(name: "JPEG", mediaType: "image/jpeg")
    /// WebP (RFC 9649).
    public static let webP = ImageFormat(name: "WebP", mediaType: "image/webp")
    /// GIF, versions 87a and 89a.
    public static let gif = ImageFormat(name: "GIF", mediaType: "image/gif")
    /// AVIF, AV1 in a container of HEIF.
    public static let avif = ImageFormat(name: "AVIF", mediaType: "image/avif")
    /// HEIF with HEVC (ISO/IEC 23008-12).
    public static let heif = ImageFormat(name: "HEIF", mediaType: "image/heic")
    /// TIFF 6.0.
    public static let tiff = ImageFormat(name: "TIFF", mediaType: "image/tiff")
    /// Windows bitmaps.
    public static let bmp = ImageFormat(name: "BMP", mediaType: "image/bmp")
    /// Icons of Windows.
    public static let ico = ImageFormat(name: "ICO", mediaType: "image/vnd.microsoft.icon")
    /// JPEG 2000 (ITU-T T.800).
    public static let jpeg2000 = ImageFormat(name: "JPEG 2000", mediaType: "image/jp2")
    /// JPEG XL (ISO/IEC 18181).
    public static let jpegXL = ImageFormat(name: "JPEG XL", mediaType: "image/jxl")
    /// Scalable Vector Graphics.
    public static let svg = ImageFormat(name: "SVG", mediaType: "image/svg+xml")
    /// Photoshop documents.
    public static let psd = ImageFormat(name: "PSD", mediaType: "image/vnd.adobe.photoshop")

    /// What people call it.
    public var description: String { name }
}
