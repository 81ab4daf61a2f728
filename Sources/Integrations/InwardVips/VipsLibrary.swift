#if Vips
import CVips
import InwardCore
import InwardImages
import Synchronization

/// The functions of libvips, with Swift types. Only this type passes pointers to C.
///
/// Every `unsafe` call passes a buffer by its address and element count. The callee reads or writes only that many elements,
/// and keeps no pointer after it returns: the shim releases everything that it created from a buffer, libvips does not cache
/// operations, and its encoding threads have finished by then.
enum VipsLibrary {
    /// Starts libvips with a number of threads in the first call of a process, and returns whether it is running.
    static func start(threads: Int) -> Bool {
        started.withLock { started in
            if let started { return started }
            let succeeded = cvips_start(Int32(clamping: threads))
            started = succeeded
            return succeeded
        }
    }

    /// Whether the calling task was cancelled or its deadline has passed.
    private static var isInterrupted: Bool { Task.isCancelled || Deadline.current?.hasPassed == true }

    private static let started = Mutex<Bool?>(nil)

    /// Reads the header, and returns whether the image can be read.
    static func header(of bytes: [UInt8]) -> (header: CVipsHeader, canBeRead: Bool) {
        var header = CVipsHeader()
        defer { cvips_leave_thread() }
        // `unsafe`: the shim reads at most `bytes.count` bytes of the array's own buffer, which does not escape the closure,
        // and writes one header, which lives until the call returns.
        let canBeRead = unsafe bytes.withUnsafeBufferPointer { bytes in
            unsafe cvips_read_header(bytes.baseAddress, bytes.count, &header)
        }
        return (header, canBeRead)
    }

    /// Decodes an image of a given size into pixels, and returns whether it succeeded.
    static func decode(
        _ bytes: [UInt8],
        _ decoding: CVipsDecoding,
        size: ImageSize,
        into pixels: inout MutableSpan<UInt8>
    ) -> Bool {
        guard pixels.count == size.byteCount else { return false }
        defer { cvips_leave_thread() }
        // `unsafe`: the shim reads at most `bytes.count` bytes of the array's own buffer, which does not escape the closure.
        return unsafe bytes.withUnsafeBufferPointer { bytes in
            // `unsafe`: the number of pixels matches the size, which was checked above, and the shim writes no more. The span
            // is exclusive, and its buffer does not escape the closure.
            unsafe pixels.withUnsafeMutableBufferPointer { pixels in
                unsafe cvips_decode(
                    bytes.baseAddress,
                    bytes.count,
                    decoding,
                    pixels.baseAddress,
                    Int32(clamping: size.width),
                    Int32(clamping: size.height),
                    { VipsLibrary.isInterrupted }
                )
            }
        }
    }

    /// Returns the encoded image, or `nil` on failure.
    static func encode(_ image: Image, _ encoding: CVipsEncoding) -> [UInt8]? {
        defer { cvips_leave_thread() }
        // `unsafe`: the pixel buffer belongs to the image and does not escape the closure. The result is copied to an array.
        return unsafe image.bytes.withUnsafeBufferPointer { pixels in
            var bytes: UnsafeMutablePointer<UInt8>?
            var count = 0
            // `unsafe`: an image has exactly as many bytes as its size requires, and the shim reads no more.
            let isDone = unsafe cvips_encode(
                pixels.baseAddress,
                Int32(clamping: image.size.width),
                Int32(clamping: image.size.height),
                encoding,
                { VipsLibrary.isInterrupted },
                &bytes,
                &count
            )
            // `unsafe`: the shim returns `count` bytes owned by the caller, or a null pointer, which is safe to free. They are
            // freed once, when this closure ends.
            defer { unsafe cvips_free(bytes) }
            guard isDone, let first = unsafe bytes else { return nil }
            // `unsafe`: `count` bytes, as above, are copied here.
            return unsafe Array(UnsafeBufferPointer(start: first, count: count))
        }
    }

    /// Discards the failure messages that libvips has collected in all threads. They may quote bytes of any image, so they
    /// never appear in errors.
    static func discardNotes() { cvips_discard_notes() }
}

extension ImageFormat {
    /// Converts the shim's format, or returns `nil` for an unknown one.
    init?(_ format: CVipsFormat) {
        switch format {
        case .JPEG: self = .jpeg
        case .PNG: self = .png
        case .webP: self = .webP
        case .GIF: self = .gif
        case .AVIF: self = .avif
        case .HEIF: self = .heif
        case .TIFF: self = .tiff
        case .unknown: return nil
        }
    }

    /// The shim's value for the format, which is `unknown` if the shim does not support it.
    var vipsFormat: CVipsFormat {
        switch self {
        case .jpeg: .JPEG
        case .png: .PNG
        case .webP: .webP
        case .gif: .GIF
        case .avif: .AVIF
        case .heif: .HEIF
        case .tiff: .TIFF
        default: .unknown
        }
    }

    /// Whether compressing a million pixels takes about a second or more, in one step that cannot be cancelled.
    var isSlowlyCompressed: Bool { self == .avif || self == .heif }

    /// The maximum side length for encoding. libheif encodes longer sides, but cannot decode them.
    var longestSide: Int { isSlowlyCompressed ? 32_768 : .max }
}

extension ImageFormat {
    /// Returns the factors by which an image can be reduced while it is decoded.
    func reductions(of size: ImageSize) -> Set<Int> {
        switch self {
        // libvips rounds sides down, and aborts the process if a side becomes 0.
        case .jpeg: Set([2, 4, 8]).filter { min(size.width, size.height) >= $0 }
        // libvips rounds sides to the nearest integer instead of up, so allow only exact divisors.
        case .webP: Set([2, 4, 8]).filter { size.width % $0 == 0 && size.height % $0 == 0 }
        default: []
        }
    }
}

extension CVipsHeader {
    /// Returns the maximum number of bytes that decoding needs in addition to the decoded image.
    ///
    /// - Parameters:
    ///   - format: The image format.
    ///   - size: The image size.
    ///   - tilePixelCount: The number of pixels in a TIFF tile.
    ///   - copiedByteCount: The number of encoded bytes that were copied.
    /// - Returns: The number of bytes.
    func workingBytes(
        for format: ImageFormat,
        _ size: ImageSize,
        tilePixelCount: Int,
        copiedByteCount: Int
    ) -> Int {
        let pixelBytes = Int(pixel_bytes)
        let whole: Int
        switch format {
        // 2-byte coefficients, which are kept if there are several scans.
        case .jpeg: whole = is_interlaced ? Self.product(size.pixelCount, pixelBytes, 2) : 0
        case .png: whole = is_interlaced ? Self.product(size.pixelCount, pixelBytes, 2) : 0
        // The decoded frame, and copies of the canvas before and after the frame is drawn.
        case .webP, .gif: whole = Self.product(size.pixelCount, Image.bytesPerPixel, 4)
        // The decoder's planes, its reference planes, and the pixels made from them.
        case .avif, .heif: whole = Self.product(size.pixelCount, Image.bytesPerPixel, 8)
        // A strip can be as large as the image, and a tile can be larger. Memory holds it packed and unpacked, and one row of
        // tiles.
        case .tiff:
            whole = Self.product(max(size.pixelCount, tilePixelCount), pixelBytes, 4)
        default: whole = 0
        }
        // Rows in the conversion pipeline, and the fixed overhead of each library.
        let rows = Self.product(size.width, pixelBytes * 3 + 64, 64)
        return [rows, whole, copiedByteCount, 8 * 1_024 * 1_024].reduce(0) { sum, bytes in
            let (result, isTooMany) = sum.addingReportingOverflow(bytes)
            return isTooMany ? .max : result
        }
    }

    private static func product(_ factors: Int...) -> Int {
        factors.reduce(1) { product, factor in
            let (result, isTooMany) = product.multipliedReportingOverflow(by: factor)
            return isTooMany ? .max : result
        }
    }
}
#endif
