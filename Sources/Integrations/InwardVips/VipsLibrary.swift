#if Vips
import CVips
import InwardCore
import InwardImages
import Synchronization

/// The functions of libvips, as Swift calls them: the one place where pointers are handed over.
///
/// Every `unsafe` here is a call that is handed a buffer by its address and its number of elements, reads or writes no more than
/// these, and keeps no pointer behind its return: the shim lets everything go that it made of a buffer before it returns, no
/// operation is cached, and the threads that libvips encodes on have ended their work by then.
enum VipsLibrary {
    /// Starts libvips with a number of threads, the first time that it is called in a process; whether it runs.
    static func start(threads: Int) -> Bool {
        started.withLock { started in
            if let started { return started }
            let succeeded = cvips_start(Int32(clamping: threads))
            started = succeeded
            return succeeded
        }
    }

    /// Whether the task that calls libvips was cancelled, or its deadline has passed.
    private static var isInterrupted: Bool { Task.isCancelled || Deadline.current?.hasPassed == true }

    private static let started = Mutex<Bool?>(nil)

    /// What the beginning of bytes says, and whether they can be read.
    static func header(of bytes: [UInt8]) -> (header: CVipsHeader, canBeRead: Bool) {
        var header = CVipsHeader()
        defer { cvips_leave_thread() }
        // `unsafe`: the shim reads at most `bytes.count` bytes of the array's own buffer, which does not leave the closure, and
        // writes one header, which lives until the call returns.
        let canBeRead = unsafe bytes.withUnsafeBufferPointer { bytes in
            unsafe cvips_read_header(bytes.baseAddress, bytes.count, &header)
        }
        return (header, canBeRead)
    }

    /// Writes the pixels of an image of a size; whether it did.
    static func decode(
        _ bytes: [UInt8],
        _ decoding: CVipsDecoding,
        size: ImageSize,
        into pixels: inout MutableSpan<UInt8>
    ) -> Bool {
        guard pixels.count == size.byteCount else { return false }
        defer { cvips_leave_thread() }
        // `unsafe`: the shim reads at most `bytes.count` bytes of the array's own buffer, which does not leave the closure.
        return unsafe bytes.withUnsafeBufferPointer { bytes in
            // `unsafe`: the pixels are as many as the size says, which was checked above, and the shim writes no more; the span
            // is exclusive, and its buffer does not leave the closure.
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

    /// An image's bytes in a form; `nil` if there are none.
    static func encode(_ image: Image, _ encoding: CVipsEncoding) -> [UInt8]? {
        defer { cvips_leave_thread() }
        // `unsafe`: the pixels' buffer is the image's own, and does not leave the closure. What is copied out of it is an array.
        return unsafe image.bytes.withUnsafeBufferPointer { pixels in
            var bytes: UnsafeMutablePointer<UInt8>?
            var count = 0
            // `unsafe`: an image has as many bytes as its size says, and the shim reads no more.
            let isDone = unsafe cvips_encode(
                pixels.baseAddress,
                Int32(clamping: image.size.width),
                Int32(clamping: image.size.height),
                encoding,
                { VipsLibrary.isInterrupted },
                &bytes,
                &count
            )
            // `unsafe`: the shim hands out `count` bytes that belong to nobody else, or a null pointer, which it may be given back.
            // They are freed once, when this closure ends.
            defer { unsafe cvips_free(bytes) }
            guard isDone, let first = unsafe bytes else { return nil }
            // `unsafe`: `count` bytes, as above, which are copied here.
            return unsafe Array(UnsafeBufferPointer(start: first, count: count))
        }
    }

    /// Discards what libvips noted of failures, in any thread. Its notes may quote the bytes of an image, this one or another
    /// thread's, so no error shows them.
    static func discardNotes() { cvips_discard_notes() }
}

extension ImageFormat {
    /// The form of this name; `nil` for what is none.
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

    /// What the shim calls it; unknown if it does not do it.
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

    /// Whether a second is spent on a million pixels or more than that, in one piece that no cancellation ends.
    var isSlowlyCompressed: Bool { self == .avif || self == .heif }

    /// The longest side that is written: libheif writes longer ones, and reads none of them.
    var longestSide: Int { isSlowlyCompressed ? 32_768 : .max }
}

extension ImageFormat {
    /// What the sides of an image can be divided by while it is decoded.
    func reductions(of size: ImageSize) -> Set<Int> {
        switch self {
        // libvips rounds its sides down, and ends the process if nothing is left of one.
        case .jpeg: Set([2, 4, 8]).filter { min(size.width, size.height) >= $0 }
        // libvips rounds its sides to the nearest number, and not up.
        case .webP: Set([2, 4, 8]).filter { size.width % $0 == 0 && size.height % $0 == 0 }
        default: []
        }
    }
}

extension CVipsHeader {
    /// How many bytes decoding takes at the most beside those of the image that comes out.
    ///
    /// - Parameters:
    ///   - format: The form of the image.
    ///   - size: Its size.
    ///   - tilePixelCount: How many pixels a tile of a TIFF has.
    ///   - copiedByteCount: How many of the encoded bytes were copied.
    /// - Returns: the number of bytes.
    func workingBytes(
        for format: ImageFormat,
        _ size: ImageSize,
        tilePixelCount: Int,
        copiedByteCount: Int
    ) -> Int {
        let pixelBytes = Int(pixel_bytes)
        let whole: Int
        switch format {
        // Coefficients of two bytes, which are kept where the scans are many.
        case .jpeg: whole = is_interlaced ? Self.product(size.pixelCount, pixelBytes, 2) : 0
        case .png: whole = is_interlaced ? Self.product(size.pixelCount, pixelBytes, 2) : 0
        // The frame that is decoded, and the canvas it is put on, before and behind.
        case .webP, .gif: whole = Self.product(size.pixelCount, Image.bytesPerPixel, 4)
        // Planes of the decoder and those it refers to, and the pixels made of them.
        case .avif, .heif: whole = Self.product(size.pixelCount, Image.bytesPerPixel, 8)
        // A strip may be the whole image and a tile more than that, packed and unpacked; and tiles are kept for a row of them.
        case .tiff:
            whole = Self.product(max(size.pixelCount, tilePixelCount), pixelBytes, 4)
        default: whole = 0
        }
        // Rows on their way through the steps of the conversion, and what each library takes whatever it decodes.
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
