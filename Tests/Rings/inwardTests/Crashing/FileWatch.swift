import Foundation

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

#if os(Linux)
/// Watches for changes of the files in a directory, with inotify.
final class FileWatch: Sendable {
    private let descriptor: Int32

    /// Starts to watch an existing directory.
    init(_ directory: URL) throws {
        descriptor = inotify_init1(Int32(O_CLOEXEC))
        let path = directory.path(percentEncoded: false)
        let events = UInt32(IN_MODIFY) | UInt32(IN_CREATE) | UInt32(IN_MOVED_TO)
        // SAFETY: The call reads the path and keeps no pointer to it.
        guard descriptor >= 0, unsafe inotify_add_watch(descriptor, path, events) >= 0 else {
            throw CocoaError(.fileReadUnknown)
        }
    }

    deinit { close(descriptor) }

    /// Blocks the thread until there were this many changes, or until all writers of the pipe have closed it. Simultaneous
    /// changes count as one.
    func wait(for count: Int, orReading pipe: FileHandle? = nil) {
        var left = count
        while left > 0 {
            // Requesting no events on the pipe still reports its end.
            var files = [
                pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
                pollfd(fd: pipe?.fileDescriptor ?? -1, events: 0, revents: 0),
            ]
            // SAFETY: The array and the buffer outlive the calls, which receive their lengths.
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
/// A file watch for platforms without inotify. It never waits.
final class FileWatch: Sendable {
    init(_ directory: URL) throws {}

    /// Returns immediately.
    func wait(for count: Int, orReading pipe: FileHandle? = nil) {}
}
#endif
