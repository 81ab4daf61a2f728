import InwardCore

/// A port that decodes and encodes images.
///
/// ```swift
/// let header = try codec.header(of: jpeg)
/// print("\(header.format), \(header.size)")  // JPEG, 640×480
/// let image = try codec.image(from: jpeg, ImageDecodingOptions())
/// let png = try codec.bytes(of: image, as: .png)
/// ```
///
/// Implementations must treat encoded bytes as untrusted. No input may crash a codec, keep it running indefinitely, or make it
/// use more memory than the header states. A codec stops when its task is cancelled or its deadline passes: it calls
/// ``ImageCodecError/checkCancellation()`` between steps, such as rows. `ImageCodecConformance` of `InwardTesting` tests an
/// implementation.
public protocol ImageCodec: Sendable {
    /// Reads the header of an encoded image without decoding the image.
    ///
    /// - Throws: An ``ImageCodecError`` if this codec does not support the format, or if the beginning of the data is damaged.
    func header(of bytes: [UInt8]) throws(ImageCodecError) -> ImageHeader

    /// Decodes an image. The orientation is not applied to the pixels.
    ///
    /// - Throws: An ``ImageCodecError`` if this codec does not support the format, if the data is damaged or truncated, or if
    ///   the task is cancelled.
    func image(from bytes: [UInt8], _ options: ImageDecodingOptions) throws(ImageCodecError) -> Image

    /// Encodes the stored pixels of an image.
    ///
    /// - Throws: An ``ImageCodecError`` if this codec does not write the format, if the format cannot represent the image, or
    ///   if the task is cancelled.
    func bytes(of image: Image, as encoding: ImageEncoding) throws(ImageCodecError) -> [UInt8]

    /// Decodes an image like ``image(from:_:)``, which it calls by default. A codec can implement it with child tasks, so that
    /// a large image uses several processor cores if they are idle.
    ///
    /// - Throws: The errors of ``image(from:_:)``.
    func decode(_ bytes: [UInt8], _ options: ImageDecodingOptions) async throws(ImageCodecError) -> Image

    /// Encodes an image like ``bytes(of:as:)``, which it calls by default. A codec can implement it with child tasks. The
    /// result must be the same.
    ///
    /// - Throws: The errors of ``bytes(of:as:)``.
    func encode(_ image: Image, as encoding: ImageEncoding) async throws(ImageCodecError) -> [UInt8]
}

extension ImageCodec {
    /// Returns the result of ``image(from:_:)``.
    ///
    /// - Throws: The errors of ``image(from:_:)``.
    public func decode(
        _ bytes: [UInt8],
        _ options: ImageDecodingOptions
    ) async throws(ImageCodecError) -> Image {
        try image(from: bytes, options)
    }

    /// Returns the result of ``bytes(of:as:)``.
    ///
    /// - Throws: The errors of ``bytes(of:as:)``.
    public func encode(_ image: Image, as encoding: ImageEncoding) async throws(ImageCodecError) -> [UInt8] {
        try bytes(of: image, as: encoding)
    }
}

/// Options for decoding an image.
///
/// ```swift
/// let header = try codec.header(of: jpeg)
/// let preview = try codec.image(from: jpeg, ImageDecodingOptions(reduction: header.reductions.last ?? 1))
/// ```
public struct ImageDecodingOptions: Hashable, Sendable {
    /// The number by which the sides of the image are divided. A number that is not one of the header's
    /// ``ImageHeader/reductions`` counts as 1.
    public var reduction: Int
    /// Whether truncated data gives a partial image instead of an error. The missing part is transparent, or gray if the format
    /// has no transparency.
    public var allowsTruncation: Bool

    /// Creates decoding options. By default, images are decoded at full size and must be complete.
    public init(reduction: Int = 1, allowsTruncation: Bool = false) {
        self.reduction = reduction
        self.allowsTruncation = allowsTruncation
    }
}

/// Options for encoding an image.
///
/// ```swift
/// let small = try codec.bytes(of: image, as: .jpeg(quality: 60))
/// let sharp = try codec.bytes(of: image, as: .jpeg(quality: 90, subsampling: .none))
/// let lossless = try codec.bytes(of: image, as: .png)
/// let webP = ImageEncoding(.webP, quality: 75)  // For a codec that supports WebP.
/// ```
public struct ImageEncoding: Hashable, Sendable {
    /// The color resolution, for formats that can store color at a lower resolution than brightness.
    public enum Subsampling: Hashable, Sendable {
        /// Full color resolution (4:4:4).
        case none
        /// One color value for each two horizontally adjacent pixels (4:2:2).
        case half
        /// One color value for each block of 2×2 pixels (4:2:0).
        case quarter
    }

    /// The image format.
    public let format: ImageFormat
    /// The quality, from 1 to 100, for lossy formats.
    public let quality: Int
    /// The color resolution.
    public let subsampling: Subsampling

    /// Creates encoding options. The quality is clamped to the range from 1 to 100.
    public init(_ format: ImageFormat, quality: Int = 80, subsampling: Subsampling = .quarter) {
        self.format = format
        self.quality = min(max(1, quality), 100)
        self.subsampling = subsampling
    }

    /// Lossless PNG.
    public static let png = ImageEncoding(.png)

    /// JPEG. Transparent pixels are blended with white.
    public static func jpeg(quality: Int = 80, subsampling: Subsampling = .quarter) -> ImageEncoding {
        ImageEncoding(.jpeg, quality: quality, subsampling: subsampling)
    }
}

/// An error thrown when an image cannot be decoded or encoded.
///
/// ```swift
/// do throws(ImageCodecError) {
///     print(try codec.image(from: jpeg, ImageDecodingOptions()).size)
/// } catch where error.reason == .truncated(.jpeg) {
///     print("The file is incomplete. Upload it again.")
/// } catch {
///     print(error)
/// }
/// ```
public struct ImageCodecError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kinds of failure.
    public enum Reason: Hashable, Sendable {
        /// The format is unknown.
        case unrecognized
        /// The format is known, but this codec does not support it.
        case unsupported(ImageFormat)
        /// The data violates its format.
        case damaged(ImageFormat)
        /// The data ends before the image does.
        case truncated(ImageFormat)
        /// The image exceeds a limit of the format or of the codec, such as the longest side.
        case unencodable(ImageFormat)
        /// The task was cancelled, or the codec is closed or did not start.
        case cancelled
        /// The task's deadline passed.
        case timedOut
    }

    /// The kind of failure.
    public let reason: Reason
    /// What happened. It completes a sentence that begins with "The image", such as "has a wrong checksum in IDAT at byte 41".
    public let explanation: String

    /// Creates an error with a kind and an explanation.
    public init(_ reason: Reason, _ explanation: String) {
        self.reason = reason
        self.explanation = explanation
    }

    /// The failure as a sentence.
    public var description: String { "The image \(explanation)." }
}

extension ImageCodecError {
    /// The task was cancelled.
    public static let cancelled = ImageCodecError(.cancelled, "was not decoded or encoded: the task was cancelled")

    /// The task's deadline passed.
    public static let timedOut = ImageCodecError(.timedOut, "was not decoded or encoded before the deadline")

    /// Throws if the task is cancelled or its deadline has passed.
    ///
    /// Call it in a codec between steps, such as rows, so that the codec stops soon after its caller stops waiting.
    ///
    /// ```swift
    /// for row in 0..<image.size.height {
    ///     if row % 16 == 0 { try ImageCodecError.checkCancellation() }
    ///     // Decode the row here.
    /// }
    /// ```
    ///
    /// The method checks the deadline as well as cancellation, because the timer that cancels the task at its deadline may not
    /// get a thread while codecs occupy all of them.
    ///
    /// - Throws: ``cancelled`` or ``timedOut``.
    public static func checkCancellation() throws(ImageCodecError) {
        guard !Task.isCancelled else { throw .cancelled }
        if let deadline = Deadline.current, deadline.hasPassed { throw .timedOut }
    }
}

/// The properties of an encoded image, known before it is decoded.
///
/// ```swift
/// let header = try codec.header(of: jpeg)
/// guard header.size.pixelCount <= 20_000_000 else {
///     throw ImageError(.tooLarge, explanation: "is \(header.size)")
/// }
/// print("Decoding needs \(header.bytes(reducedBy: 1)) bytes.")
/// ```
public struct ImageHeader: Hashable, Sendable {
    /// The image format.
    public let format: ImageFormat
    /// The size of the stored pixels, before the orientation is applied.
    public let size: ImageSize
    /// How to rotate or mirror the stored pixels for display.
    public let orientation: Orientation
    /// The numbers by which the decoder can divide the sides, in ascending order. They always include 1.
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

    /// Returns the total number of bytes that decoding needs with a reduction: the decoded image and ``workingBytes``.
    public func bytes(reducedBy reduction: Int) -> Int {
        let (bytes, isTooMany) = size.divided(by: reduction).byteCount.addingReportingOverflow(workingBytes)
        return isTooMany ? .max : bytes
    }
}

/// An image format.
///
/// ```swift
/// let format = try codec.header(of: jpeg).format
/// print(format == .jpeg, format.mediaType)  // true image/jpeg
/// let qoi = ImageFormat(name: "QOI", mediaType: "image/qoi")  // For a codec of your own.
/// ```
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
