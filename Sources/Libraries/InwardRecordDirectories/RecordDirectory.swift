package import Foundation
package import InwardRepositories

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The directory of a store: the names of its files, and the operations on them.
package struct RecordDirectory: Sendable {
    /// The log of all changes since the last rewrite.
    package static let log = "records"
    /// The new log during a rewrite.
    package static let newLog = "records.new"
    /// The file that writers lock.
    package static let lock = "lock"
    /// The directory for damaged parts of logs.
    package static let damaged = "damaged"

    /// The URL of the directory.
    package let url: URL
    /// Injected failures, for tests.
    package let faults: RecordFileFault.Source

    /// Creates a reference to a directory, with injected system-call failures.
    package init(url: URL, faults: @escaping RecordFileFault.Source) {
        self.url = url
        self.faults = faults
    }

    /// Creates the directory and missing parents durably, with access only for the owner, and revokes other users' access to an
    /// existing directory.
    ///
    /// - Throws: A `RecordStoreError` if the directory cannot be created, or if another user could change it.
    package func make() throws(RecordStoreError) {
        try make(permissions: 0o700)
        try checkOwner()
    }

    /// Creates the directory and missing parents durably, with the given permissions.
    package func make(permissions: mode_t) throws(RecordStoreError) {
        try make(url.standardizedFileURL, permissions)
    }

    private func make(_ directory: URL, _ permissions: mode_t) throws(RecordStoreError) {
        let path = directory.path(percentEncoded: false)
        do throws(SystemError) {
            try makeOne(path, permissions)
        } catch {
            switch error.code {
            case EEXIST, EISDIR: return
            case ENOENT where directory.pathComponents.count > 1:
                try make(directory.deletingLastPathComponent(), permissions)
                do throws(SystemError) {
                    try makeOne(path, permissions)
                } catch {
                    if error.code == EEXIST { return }
                    throw RecordStoreError(code: error.code, path: path, "created")
                }
            default: throw RecordStoreError(code: error.code, path: path, "created")
            }
        }
        do {
            // The `umask` of the process must not affect owner-only permissions.
            if permissions == 0o700 { try setMode(path, permissions) }
            try flush(directory.deletingLastPathComponent())
        } catch {
            // If the directory remained, the next call would assume that it is durable. `unsafe`: As in `makeOne`.
            _ = unsafe rmdir(path)
            throw error
        }
    }

    private func makeOne(_ path: String, _ permissions: mode_t) throws(SystemError) {
        _ = try RecordFileStep.makeDirectory(path).perform(faults) {
            // `unsafe`: The string outlives the call, which does not keep the pointer.
            unsafe mkdir(path, permissions)
        }
    }

    private func setMode(_ path: String, _ permissions: mode_t) throws(RecordStoreError) {
        do throws(SystemError) {
            _ = try RecordFileStep.setMode(path).perform(faults) {
                // `unsafe`: As in `makeOne`.
                unsafe chmod(path, permissions)
            }
        } catch {
            throw RecordStoreError(code: error.code, path: path, "made private")
        }
    }

    /// Throws if another user could change or replace the directory.
    private func checkOwner() throws(RecordStoreError) {
        let path = url.standardizedFileURL.path(percentEncoded: false)
        let name = path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
        let quoted = "'" + name.replacingOccurrences(of: "'", with: "'\\''") + "'"
        let user = geteuid()
        // `unsafe`: The string outlives the call, which writes one `stat` into the variable that it is given.
        var status = try systemStatus(name) { unsafe lstat($0, &$1) }
        if status.st_mode & S_IFMT == S_IFLNK {
            guard status.st_uid == user || status.st_uid == 0 else {
                throw RecordStoreError(
                    .denied,
                    explanation: """
                        “\(name)” is a symbolic link of the user \(status.st_uid), who could redirect it. Use the path of the \
                        directory that it points to.
                        """
                )
            }
            // `unsafe`: As for `lstat` above, with the same two arguments.
            status = try systemStatus(name) { unsafe stat($0, &$1) }
        }
        guard status.st_mode & S_IFMT == S_IFDIR else {
            throw RecordStoreError(code: ENOTDIR, path: name, "opened")
        }
        guard status.st_uid == user else {
            throw RecordStoreError(
                .denied,
                explanation: """
                    “\(name)” belongs to the user \(status.st_uid), but this program runs as the user \(user). Run it as \
                    that user, or change the owner: sudo chown -R \(user) \(quoted)
                    """
            )
        }
        guard status.st_mode & 0o022 == 0 else {
            throw RecordStoreError(
                .denied,
                explanation: "Other users can write to “\(name)”. Remove their permission: chmod go-w \(quoted)"
            )
        }
        // Other users do not need to see the records either.
        if status.st_mode & 0o077 != 0 { try setMode(name, status.st_mode & 0o700) }
    }

    private func systemStatus(
        _ path: String,
        _ call: (String, inout stat) -> Int32
    ) throws(RecordStoreError) -> stat {
        var status = stat()
        do throws(SystemError) {
            _ = try RecordFileStep.status(path).perform(faults) { call(path, &status) }
        } catch {
            throw RecordStoreError(code: error.code, path: path, "inspected")
        }
        return status
    }

    /// Opens a file with the system's flags, accessible only to its owner.
    package func open(_ name: String, _ flags: Int32) throws(RecordStoreError) -> RecordFile {
        let file = try RecordFile(name, path: path(of: name), flags: flags, faults: faults)
        try file.makePrivate()
        return file
    }

    /// Returns the identity and the size of the file with a name, or `nil` if the name does not exist.
    ///
    /// - Throws: A `RecordStoreError` if the status cannot be determined for any other reason.
    package func status(of name: String) throws(RecordStoreError) -> (identity: RecordFile.Identity, size: Int)? {
        let path = path(of: name)
        var status = stat()
        do throws(SystemError) {
            _ = try RecordFileStep.status(name).perform(faults) {
                // `unsafe`: The string outlives the call, which writes one `stat` into the variable that it is given.
                unsafe lstat(path, &status)
            }
        } catch {
            guard error.code != ENOENT else { return nil }
            throw RecordStoreError(code: error.code, path: path, "inspected")
        }
        return (RecordFile.Identity(status), Int(status.st_size))
    }

    /// Renames the new log over the log. Until the directory is flushed, a crash may bring back the old log.
    package func replaceLog() throws(RecordStoreError) {
        try move(Self.newLog, to: path(of: Self.log))
    }

    /// Moves an item to a path on the same file system, and replaces the file there.
    package func move(_ name: String, to path: String) throws(RecordStoreError) {
        let source = self.path(of: name)
        do throws(SystemError) {
            _ = try RecordFileStep.rename(name).perform(faults) {
                // `unsafe`: Both strings outlive the call, which does not keep the pointers.
                unsafe rename(source, path)
            }
        } catch {
            throw RecordStoreError(code: error.code, path: path, "replaced")
        }
    }

    /// Creates a hard link to a file at another path on the same file system.
    package func link(_ name: String, to path: String) throws(RecordStoreError) {
        let source = self.path(of: name)
        do throws(SystemError) {
            _ = try RecordFileStep.rename(name).perform(faults) {
                // `unsafe`: Both strings outlive the call, which does not keep the pointers.
                unsafe linkat(AT_FDCWD, source, AT_FDCWD, path, 0)
            }
        } catch {
            throw RecordStoreError(code: error.code, path: path, "linked")
        }
    }

    /// Removes an unfinished new log.
    package func removeNewLog() {
        // If the file remains, the next rewrite overwrites it.
        remove(Self.newLog)
    }

    /// Removes a file, if it exists and can be removed.
    package func remove(_ name: String) {
        let path = path(of: name)
        // `unsafe`: The string outlives the call, which does not keep the pointer.
        _ = try? RecordFileStep.remove(name).perform(faults) { unsafe unlink(path) }
    }

    /// Returns the names of the items in the directory, or an empty array if they cannot be read.
    package func names() -> [String] {
        guard faults(.list) == nil else { return [] }
        return (try? FileManager.default.contentsOfDirectory(atPath: url.path(percentEncoded: false))) ?? []
    }

    /// Flushes the directory's entries to the disk.
    package func flush() throws(RecordStoreError) { try flush(url) }

    /// Returns the path of a file.
    package func path(of name: String) -> String { url.appending(path: name).path(percentEncoded: false) }

    private func flush(_ directory: URL) throws(RecordStoreError) {
        let path = directory.path(percentEncoded: false)
        // Injected failures apply to the flush only, not to opening the directory.
        let file = try RecordFile("", path: path, flags: O_RDONLY | O_DIRECTORY) { step in
            step == .flushDirectory ? faults(step) : nil
        }
        try file.flush(as: .flushDirectory)
    }
}
