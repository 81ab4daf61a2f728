import Foundation

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

#if os(Linux)
/// Tells of each change of the files in a directory, as the kernel does.
final class FileWatch: Sendable {
    private let descriptor: Int32

    /// Watches a directory, which is there, from now on.
    init(_ directory: URL) throws {
        descriptor = inotify_init1(Int32(O_CLOEXEC))
        let path = directory.path(percentEncoded: false)
        let events = UInt32(IN_MODIFY) | UInt32(IN_CREATE) | UInt32(IN_MOVED_TO)
        // SAFETY: The path is read during the call.
        guard descriptor >= 0, unsafe inotify_add_watch(descriptor, path, events) >= 0 else {
            throw CocoaError(.fileReadUnknown)
        }
    }

    deinit { close(descriptor) }

    /// Blocks its thread until there were so many changes, of which those that come at once count as one; or until the writers of a
    /// pipe are gone, if there is one to look at.
    func wait(for count: Int, orReading pipe: FileHandle? = nil) {
        var left = count
        while left > 0 {
            // A pipe is looked at for its end alone, which is told unasked.
            var files = [
                pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
                pollfd(fd: pipe?.fileDescriptor ?? -1, events: 0, revents: 0),
            ]
            // SAFETY: The array and the buffer outlive the calls, which are told their lengths.
            _ = unsafe poll(&files, 2, -1)
            if files[0].revents & Int16(POLLIN) != 0 {
                var buffer = [UInt8](repeating: 0, count: 4_096)
                _ = unsafe read(descriptor, &buffer, buffer.count)
                left -= 1
            } else if files[1].revents != 0 {
                return
            }
        }
    }
}
#else
/// Tells of the changes of the files in a directory where the kernel does; here nobody is told of any.
final class FileWatch: Sendable {
    init(_ directory: URL) throws {}

    /// Returns at once.
    func wait(for count: Int, orReading pipe: FileHandle? = nil) {}
}
#endif
