/// A form that pictures are encoded in.
public struct ImageFormat: Hashable, Sendable, CustomStringConvertible {
    /// What people call it, such as `JPEG`.
    public let name: String
    /// What it is called where pictures travel, such as `image/jpeg`.
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
