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

/// An open directory. Names are looked up in it without following symbolic links, so that no name leads anywhere else, whatever is
/// done to the paths meanwhile.
package struct DirectoryHandle: Sendable {
    /// What becomes of the thing that has the new name already when something is renamed.
    package enum Renaming: Equatable {
        /// It is replaced: a file by a file, or an empty directory by a directory.
        case replacing
        /// It stays, and the renaming fails.
        case creating
        /// It is given the old name in the same step.
        case exchanging
    }

    /// The path that it was opened by, for messages.
    package let path: String
    /// Closes its descriptor when it is deallocated.
    package let handle: FileHandle

    /// Opens the directory at a path, which may itself be a symbolic link.
    package init(path: String) throws(RecordStoreError) {
        // `unsafe`: the text lives until the call returns, and the call keeps no pointer to it.
        let descriptor = unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw RecordStoreError(code: errno, path: path, "opened") }
        self.init(path: path, descriptor: descriptor)
    }

    private init(path: String, descriptor: Int32) {
        self.path = path
        handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    }

    /// Opens a directory in this one.
    package func directory(_ name: String) throws(RecordStoreError) -> DirectoryHandle {
        let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
        // `unsafe`: the text lives until the call returns, and the call keeps no pointer to it.
        let descriptor = unsafe openat(handle.fileDescriptor, name, flags)
        guard descriptor >= 0 else { throw failure(name, "opened as a directory") }
        return DirectoryHandle(path: path(of: name), descriptor: descriptor)
    }

    /// Opens a directory in this one, which is made if there is nothing of its name.
    package func directory(_ name: String, making permissions: mode_t) throws(RecordStoreError) -> DirectoryHandle {
        // `unsafe`: the text lives until the call returns, and the call keeps no pointer to it.
        guard unsafe mkdirat(handle.fileDescriptor, name, permissions) == 0 || errno == EEXIST else {
            throw failure(name, "made")
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
            // Opening a pipe would otherwise block until its other end is opened.
            flags: flags | O_NONBLOCK,
            permissions: permissions,
            faults: faults
        )
    }

    /// The status of the directory itself.
    package func status() throws(RecordStoreError) -> FileStatus {
        var status = stat()
        // `unsafe`: the call writes one `stat`, which is where it is told to write.
        guard unsafe fstat(handle.fileDescriptor, &status) == 0 else {
            throw RecordStoreError(code: errno, path: path, "read")
        }
        return FileStatus(status)
    }

    /// Returns the status of a name, without following a symbolic link; `nil` if the name does not exist.
    package func status(of name: String) throws(RecordStoreError) -> FileStatus? {
        var status = stat()
        // `unsafe`: the text lives until the call returns, which writes one `stat`, where it is told to.
        guard unsafe fstatat(handle.fileDescriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else {
            if errno == ENOENT { return nil }
            throw failure(name, "read")
        }
        return FileStatus(status)
    }

    /// Opens the directory of a file below this one, and makes each directory on the way that does not exist.
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

    /// Returns the status at a path, which is followed one component at a time; `nil` if the path does not exist.
    package func status(at path: String) throws(RecordStoreError) -> FileStatus? {
        let components = path.split(separator: "/").map(String.init)
        var directory = self
        for component in components.dropLast() {
            guard try directory.status(of: component)?.kind == .directory else { return nil }
            directory = try directory.directory(component)
        }
        return try directory.status(of: components.last ?? path)
    }

    /// The names in the directory, in order.
    package func names() throws(RecordStoreError) -> [String] {
        // `unsafe`: the text lives until `openat` returns. The stream owns the descriptor, and both are closed once.
        let descriptor = unsafe openat(handle.fileDescriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0, let stream = unsafe fdopendir(descriptor) else {
            let error = RecordStoreError(code: errno, path: path, "read")
            if descriptor >= 0 { close(descriptor) }
            throw error
        }
        // `unsafe`: the stream is open, is closed only here, and is not used afterwards.
        defer { unsafe _ = closedir(stream) }
        var names: [String] = []
        while true {
            errno = 0
            // `unsafe`: the stream is open, and no other thread has it. The entry is valid until the next `readdir` of the stream.
            guard let entry = unsafe readdir(stream) else {
                guard errno == 0 else { throw RecordStoreError(code: errno, path: path, "read") }
                return names.sorted()
            }
            // `unsafe`: the entry is copied before the next `readdir`. The system ends each name with NUL within the field, and no
            // byte after that is read.
            let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
    }

    /// Removes a file, or a symbolic link itself, if there is one.
    package func removeFile(_ name: String) throws(RecordStoreError) { try remove(name, 0) }

    /// Removes an empty directory, if there is one.
    package func removeDirectory(_ name: String) throws(RecordStoreError) { try remove(name, AT_REMOVEDIR) }

    private func remove(_ name: String, _ flags: Int32) throws(RecordStoreError) {
        // `unsafe`: the text lives until the call returns, and the call keeps no pointer to it.
        guard unsafe unlinkat(handle.fileDescriptor, name, flags) == 0 || errno == ENOENT else {
            throw failure(name, "removed")
        }
    }

    /// Gives a file in this directory a second name in another.
    package func link(_ name: String, to other: DirectoryHandle, _ newName: String) throws(RecordStoreError) {
        let (old, new) = (handle.fileDescriptor, other.handle.fileDescriptor)
        // `unsafe`: the texts live until the call returns, and the call keeps no pointer to them.
        guard unsafe linkat(old, name, new, newName, 0) == 0 else { throw other.failure(newName, "made") }
    }

    /// Gives something in this directory another name, in one step.
    ///
    /// - Returns: `false` if the system or the file system cannot do that in one step; nothing has changed then.
    package func rename(
        _ name: String,
        to other: DirectoryHandle,
        _ newName: String,
        _ renaming: Renaming
    ) throws(RecordStoreError) -> Bool {
        let (old, new) = (handle.fileDescriptor, other.handle.fileDescriptor)
        let code =
            if renaming == .replacing {
                // `unsafe`: the texts live until the call returns, and the call keeps no pointer to them.
                unsafe renameat(old, name, new, newName) == 0 ? 0 : errno
            } else {
                AtomicRename.rename(old, name, new, newName, exchanging: renaming == .exchanging)
            }
        if code == 0 { return true }
        if renaming != .replacing, [EINVAL, ENOSYS, ENOTSUP].contains(code) { return false }
        throw RecordStoreError(code: code, path: other.path(of: newName), "replaced")
    }

    /// Waits until the names are on the disk.
    package func flush() throws(RecordStoreError) {
        #if canImport(Darwin)
        // `fsync` is satisfied there with what the disk has in its own memory. Not every file system knows better.
        if fcntl(handle.fileDescriptor, F_FULLFSYNC) == 0 { return }
        #endif
        guard fsync(handle.fileDescriptor) == 0 else { throw RecordStoreError(code: errno, path: path, "flushed") }
    }

    /// The path of something in the directory, for messages.
    package func path(of name: String) -> String { path.hasSuffix("/") ? path + name : "\(path)/\(name)" }

    private func failure(_ name: String, _ action: String) -> RecordStoreError {
        RecordStoreError(code: errno, path: path(of: name), action)
    }
}

/// The renaming that exchanges two names, or replaces nothing. POSIX does not have it, and the systems do.
package enum AtomicRename {
    #if !canImport(Darwin)
    /// `renameat2` of Linux, as its C library declares it: two directories with a path each, and flags.
    private typealias RenameAt =
        @convention(c) (
            Int32, UnsafePointer<CChar>, Int32, UnsafePointer<CChar>, UInt32
        ) -> Int32

    /// `RENAME_NOREPLACE` and `RENAME_EXCHANGE`.
    private static let (noReplaceFlag, exchangeFlag): (UInt32, UInt32) = (1, 2)
    #endif

    /// Renames, in open directories.
    ///
    /// - Returns: 0, or the system's number for what went wrong: `ENOSYS`, `EINVAL` or `ENOTSUP` where the system or the file system
    ///   cannot.
    package static func rename(
        _ old: Int32,
        _ name: String,
        _ new: Int32,
        _ newName: String,
        exchanging: Bool
    ) -> Int32 {
        #if canImport(Darwin)
        let flags = UInt32(exchanging ? RENAME_SWAP : RENAME_EXCL)
        // `unsafe`: the texts live until the call returns, and the call keeps no pointer to them.
        return unsafe renameatx_np(old, name, new, newName, flags) == 0 ? 0 : errno
        #else
        // Looked up by name, because the headers that Swift sees do not declare it.
        // `unsafe`: `nil` names the program itself, which stays loaded. The handle is closed once, after its last use.
        guard let program = unsafe dlopen(nil, RTLD_NOW) else { return ENOSYS }
        defer { unsafe _ = dlclose(program) }
        // `unsafe`: the name lives until `dlsym` returns, and the handle is open. A C library that exports this name exports it
        // with the type `RenameAt`, which is a C function pointer and so as wide as the symbol's address.
        guard let symbol = unsafe dlsym(program, "renameat2") else { return ENOSYS }
        let renameAt = unsafe unsafeBitCast(symbol, to: RenameAt.self)
        let flags = exchanging ? exchangeFlag : noReplaceFlag
        // `unsafe`: both names end in NUL and live until the call returns, which keeps no pointer to them.
        return unsafe renameAt(old, name, new, newName, flags) == 0 ? 0 : errno
        #endif
    }
}
