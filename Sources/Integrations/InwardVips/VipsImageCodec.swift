#if Vips
import CVips
public import InwardImages
import Synchronization

/// Reads and writes JPEG, PNG, WebP, GIF, AVIF, HEIF and TIFF by libvips.
///
/// It reads nothing else: every other loader of libvips is blocked, for the whole process. Of a file with many images it
/// reads the first. Colours are converted to sRGB by the profile in the file. What says how an image is to be turned is kept
/// in JPEG, PNG, WebP and TIFF. In GIF, AVIF and HEIF the image is turned before it is written, and it is turned already when
/// it is read from AVIF and HEIF. 4:2:2 is written as 4:4:4, and WebP is 4:2:0 always. AVIF and HEIF are read and written if
/// libvips was built to. A TIFF with offsets of 8 bytes is not read.
///
/// libvips starts once in a process, with the first codec, and its number of threads is the first codec's. It is never
/// stopped, because it could not be started again: ``close()`` ends this codec, and the process ends libvips.
///
/// A call keeps its thread busy until it is done. Decoding takes no other thread, but for what the libraries of AVIF and HEIF
/// begin by themselves; encoding works on some of libvips as well. A task that is cancelled is heeded before a call begins, and
/// between rows; and so is its deadline when it passes. What the library of a form does in one piece it finishes first: the compression of WebP, GIF, AVIF and HEIF,
/// and the decoding of AVIF, HEIF, WebP and a frame of GIF.
///
/// Errors say what kind of failure it was, and quote nothing that libvips says: it may repeat bytes of the image, or of another
/// one, because it notes failures in one place for the whole process.
public final class VipsImageCodec: ImageCodec {
    private let effort: Int
    private let pixelLimit: Int
    private let slowPixelLimit: Int
    private let isStarted: Bool
    private let isClosed = Atomic(false)

    /// Makes a codec, and starts libvips if it does not run.
    ///
    /// - Parameters:
    ///   - threads: On how many threads libvips encodes an image, 1 or more; it decides for the process if it is the first.
    ///   - effort: How much work is put into small files in WebP, GIF and AVIF, from 0 to 9. It bounds what an image costs. A
    ///     million opaque pixels full of detail took AVIF 0.1 to 0.2 seconds of processor time at 0, 0.5 to 0.9 at 2, and 4 to 7
    ///     at 4, less for 4:2:0 and more for 4:4:4; at 6 and 9 they took 9 and 32 for 4:2:0. A smooth photograph took a third to
    ///     a half of that, and alpha with as much detail as the colours nearly doubles it. HEIF took 2 to 3 seconds whatever it
    ///     is. That was with libvips 8.14, libaom 3.6 and x265 3.5, where libaom used more than one processor.
    ///   - pixelLimit: How many pixels an image may have that is decoded, after it is reduced.
    ///   - slowPixelLimit: How many pixels an image may have that is written as AVIF or HEIF, whose compression is slow and
    ///     cannot be cancelled. As many as there may be if nothing is said, 2048 times 2048, take some 4 seconds as AVIF at
    ///     an effort of 2, and 12 as HEIF. Who asks for more effort allows fewer.
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

    /// Refuses everything from now on; what is under way is finished. libvips goes on running.
    public func close() {
        isClosed.store(true, ordering: .releasing)
    }

    /// What encoded bytes say of the image in them, without decoding it.
    ///
    /// - Throws: an `ImageCodecError` if they are of no form that is read, or damaged at the beginning; with the reason
    ///   `cancelled` after the codec is closed.
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

    /// The image in encoded bytes, as it is stored.
    ///
    /// - Throws: an `ImageCodecError` if they are of no form that is read, damaged, cut short, or more pixels than the limit; with
    ///   the reason `cancelled` if the task was, or after the codec is closed.
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

    /// The bytes of an image in a form.
    ///
    /// - Throws: an `ImageCodecError` if the form is not written, or the image does not fit into it, or has more pixels than the
    ///   limit of a slow form; with the reason `cancelled` if the task was, or after the codec is closed.
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

    /// Why a header cannot be read.
    private func headerFailure(_ encoded: EncodedBytes) throws(ImageCodecError) -> ImageCodecError {
        VipsLibrary.discardNotes()
        try ImageCodecError.checkCancellation()
        let (format, count) = (encoded.format, encoded.bytes.count)
        return try encoded.isCutShort()
            ? ImageCodecError(.truncated(format), "ends before it is complete as \(format), after \(count) bytes")
            : ImageCodecError(.damaged(format), "has a damaged header as \(format), in \(count) bytes")
    }

    /// Why an image cannot be decoded.
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
