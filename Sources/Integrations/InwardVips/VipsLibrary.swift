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

    /// Writes the pixels of a picture of a size; whether it did.
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

    /// A picture's bytes in a form; `nil` if there are none.
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
#endif
