package import Foundation

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Read access to the files below one directory.
///
/// Each path component is resolved relative to the previous directory, without following symbolic links. A path therefore never
/// leads outside the tree, even if the tree changes during the lookup.
package struct DirectoryTree: Sendable {
    /// The root. It closes its descriptor when it is deallocated.
    private let root: FileHandle

    /// Opens the directory at a path. The path itself may be a symbolic link.
    ///
    /// - Throws: A ``DirectoryTreeError`` if the directory does not exist or cannot be read.
    package init(path: String) throws(DirectoryTreeError) {
        // `unsafe`: The string outlives the call, which does not keep the pointer.
        root = try Self.handle(unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC))
    }

    /// Creates a tree from an open directory.
    package init(root: FileHandle) {
        self.root = root
    }

    /// Returns the regular file at a path below the directory, or `nil` if it does not exist. The path is resolved one component at
    /// a time.
    ///
    /// - Throws: A ``DirectoryTreeError`` if the file exists but cannot be read, or if a component is a symbolic link.
    package func file(at components: [String]) throws(DirectoryTreeError) -> FileHandle? {
        guard let name = components.last, components.allSatisfy(\.isPathComponent) else { return nil }
        do throws(DirectoryTreeError) {
            var directory = root
            for component in components.dropLast() {
                directory = try Self.entry(component, of: directory, flags: O_DIRECTORY)
            }
            // Otherwise, opening a pipe blocks until its other end is opened.
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
        // `unsafe`: The string outlives the call, which does not keep the pointer.
        return try handle(unsafe openat(directory.fileDescriptor, name, flags))
    }

    private static func handle(_ descriptor: Int32) throws(DirectoryTreeError) -> FileHandle {
        guard descriptor >= 0 else { throw DirectoryTreeError(code: errno) }
        return FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    }

    private static func isRegularFile(_ file: FileHandle) throws(DirectoryTreeError) -> Bool {
        var status = stat()
        // `unsafe`: The call writes one `stat` into the variable whose address it gets.
        guard unsafe fstat(file.fileDescriptor, &status) == 0 else { throw DirectoryTreeError(code: errno) }
        return status.st_mode & S_IFMT == S_IFREG
    }
}

/// An error of reading from a ``DirectoryTree``.
package struct DirectoryTreeError: Error, Equatable, CustomStringConvertible {
    /// The `errno` code.
    package let code: Int32

    /// Whether the error means only that the item does not exist.
    package var meansAbsence: Bool { [ENOENT, ENOTDIR, ENAMETOOLONG].contains(code) }

    /// The failure, as the end of a sentence that begins with the file.
    package var description: String {
        code == ELOOP ? "is a symbolic link, which is not followed" : "cannot be read: \(systemText)"
    }

    private var systemText: String {
        let error = POSIXErrorCode(rawValue: code).map { POSIXError($0) as NSError }
        return error?.localizedFailureReason ?? "error \(code)"
    }
}

extension String {
    /// Whether the string names a single item in a directory and cannot lead elsewhere.
    package var isPathComponent: Bool {
        !["", ".", ".."].contains(self) && !utf8.contains { $0 == UInt8(ascii: "/") || $0 == 0 }
    }
}
