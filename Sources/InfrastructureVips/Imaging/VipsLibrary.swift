#if Vips
import CVips
import Entities
import Synchronization
import UseCases

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
        let canBeRead = unsafe bytes.withUnsafeBufferPointer { bytes in
            // `unsafe`: as many bytes as there are are read, and one header is written, which lives until the call returns.
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
        return unsafe bytes.withUnsafeBufferPointer { bytes in
            // `unsafe`: the pixels are as many as the size says, which was looked at above, and the shim writes so many; both
            // buffers live until the call returns, and nobody else has the pixels meanwhile.
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
        return unsafe image.bytes.withUnsafeBufferPointer { pixels in
            var bytes: UnsafeMutablePointer<UInt8>?
            var count = 0
            // `unsafe`: a picture has as many bytes as its size says, and the shim reads so many. What it hands out is as many
            // bytes as it says, belongs to nobody else, and is copied before it is given back, once.
            let isDone = unsafe cvips_encode(
                pixels.baseAddress,
                Int32(clamping: image.size.width),
                Int32(clamping: image.size.height),
                encoding,
                { VipsLibrary.isInterrupted },
                &bytes,
                &count
            )
            defer { unsafe cvips_free(bytes) }
            guard isDone, let first = unsafe bytes else { return nil }
            return unsafe Array(UnsafeBufferPointer(start: first, count: count))
        }
    }

    /// What libvips noted of failures since it was asked last, in one line: those of other threads are among them.
    static func takeNote() -> String {
        let note = unsafe [UInt8](unsafeUninitializedCapacity: 300) { buffer, count in
            // `unsafe`: the shim writes as many bytes as there is room for at the most, and says how many they were.
            unsafe count = cvips_take_note(buffer.baseAddress, buffer.count)
        }
        // It may quote the picture: no control characters, and nothing that is not ASCII.
        let text = String(decoding: note.map { (0x20..<0x7F).contains($0) ? $0 : 0x20 }, as: UTF8.self)
        return text.split(separator: " ").joined(separator: " ")
    }
}
#endif
