#if Vips
import CVips
public import InwardImages
import Synchronization

/// An image codec for JPEG, PNG, WebP, GIF, AVIF, HEIF and TIFF that uses libvips.
///
/// ```swift
/// let codec = VipsImageCodec(threads: 2)
/// let image = try codec.image(from: photo, ImageDecodingOptions())
/// let avif = try codec.bytes(of: image, as: ImageEncoding(.avif, quality: 60))
/// ```
///
/// If a file contains several images, the codec decodes the first. It disables libvips' loaders for all other formats in the
/// process.
///
/// **Color and orientation.** Colors are converted to sRGB with the file's profile. The codec stores the orientation of JPEG,
/// PNG, WebP and TIFF images as metadata. For GIF, AVIF and HEIF, it rotates the pixels before it encodes them. AVIF and HEIF
/// images are decoded upright.
///
/// **Format limits.** 4:2:2 is encoded as 4:4:4, and WebP always uses 4:2:0. AVIF and HEIF require a libvips that was built
/// with support for them. TIFF files with 8-byte offsets are not supported.
///
/// **Lifetime.** The first codec starts libvips and sets its thread count for the process. libvips cannot be restarted, so it
/// runs until the process ends. ``close()`` closes only this codec.
///
/// **Threads and cancellation.** A call blocks its thread until it is done. Decoding uses no other threads, except those that
/// the AVIF and HEIF libraries start. Encoding also uses libvips threads. Cancellation and the task's deadline are checked
/// before an image is decoded or encoded, and between rows. Work that a format's library does in one step runs to completion:
/// encoding WebP, GIF, AVIF and HEIF, and decoding AVIF, HEIF, WebP and each GIF frame.
///
/// **Errors.** Errors state the kind of failure, but never quote messages of libvips. libvips collects its messages in one
/// buffer for the whole process, so they may contain bytes of another image.
public final class VipsImageCodec: ImageCodec {
    private let effort: Int
    private let pixelLimit: Int
    private let slowPixelLimit: Int
    private let isStarted: Bool
    private let isClosed = Atomic(false)

    /// Creates a codec, and starts libvips if it is not running.
    ///
    /// The effort has a large effect on AVIF. The table shows the processor time, in seconds, for encoding a million opaque,
    /// highly detailed pixels:
    ///
    /// | effort | AVIF, 4:2:0 | AVIF, 4:4:4 |
    /// |---|---|---|
    /// | 0 | 0.1 | 0.2 |
    /// | 2 | 0.5 | 0.9 |
    /// | 4 | 4 | 7 |
    /// | 6 | 9 | not measured |
    /// | 9 | 32 | not measured |
    ///
    /// A smooth photograph took a third to a half of this time. An alpha channel as detailed as the colors nearly doubles it.
    /// HEIF took 2 to 3 seconds at any effort. (Measured with libvips 8.14, libaom 3.6 and x265 3.5. libaom used more than one
    /// processor.)
    ///
    /// - Parameters:
    ///   - threads: The number of threads that libvips uses to encode an image, at least 1. The first codec's value applies to
    ///     the whole process.
    ///   - effort: The effort to make WebP, GIF and AVIF files small, from 0 to 9. A higher effort takes longer.
    ///   - pixelLimit: The maximum number of pixels in a decoded image, after reduction.
    ///   - slowPixelLimit: The maximum number of pixels in an image that is encoded as AVIF or HEIF. Their compression is slow
    ///     and cannot be cancelled. An image at the default limit, 2048 × 2048, takes about 4 seconds as AVIF at an effort of
    ///     2, and 12 as HEIF. Use a lower limit with a higher effort.
    public init(
        threads: Int = 1,
        effort: Int = 2,
        pixelLimit: Int = 268_435_456,
        slowPixelLimit: Int = 4_194_304
    ) {
        self.effort = min(max(0, effort), 9)
        self.pixelLimit = max(0, pixelLimit)
        self.slowPixelLimit = max(0, slowPixelLimit)
        isStarted = VipsLibrary.start(threads: max(1, threads))
    }

    /// Creates a codec that behaves as if libvips had not started, for tests.
    init(withoutLibrary: Void) {
        (effort, pixelLimit, slowPixelLimit) = (0, 0, 0)
        isStarted = false
    }

    /// Closes the codec. Calls in progress finish, and later calls fail. libvips keeps running.
    public func close() {
        isClosed.store(true, ordering: .releasing)
    }

    /// Returns the header of an encoded image without decoding it.
    ///
    /// - Throws: An `ImageCodecError` if the format is not supported, if the header is damaged, or with the reason `cancelled`
    ///   if the codec is closed or libvips did not start.
    public func header(of bytes: [UInt8]) throws(ImageCodecError) -> ImageHeader {
        try checkIsOpen()
        return try header(of: CheckedImage(bytes))
    }

    private func header(of checked: CheckedImage) throws(ImageCodecError) -> ImageHeader {
        let bytes = checked.bytes
        let (header, canBeRead) = VipsLibrary.header(of: bytes)
        guard let format = ImageFormat(header.format) ?? ImageFormat(claimedBy: bytes) else {
            VipsLibrary.discardNotes()
            throw ImageCodecError(
                .unrecognized,
                "is not in a known image format: libvips does not recognize its \(bytes.count) bytes"
            )
        }
        guard canBeRead, let size = ImageSize(width: Int(header.width), height: Int(header.height)) else {
            throw try headerFailure(EncodedBytes(bytes: bytes, format: ImageFormat(claimedBy: bytes) ?? format))
        }
        return ImageHeader(
            format: format,
            size: size,
            orientation: Orientation(rawValue: Int(header.orientation)) ?? .up,
            reductions: format.reductions(of: size),
            workingBytes: header.workingBytes(
                for: format,
                size,
                tilePixelCount: checked.tilePixelCount,
                copiedByteCount: checked.copiedByteCount
            )
        )
    }

    /// Decodes an image without applying its orientation.
    ///
    /// - Throws: An `ImageCodecError` if the format is not supported, if the image is damaged, truncated, or larger than the
    ///   pixel limit, or with the reason `cancelled` if the task is cancelled, the codec is closed, or libvips did not start.
    public func image(from bytes: [UInt8], _ options: ImageDecodingOptions) throws(ImageCodecError) -> Image {
        try ImageCodecError.checkCancellation()
        try checkIsOpen()
        let checked = try CheckedImage(bytes)
        let header = try header(of: checked)
        let encoded = EncodedBytes(bytes: checked.bytes, format: header.format)
        if !options.allowsTruncation, try encoded.isCutShort() { throw try failure(encoded) }
        let reduction = header.reductions.contains(options.reduction) ? options.reduction : 1
        let size = header.size.divided(by: reduction)
        guard size.pixelCount <= pixelLimit else {
            throw ImageCodecError(.unsupported(header.format), "is \(size), more than the \(pixelLimit) pixels allowed")
        }
        let decoding = CVipsDecoding(
            format: header.format.vipsFormat,
            reduction: Int32(clamping: reduction),
            allows_truncation: options.allowsTruncation
        )
        return try Image(size: size, orientation: header.orientation) { pixels throws(ImageCodecError) in
            guard VipsLibrary.decode(encoded.bytes, decoding, size: size, into: &pixels) else {
                throw try failure(encoded)
            }
        }
    }

    /// Encodes an image.
    ///
    /// - Throws: An `ImageCodecError` if the format is not supported, if the image exceeds a limit of the format or of
    ///   the codec, or with the reason `cancelled` if the task is cancelled, the codec is closed, or libvips did not start.
    public func bytes(of image: Image, as encoding: ImageEncoding) throws(ImageCodecError) -> [UInt8] {
        try ImageCodecError.checkCancellation()
        try checkIsOpen()
        let format = encoding.format
        guard format.vipsFormat != .unknown else {
            throw ImageCodecError(.unsupported(format), "cannot be encoded as \(format) by VipsImageCodec")
        }
        guard !format.isSlowlyCompressed || image.size.pixelCount <= slowPixelLimit else {
            throw ImageCodecError(
                .unencodable(format),
                "is \(image.size), more than the \(slowPixelLimit) pixels allowed for \(format)"
            )
        }
        guard image.size.longerSide <= format.longestSide else {
            throw ImageCodecError(
                .unencodable(format),
                "is \(image.size), and \(format) allows sides up to \(format.longestSide)"
            )
        }
        let bytes = VipsLibrary.encode(
            image,
            CVipsEncoding(
                format: format.vipsFormat,
                quality: Int32(clamping: encoding.quality),
                effort: Int32(clamping: effort),
                orientation: Int32(clamping: image.orientation.rawValue),
                is_opaque: image.isOpaque,
                is_subsampled: encoding.subsampling == .quarter
            )
        )
        guard let bytes else {
            VipsLibrary.discardNotes()
            try ImageCodecError.checkCancellation()
            throw ImageCodecError(.unencodable(format), "is \(image.size), and cannot be encoded as \(format)")
        }
        return bytes
    }

    private func checkIsOpen() throws(ImageCodecError) {
        guard isStarted else {
            throw ImageCodecError(.cancelled, "cannot be processed: libvips did not start")
        }
        guard !isClosed.load(ordering: .acquiring) else {
            throw ImageCodecError(.cancelled, "cannot be processed: the codec is closed")
        }
    }

    /// Returns the reason why a header cannot be read.
    private func headerFailure(_ encoded: EncodedBytes) throws(ImageCodecError) -> ImageCodecError {
        VipsLibrary.discardNotes()
        try ImageCodecError.checkCancellation()
        let (format, count) = (encoded.format, encoded.bytes.count)
        return try encoded.isCutShort()
            ? ImageCodecError(.truncated(format), "ends after \(count) bytes, before its \(format) data is complete")
            : ImageCodecError(.damaged(format), "has a damaged \(format) header, in \(count) bytes")
    }

    /// Returns the reason why an image cannot be decoded.
    private func failure(_ encoded: EncodedBytes) throws(ImageCodecError) -> ImageCodecError {
        VipsLibrary.discardNotes()
        try ImageCodecError.checkCancellation()
        let (format, count) = (encoded.format, encoded.bytes.count)
        return try encoded.isCutShort()
            ? ImageCodecError(.truncated(format), "ends after \(count) bytes, before its \(format) data is complete")
            : ImageCodecError(.damaged(format), "has damaged \(format) data, in \(count) bytes")
    }
}
#endif
