package import Foundation

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The files below one directory, and no others.
///
/// Each step of a path is taken from the directory before it without following a symbolic link, so that no path leads
/// outside, whatever is changed in the tree meanwhile.
package struct DirectoryTree: Sendable {
    /// Closes its descriptor when it is deallocated.
    private let root: FileHandle

    /// Opens the directory at a path, which may itself be a symbolic link.
    ///
    /// - Throws: a ``DirectoryTreeError`` if there is no such directory or it may not be read.
    package init(path: String) throws(DirectoryTreeError) {
        // `unsafe`: the text lives until the call returns, and the call keeps no pointer to it.
        root = try Self.handle(unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC))
    }

    /// Takes a directory that is open.
    package init(root: FileHandle) {
        self.root = root
    }

    /// Returns the regular file at a path below the directory, which is followed one component at a time; `nil` if it does not exist.
    ///
    /// - Throws: a ``DirectoryTreeError`` if it is there and may not be read, or a symbolic link stands in its place.
    package func file(at components: [String]) throws(DirectoryTreeError) -> FileHandle? {
        guard let name = components.last, components.allSatisfy(\.isPathComponent) else { return nil }
        do throws(DirectoryTreeError) {
            var directory = root
            for component in components.dropLast() {
                directory = try Self.entry(component, of: directory, flags: O_DIRECTORY)
            }
            // Opening a pipe would otherwise block until its other end is opened.
            let file = try Self.entry(name, of: directory, flags: O_NONBLOCK)
            return try Self.isRegularFile(file) ? file : nil
        } catch {
            guard error.meansAbsence else { throw error }
            return nil
        }
    }

    private static func entry(
        _ name: String,
        of directory: FileHandle,
        flags: Int32
    ) throws(DirectoryTreeError) -> FileHandle {
        let flags = flags | O_RDONLY | O_NOFOLLOW | O_CLOEXEC
        // `unsafe`: the text lives until the call returns, and the call keeps no pointer to it.
        return try handle(unsafe openat(directory.fileDescriptor, name, flags))
    }

    private static func handle(_ descriptor: Int32) throws(DirectoryTreeError) -> FileHandle {
        guard descriptor >= 0 else { throw DirectoryTreeError(code: errno) }
        return FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    }

    private static func isRegularFile(_ file: FileHandle) throws(DirectoryTreeError) -> Bool {
        var status = stat()
        // `unsafe`: the call writes one `stat`, which is where it is told to write.
        guard unsafe fstat(file.fileDescriptor, &status) == 0 else { throw DirectoryTreeError(code: errno) }
        return status.st_mode & S_IFMT == S_IFREG
    }
}

/// Why something in a ``DirectoryTree`` cannot be read.
package struct DirectoryTreeError: Error, Equatable, CustomStringConvertible {
    /// The system's number for what happened.
    package let code: Int32

    /// Whether it says no more than that nothing is there.
    package var meansAbsence: Bool { [ENOENT, ENOTDIR, ENAMETOOLONG].contains(code) }

    /// What happened, as the end of a sentence.
    package var description: String {
        code == ELOOP ? "is a symbolic link, and those are not followed" : "cannot be read: \(systemText)"
    }

    private var systemText: String {
        let error = POSIXErrorCode(rawValue: code).map { POSIXError($0) as NSError }
        return error?.localizedFailureReason ?? "error \(code)"
    }
}

extension String {
    /// Whether this is the name of one thing in a directory, and no way to anywhere else.
    package var isPathComponent: Bool {
        !["", ".", ".."].contains(self) && !utf8.contains { $0 == UInt8(ascii: "/") || $0 == 0 }
    }
}
