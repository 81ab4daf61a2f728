package import Foundation
package import InwardRecordDirectories
package import InwardRepositories

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// An open directory.
///
/// Names are looked up relative to its descriptor, without following symbolic links. A name therefore never leads outside the
/// directory, even if paths change during the lookup.
package struct DirectoryHandle: Sendable {
    /// The behavior of a rename whose new name already exists.
    package enum Renaming: Equatable {
        /// Replaces the existing item: a file with a file, or an empty directory with a directory.
        case replacing
        /// Fails, and leaves the existing item in place.
        case creating
        /// Swaps the two names atomically.
        case exchanging
    }

    /// The path that the directory was opened with, for messages.
    package let path: String
    /// The file handle. It closes its descriptor when it is deallocated.
    package let handle: FileHandle

    /// Opens the directory at a path. The path itself may be a symbolic link.
    package init(path: String) throws(RecordStoreError) {
        // `unsafe`: The string outlives the call, which does not keep the pointer.
        let descriptor = unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw RecordStoreError(code: errno, path: path, "opened") }
        self.init(path: path, descriptor: descriptor)
    }

    private init(path: String, descriptor: Int32) {
        self.path = path
        handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    }

    /// Opens a subdirectory.
    package func directory(_ name: String) throws(RecordStoreError) -> DirectoryHandle {
        let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
        // `unsafe`: The string outlives the call, which does not keep the pointer.
        let descriptor = unsafe openat(handle.fileDescriptor, name, flags)
        guard descriptor >= 0 else { throw failure(name, "opened as a directory") }
        return DirectoryHandle(path: path(of: name), descriptor: descriptor)
    }

    /// Opens a subdirectory, and creates it if it does not exist.
    package func directory(_ name: String, making permissions: mode_t) throws(RecordStoreError) -> DirectoryHandle {
        // `unsafe`: The string outlives the call, which does not keep the pointer.
        guard unsafe mkdirat(handle.fileDescriptor, name, permissions) == 0 || errno == EEXIST else {
            throw failure(name, "created")
        }
        return try directory(name)
    }

    /// Opens a file in this directory.
    package func file(
        _ name: String,
        _ flags: Int32,
        permissions: mode_t = 0o600,
        faults: @escaping RecordFileFault.Source = { _ in nil }
    ) throws(RecordStoreError) -> RecordFile {
        try RecordFile(
            name,
            in: handle,
            path: path(of: name),
            // Otherwise, opening a pipe blocks until its other end is opened.
            flags: flags | O_NONBLOCK,
            permissions: permissions,
            faults: faults
        )
    }

    /// Returns the status of the directory itself.
    package func status() throws(RecordStoreError) -> FileStatus {
        var status = stat()
        // `unsafe`: The call writes one `stat` into the variable whose address it gets.
        guard unsafe fstat(handle.fileDescriptor, &status) == 0 else {
            throw RecordStoreError(code: errno, path: path, "read")
        }
        return FileStatus(status)
    }

    /// Returns the status of a name without following a symbolic link, or `nil` if the name does not exist.
    package func status(of name: String) throws(RecordStoreError) -> FileStatus? {
        var status = stat()
        // `unsafe`: The string outlives the call, which writes one `stat` into the variable whose address it gets.
        guard unsafe fstatat(handle.fileDescriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else {
            if errno == ENOENT { return nil }
            throw failure(name, "read")
        }
        return FileStatus(status)
    }

    /// Opens the parent directory of a file below this directory, and creates missing directories on the way.
    package func directory(
        of path: String,
        making permissions: mode_t
    ) throws(RecordStoreError) -> DirectoryHandle {
        var directory = self
        for component in path.split(separator: "/").dropLast() {
            directory = try directory.directory(String(component), making: permissions)
        }
        return directory
    }

    /// Returns the status at a path, which is resolved one component at a time, or `nil` if the path does not exist.
    package func status(at path: String) throws(RecordStoreError) -> FileStatus? {
        let components = path.split(separator: "/").map(String.init)
        var directory = self
        for component in components.dropLast() {
            guard try directory.status(of: component)?.kind == .directory else { return nil }
            directory = try directory.directory(component)
        }
        return try directory.status(of: components.last ?? path)
    }

    /// Returns the names in the directory, sorted.
    package func names() throws(RecordStoreError) -> [String] {
        // `unsafe`: The string outlives `openat`. The stream owns the descriptor, and both are closed once.
        let descriptor = unsafe openat(handle.fileDescriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0, let stream = unsafe fdopendir(descriptor) else {
            let error = RecordStoreError(code: errno, path: path, "read")
            if descriptor >= 0 { close(descriptor) }
            throw error
        }
        // `unsafe`: The stream is open, is closed only here, and is not used afterwards.
        defer { unsafe _ = closedir(stream) }
        var names: [String] = []
        while true {
            errno = 0
            // `unsafe`: The stream is open, and no other thread uses it. The entry is valid until the next `readdir` on the stream.
            guard let entry = unsafe readdir(stream) else {
                guard errno == 0 else { throw RecordStoreError(code: errno, path: path, "read") }
                return names.sorted()
            }
            // `unsafe`: The entry is copied before the next `readdir`. The system terminates each name with NUL within the field,
            // and no byte after the NUL is read.
            let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
    }

    /// Removes a file or a symbolic link, if it exists.
    package func removeFile(_ name: String) throws(RecordStoreError) { try remove(name, 0) }

    /// Removes an empty directory, if it exists.
    package func removeDirectory(_ name: String) throws(RecordStoreError) { try remove(name, AT_REMOVEDIR) }

    private func remove(_ name: String, _ flags: Int32) throws(RecordStoreError) {
        // `unsafe`: The string outlives the call, which does not keep the pointer.
        guard unsafe unlinkat(handle.fileDescriptor, name, flags) == 0 || errno == ENOENT else {
            throw failure(name, "removed")
        }
    }

    /// Creates a hard link in another directory to a file in this one.
    package func link(_ name: String, to other: DirectoryHandle, _ newName: String) throws(RecordStoreError) {
        let (old, new) = (handle.fileDescriptor, other.handle.fileDescriptor)
        // `unsafe`: Both strings outlive the call, which does not keep the pointers.
        guard unsafe linkat(old, name, new, newName, 0) == 0 else { throw other.failure(newName, "created") }
    }

    /// Renames an item in this directory atomically.
    ///
    /// - Returns: `true`, or `false` if the system or the file system does not support the atomic rename. Then nothing has
    ///   changed.
    package func rename(
        _ name: String,
        to other: DirectoryHandle,
        _ newName: String,
        _ renaming: Renaming
    ) throws(RecordStoreError) -> Bool {
        let (old, new) = (handle.fileDescriptor, other.handle.fileDescriptor)
        let code =
            if renaming == .replacing {
                // `unsafe`: Both strings outlive the call, which does not keep the pointers.
                unsafe renameat(old, name, new, newName) == 0 ? 0 : errno
            } else {
                AtomicRename.rename(old, name, new, newName, exchanging: renaming == .exchanging)
            }
        if code == 0 { return true }
        if renaming != .replacing, [EINVAL, ENOSYS, ENOTSUP].contains(code) { return false }
        throw RecordStoreError(code: code, path: other.path(of: newName), "replaced")
    }

    /// Flushes the directory's entries to the disk.
    package func flush() throws(RecordStoreError) {
        #if canImport(Darwin)
        // Here, `fsync` does not flush the drive's cache. `F_FULLFSYNC` does, but not every file system supports it.
        if fcntl(handle.fileDescriptor, F_FULLFSYNC) == 0 { return }
        #endif
        guard fsync(handle.fileDescriptor) == 0 else { throw RecordStoreError(code: errno, path: path, "flushed") }
    }

    /// Returns the path of an item in the directory, for messages.
    package func path(of name: String) -> String { path.hasSuffix("/") ? path + name : "\(path)/\(name)" }

    private func failure(_ name: String, _ action: String) -> RecordStoreError {
        RecordStoreError(code: errno, path: path(of: name), action)
    }
}

/// Atomic renames that POSIX does not define, but operating systems do: swapping two names, and renaming without replacing.
package enum AtomicRename {
    #if !canImport(Darwin)
    /// The type of Linux's `renameat2`: a directory and a path for each name, and flags.
    private typealias RenameAt =
        @convention(c) (
            Int32, UnsafePointer<CChar>, Int32, UnsafePointer<CChar>, UInt32
        ) -> Int32

    /// `RENAME_NOREPLACE` and `RENAME_EXCHANGE`.
    private static let (noReplaceFlag, exchangeFlag): (UInt32, UInt32) = (1, 2)
    #endif

    /// Renames an item between open directories.
    ///
    /// - Returns: 0 on success, otherwise the `errno` code. The code is `ENOSYS`, `EINVAL` or `ENOTSUP` where the system or the
    ///   file system does not support the operation.
    package static func rename(
        _ old: Int32,
        _ name: String,
        _ new: Int32,
        _ newName: String,
        exchanging: Bool
    ) -> Int32 {
        #if canImport(Darwin)
        let flags = UInt32(exchanging ? RENAME_SWAP : RENAME_EXCL)
        // `unsafe`: Both strings outlive the call, which does not keep the pointers.
        return unsafe renameatx_np(old, name, new, newName, flags) == 0 ? 0 : errno
        #else
        // Looked up by name, because the headers that Swift imports do not declare it. `unsafe`: `nil` names the program
        // itself, which stays loaded. The handle is closed once, after its last use.
        guard let program = unsafe dlopen(nil, RTLD_NOW) else { return ENOSYS }
        defer { unsafe _ = dlclose(program) }
        // `unsafe`: The name outlives `dlsym`, and the handle is open. A C library that exports this name exports it with the type
        // `RenameAt`, a C function pointer, which is as wide as the symbol's address.
        guard let symbol = unsafe dlsym(program, "renameat2") else { return ENOSYS }
        let renameAt = unsafe unsafeBitCast(symbol, to: RenameAt.self)
        let flags = exchanging ? exchangeFlag : noReplaceFlag
        // `unsafe`: Both names are NUL-terminated and outlive the call, which does not keep the pointers.
        return unsafe renameAt(old, name, new, newName, flags) == 0 ? 0 : errno
        #endif
    }
}
