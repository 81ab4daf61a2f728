#if Vips
import CVips
public import InwardImages
import Synchronization

/// An image codec for JPEG, PNG, WebP, GIF, AVIF, HEIF and TIFF that uses libvips.
///
/// All other libvips loaders are blocked for the whole process. If a file contains several images, the first one is read.
///
/// **Colour and orientation.** Colours are converted to sRGB with the file's profile. JPEG, PNG, WebP and TIFF keep the
/// orientation as metadata. For GIF, AVIF and HEIF, the image is rotated before it is written; AVIF and HEIF images are already
/// rotated when they are read.
///
/// **Format limits.** 4:2:2 is written as 4:4:4, and WebP always uses 4:2:0. AVIF and HEIF require a libvips built with support
/// for them. TIFF files with 8-byte offsets are not supported.
///
/// **Lifetime.** The first codec starts libvips and sets its thread count for the process. libvips cannot be restarted, so it
/// runs until the process ends: ``close()`` closes only this codec.
///
/// **Threads and cancellation.** A call blocks its thread until it is done. Decoding uses no other threads, except those that the
/// AVIF and HEIF libraries start; encoding also uses libvips threads. Cancellation and the task's deadline are checked before a
/// call and between rows. Work that a format's library does in one step runs to completion: encoding WebP, GIF, AVIF and HEIF,
/// and decoding AVIF, HEIF, WebP and each GIF frame.
///
/// **Errors.** Errors state the kind of failure but never quote libvips messages. These may contain bytes of this image or
/// another one, because libvips collects them in one place for the whole process.
public final class VipsImageCodec: ImageCodec {
    private let effort: Int
    private let pixelLimit: Int
    private let slowPixelLimit: Int
    private let isStarted: Bool
    private let isClosed = Atomic(false)

    /// Creates a codec, and starts libvips if it is not running.
    ///
    /// - Parameters:
    ///   - threads: The number of threads that libvips uses to encode an image, 1 or more. The first codec's value applies to the
    ///     whole process.
    ///   - effort: The effort put into small WebP, GIF and AVIF files, from 0 to 9. It determines the cost of an image. For a
    ///     million opaque, highly detailed pixels, AVIF took 0.1 to 0.2 seconds of processor time at 0, 0.5 to 0.9 at 2, and 4 to
    ///     7 at 4, less for 4:2:0 and more for 4:4:4; 4:2:0 took 9 seconds at 6 and 32 at 9. A smooth photograph took a third to
    ///     a half of that. Alpha with as much detail as the colours nearly doubles it. HEIF took 2 to 3 seconds at any effort.
    ///     These were measured with libvips 8.14, libaom 3.6 and x265 3.5; libaom used more than one processor.
    ///   - pixelLimit: The maximum number of pixels in a decoded image, after reduction.
    ///   - slowPixelLimit: The maximum number of pixels in an image written as AVIF or HEIF, whose compression is slow and cannot
    ///     be cancelled. An image at the default limit, 2048 × 2048, takes about 4 seconds as AVIF at an effort of 2, and 12 as
    ///     HEIF. Use a lower limit with a higher effort.
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

    /// Closes the codec. Calls in progress finish, and later calls fail. libvips keeps running.
    public func close() {
        isClosed.store(true, ordering: .releasing)
    }

    /// Returns the header of an encoded image without decoding it.
    ///
    /// - Throws: an `ImageCodecError` if the format is not supported or the header is damaged; with the reason `cancelled` after
    ///   the codec is closed.
    public func header(of bytes: [UInt8]) throws(ImageCodecError) -> ImageHeader {
        try refuseIfClosed()
        return try header(of: CheckedImage(bytes))
    }

    private func header(of checked: CheckedImage) throws(ImageCodecError) -> ImageHeader {
        let bytes = checked.bytes
        let (header, canBeRead) = VipsLibrary.header(of: bytes)
        guard let format = ImageFormat(header.format) ?? ImageFormat(claimedBy: bytes) else {
            VipsLibrary.discardNotes()
            throw ImageCodecError(
                .unrecognized,
                "is not in a known image format: libvips recognizes none in its \(bytes.count) bytes"
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

    /// Decodes an image as it is stored.
    ///
    /// - Throws: an `ImageCodecError` if the format is not supported, or if the image is damaged, truncated, or larger than the
    ///   pixel limit; with the reason `cancelled` if the task was cancelled or the codec is closed.
    public func image(from bytes: [UInt8], _ options: ImageDecodingOptions) throws(ImageCodecError) -> Image {
        try ImageCodecError.checkCancellation()
        try refuseIfClosed()
        let checked = try CheckedImage(bytes)
        let header = try header(of: checked)
        let encoded = EncodedBytes(bytes: checked.bytes, format: header.format)
        if !options.allowsTruncation, try encoded.isCutShort() { throw try failure(encoded) }
        let reduction = header.reductions.contains(options.reduction) ? options.reduction : 1
        let size = header.size.divided(by: reduction)
        guard size.pixelCount <= pixelLimit else {
            throw ImageCodecError(.unsupported(header.format), "has \(size) pixels, and \(pixelLimit) are the most")
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
    /// - Throws: an `ImageCodecError` if the format is not supported, or if the image does not fit the format or exceeds the
    ///   pixel limit of a slow format; with the reason `cancelled` if the task was cancelled or the codec is closed.
    public func bytes(of image: Image, as encoding: ImageEncoding) throws(ImageCodecError) -> [UInt8] {
        try ImageCodecError.checkCancellation()
        try refuseIfClosed()
        let format = encoding.format
        guard format.vipsFormat != .unknown else {
            throw ImageCodecError(.unsupported(format), "cannot be written as \(format) by libvips here")
        }
        guard !format.isSlowlyCompressed || image.size.pixelCount <= slowPixelLimit else {
            throw ImageCodecError(
                .unencodable(format),
                "has \(image.size) pixels, and \(slowPixelLimit) are the most that are compressed as \(format)"
            )
        }
        guard image.size.longerSide <= format.longestSide else {
            throw ImageCodecError(
                .unencodable(format),
                "is \(image.size), and sides of \(format.longestSide) are the longest that are written as \(format)"
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
            throw ImageCodecError(.unencodable(format), "has \(image.size) pixels, and does not fit into \(format)")
        }
        return bytes
    }

    private func refuseIfClosed() throws(ImageCodecError) {
        guard isStarted else {
            throw ImageCodecError(.unrecognized, "cannot be read, because libvips did not start")
        }
        guard !isClosed.load(ordering: .acquiring) else {
            throw ImageCodecError(.cancelled, "was given to a codec that is closed")
        }
    }

    /// Returns the reason why a header cannot be read.
    private func headerFailure(_ encoded: EncodedBytes) throws(ImageCodecError) -> ImageCodecError {
        VipsLibrary.discardNotes()
        try ImageCodecError.checkCancellation()
        let (format, count) = (encoded.format, encoded.bytes.count)
        return try encoded.isCutShort()
            ? ImageCodecError(.truncated(format), "ends before it is complete as \(format), after \(count) bytes")
            : ImageCodecError(.damaged(format), "has a damaged header as \(format), in \(count) bytes")
    }

    /// Returns the reason why an image cannot be decoded.
    private func failure(_ encoded: EncodedBytes) throws(ImageCodecError) -> ImageCodecError {
        VipsLibrary.discardNotes()
        try ImageCodecError.checkCancellation()
        let (format, count) = (encoded.format, encoded.bytes.count)
        return try encoded.isCutShort()
            ? ImageCodecError(.truncated(format), "ends before it is complete as \(format), after \(count) bytes")
            : ImageCodecError(.damaged(format), "is damaged as \(format), in \(count) bytes")
    }
}
#endif
