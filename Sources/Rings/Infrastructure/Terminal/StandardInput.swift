import Dispatch
import Foundation

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// What a program is given to read.
public struct StandardInput: Sendable {
    private let read: @Sendable () async throws(StandardInputError) -> [UInt8]

    /// The standard input of this process. A file, a pipe or a terminal, it is read when somebody asks, on a thread of its own.
    public init() {
        self.init(descriptor: STDIN_FILENO)
    }

    /// An input that is read elsewhere.
    ///
    /// - Parameter read: Gives the next bytes, none at the end. It returns soon when its task is cancelled, with whatever.
    public init(read: @escaping @Sendable () async throws(StandardInputError) -> [UInt8]) {
        self.read = read
    }

    /// What comes from a file of this process that is open now, and stays so.
    init(descriptor: Int32) {
        guard fcntl(descriptor, F_GETFD) >= 0 else {
            // A program may be started without one. What is opened later has its number, and is somebody else's.
            let error = StandardInputError(code: errno)
            self.init { () async throws(StandardInputError) in throw error }
            return
        }
        let reader = DescriptorReader(descriptor)
        self.init { () async throws(StandardInputError) in try await reader.read() }
    }

    /// Its lines, from where it was read to.
    ///
    /// - Parameter byteLimit: How many bytes a line may have, at least 1. One that has more is given without them, and no more
    ///   than this limit and a part of the input is in memory at a time.
    /// - Returns: the lines, for one reader.
    public func lines(upTo byteLimit: Int) -> InputLines {
        InputLines(byteLimit: max(1, byteLimit), read: read)
    }
}

/// Why nothing more could be read.
public struct StandardInputError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What happened, as a whole sentence.
    public let description: String

    /// Says why, as a part of a sentence.
    public init(_ reason: String) {
        description = "The input cannot be read: \(reason)."
    }

    /// Says why by the system's number for it.
    init(code: Int32) {
        let error = POSIXErrorCode(rawValue: code).map { POSIXError($0) as NSError }
        self.init(error?.localizedFailureReason ?? "error \(code)")
    }
}

/// Reads an open file of the process as bytes come, and waits for them on a thread of its own.
///
/// Once a task that waits is cancelled, nothing more is read.
final class DescriptorReader: Sendable {
    private static let partLength = 64 * 1_024

    private let descriptor: Int32
    private let queue = DispatchQueue(label: "inward.standard-input")
    /// Has something in it as soon as nobody waits any more: the thread that waits for bytes waits for this too.
    private let end = Pipe()

    init(_ descriptor: Int32) {
        self.descriptor = descriptor
    }

    /// The next bytes; none at the end, or when the task is cancelled.
    func read() async throws(StandardInputError) -> [UInt8] {
        let outcome = await withTaskCancellationHandler {
            // Resumed exactly once: where the queue does the work, which it does once.
            await withCheckedContinuation { continuation in
                queue.async { [self] in
                    continuation.resume(returning: Result { () throws(StandardInputError) in try next() })
                }
            }
        } onCancel: {
            try? end.fileHandleForWriting.write(contentsOf: Data([0]))
        }
        return try outcome.get()
    }

    private func next() throws(StandardInputError) -> [UInt8] {
        while true {
            var waits = [
                pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
                pollfd(fd: end.fileHandleForReading.fileDescriptor, events: Int16(POLLIN), revents: 0),
            ]
            // `unsafe`: the array is of two, and outlives the call.
            if unsafe poll(&waits, 2, -1) < 0 {
                guard errno == EINTR else { throw StandardInputError(code: errno) }
                continue
            }
            if waits[1].revents != 0 { return [] }
            var code: Int32 = 0
            // `unsafe`: the call writes no more than the capacity, and says how much that was.
            let bytes = unsafe [UInt8](unsafeUninitializedCapacity: Self.partLength) { buffer, count in
                let length = unsafe Self.read(descriptor, buffer.baseAddress, buffer.count)
                code = length < 0 ? errno : 0
                count = max(0, length)
            }
            switch code {
            case 0: return bytes
            case EINTR, EAGAIN: continue
            default: throw StandardInputError(code: code)
            }
        }
    }

    /// Reads at most `count` bytes into a buffer that has room for them.
    private static func read(_ descriptor: Int32, _ buffer: UnsafeMutableRawPointer?, _ count: Int) -> Int {
        // `unsafe`, here and for the other systems: callers give a buffer with room for `count` bytes, and no more are written.
        #if canImport(Glibc)
        unsafe Glibc.read(descriptor, buffer, count)
        #elseif canImport(Musl)
        // `unsafe`: as above.
        unsafe Musl.read(descriptor, buffer, count)
        #else
        // `unsafe`: as above.
        unsafe Darwin.read(descriptor, buffer, count)
        #endif
    }
}
