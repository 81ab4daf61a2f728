import Dispatch
import Foundation

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The standard input of a program.
///
/// ```swift
/// for try await line in StandardInput().lines(upTo: 1_024) {
///     print("Line \(line.number):", line.bytes.map { String(decoding: $0, as: UTF8.self) } ?? "too long")
/// }
/// ```
public struct StandardInput: Sendable {
    private let read: @Sendable () async throws(StandardInputError) -> [UInt8]

    /// Creates the standard input of this process: a file, a pipe or a terminal. It is read on demand, on a separate thread.
    public init() {
        self.init(descriptor: STDIN_FILENO)
    }

    /// Creates an input whose bytes come from a closure, for example in a test.
    ///
    /// - Parameter read: Returns the next bytes, or an empty array at the end. It must return soon after its task is cancelled;
    ///   its result is then ignored.
    public init(read: @escaping @Sendable () async throws(StandardInputError) -> [UInt8]) {
        self.read = read
    }

    /// Creates an input from a file descriptor that is open now, and must stay open.
    init(descriptor: Int32) {
        guard fcntl(descriptor, F_GETFD) >= 0 else {
            // A program may be started without standard input. A file that it opens later would then get this descriptor, so
            // the descriptor must not be read.
            let error = StandardInputError(code: errno)
            self.init { () async throws(StandardInputError) in throw error }
            return
        }
        let reader = DescriptorReader(descriptor)
        self.init { () async throws(StandardInputError) in try await reader.read() }
    }

    /// Returns the lines from the current position on.
    ///
    /// - Parameter byteLimit: The maximum length of a line in bytes, at least 1. A longer line is returned without its bytes.
    ///   Memory holds at most this many bytes and one chunk of the input at a time.
    /// - Returns: The lines, for one reader.
    public func lines(upTo byteLimit: Int) -> InputLines {
        InputLines(byteLimit: max(1, byteLimit), read: read)
    }
}

/// An error that explains why the input cannot be read. See <doc:GettingStarted> for an example.
public struct StandardInputError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The problem, as a complete sentence.
    public let description: String

    /// Creates an error from a reason, such as `permission denied`, which ends the description.
    public init(_ reason: String) {
        description = "The input cannot be read: \(reason)."
    }

    /// Creates an error from a system error number.
    init(code: Int32) {
        let error = POSIXErrorCode(rawValue: code).map { POSIXError($0) as NSError }
        self.init(error?.localizedFailureReason ?? "error \(code)")
    }
}

/// Reads bytes of an open file as they arrive, and waits for them on a separate thread.
///
/// Once a waiting task is cancelled, nothing more is read.
final class DescriptorReader: Sendable {
    private static let partLength = 64 * 1_024

    private let descriptor: Int32
    private let queue = DispatchQueue(label: "inward.standard-input")
    /// Becomes readable on cancellation. The reading thread polls it together with the descriptor.
    private let end = Pipe()

    init(_ descriptor: Int32) {
        self.descriptor = descriptor
    }

    /// Returns the next bytes; an empty array at the end, or when the task is cancelled.
    func read() async throws(StandardInputError) -> [UInt8] {
        let outcome = await withTaskCancellationHandler {
            // Resumed exactly once, by the block on the queue, which runs once.
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
            // `unsafe`: the array has two elements and outlives the call.
            if unsafe poll(&waits, 2, -1) < 0 {
                guard errno == EINTR else { throw StandardInputError(code: errno) }
                continue
            }
            if waits[1].revents != 0 { return [] }
            var code: Int32 = 0
            // `unsafe`: the call writes at most the capacity, and returns how much it wrote.
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

    /// Reads at most `count` bytes into a buffer with room for them.
    private static func read(_ descriptor: Int32, _ buffer: UnsafeMutableRawPointer?, _ count: Int) -> Int {
        // `unsafe`, here and for the other systems: callers pass a buffer with room for `count` bytes, and at most that many
        // are written.
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
