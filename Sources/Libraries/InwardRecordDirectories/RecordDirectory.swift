package import Foundation
package import InwardRepositories

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The directory of a store: what its files are called, and what is done to their names.
package struct RecordDirectory: Sendable {
    /// The log of all changes since it was last written anew.
    package static let log = "records"
    /// The log that is about to take the place of that.
    package static let newLog = "records.new"
    /// The file that writers lock.
    package static let lock = "lock"
    /// Where damaged parts of logs are put.
    package static let damaged = "damaged"

    /// Where it is.
    package let url: URL
    /// Injected failures, for tests.
    package let faults: RecordFileFault.Source

    /// Names a directory, with failures to inject into its system calls.
    package init(url: URL, faults: @escaping RecordFileFault.Source) {
        self.url = url
        self.faults = faults
    }

    /// Makes the directory and its parents durably if they do not exist, for their owner alone. Refuses a directory that another
    /// user could change.
    package func make() throws(RecordStoreError) {
        try make(permissions: 0o700)
        try checkOwner()
    }

    /// Makes the directory and its parents durably, with these permissions, if they do not exist.
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
                    throw RecordStoreError(code: error.code, path: path, "made")
                }
            default: throw RecordStoreError(code: error.code, path: path, "made")
            }
        }
        do {
            // Where only the owner may use it, that does not depend on the `umask` of the process.
            if permissions == 0o700 { try setMode(path, permissions) }
            try flush(directory.deletingLastPathComponent())
        } catch {
            // A directory that exists counts as durable, so this one must not stay. `unsafe`: as in `makeOne`.
            _ = unsafe rmdir(path)
            throw error
        }
    }

    private func makeOne(_ path: String, _ permissions: mode_t) throws(SystemError) {
        _ = try RecordFileStep.makeDirectory(path).perform(faults) {
            // `unsafe`: the text lives until the call returns, and the call keeps no pointer to it.
            unsafe mkdir(path, permissions)
        }
    }

    private func setMode(_ path: String, _ permissions: mode_t) throws(RecordStoreError) {
        do throws(SystemError) {
            _ = try RecordFileStep.setMode(path).perform(faults) {
                // `unsafe`: as in `makeOne`.
                unsafe chmod(path, permissions)
            }
        } catch {
            throw RecordStoreError(code: error.code, path: path, "made private")
        }
    }

    /// Refuses a directory that another user could change, or put another in the place of.
    private func checkOwner() throws(RecordStoreError) {
        let path = url.standardizedFileURL.path(percentEncoded: false)
        let name = path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
        let quoted = "'" + name.replacingOccurrences(of: "'", with: "'\\''") + "'"
        let user = geteuid()
        // `unsafe`: the text lives until the call returns, which writes one `stat` into the variable that it is given.
        var status = try systemStatus(name) { unsafe lstat($0, &$1) }
        if status.st_mode & S_IFMT == S_IFLNK {
            guard status.st_uid == user || status.st_uid == 0 else {
                throw RecordStoreError(
                    .denied,
                    explanation: """
                        “\(name)” is a link of the user \(status.st_uid), who could let it lead elsewhere. Name the directory \
                        that it leads to.
                        """
                )
            }
            // `unsafe`: as for `lstat` above, with the same two arguments.
            status = try systemStatus(name) { unsafe stat($0, &$1) }
        }
        guard status.st_mode & S_IFMT == S_IFDIR else {
            throw RecordStoreError(code: ENOTDIR, path: name, "opened")
        }
        guard status.st_uid == user else {
            throw RecordStoreError(
                .denied,
                explanation: """
                    “\(name)” belongs to the user \(status.st_uid), and this program runs as the user \(user). Run it as \
                    that user, or give it the directory: sudo chown -R \(user) \(quoted)
                    """
            )
        }
        guard status.st_mode & 0o022 == 0 else {
            throw RecordStoreError(
                .denied,
                explanation: "Other users may write to “\(name)”. Take that from them: chmod go-w \(quoted)"
            )
        }
        // Nor do they need to see what is kept.
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
            throw RecordStoreError(code: error.code, path: path, "looked at")
        }
        return status
    }

    /// Opens a file with flags of the system's, for its owner alone.
    package func open(_ name: String, _ flags: Int32) throws(RecordStoreError) -> RecordFile {
        let file = try RecordFile(name, path: path(of: name), flags: flags, faults: faults)
        try file.makePrivate()
        return file
    }

    /// Returns which file has a name, and its size; `nil` if the name does not exist.
    ///
    /// - Throws: a `RecordStoreError` if that cannot be known. Only a name that does not exist is absent.
    package func status(of name: String) throws(RecordStoreError) -> (identity: RecordFile.Identity, size: Int)? {
        let path = path(of: name)
        var status = stat()
        do throws(SystemError) {
            _ = try RecordFileStep.status(name).perform(faults) {
                // `unsafe`: the text lives until the call returns, which writes one `stat`, where it is told to.
                unsafe lstat(path, &status)
            }
        } catch {
            guard error.code != ENOENT else { return nil }
            throw RecordStoreError(code: error.code, path: path, "looked at")
        }
        return (RecordFile.Identity(status), Int(status.st_size))
    }

    /// Gives the new log the name of the log. Until the directory is flushed, a crash may bring the old one back.
    package func replaceLog() throws(RecordStoreError) {
        try move(Self.newLog, to: path(of: Self.log))
    }

    /// Gives something in the directory a path of its own file system, in the place of the file that has it.
    package func move(_ name: String, to path: String) throws(RecordStoreError) {
        let source = self.path(of: name)
        do throws(SystemError) {
            _ = try RecordFileStep.rename(name).perform(faults) {
                // `unsafe`: the texts live until the call returns, and the call keeps no pointer to them.
                unsafe rename(source, path)
            }
        } catch {
            throw RecordStoreError(code: error.code, path: path, "replaced")
        }
    }

    /// Gives a file another path of its file system, beside the one that it has.
    package func link(_ name: String, to path: String) throws(RecordStoreError) {
        let source = self.path(of: name)
        do throws(SystemError) {
            _ = try RecordFileStep.rename(name).perform(faults) {
                // `unsafe`: the texts live until the call returns, and the call keeps no pointer to them.
                unsafe linkat(AT_FDCWD, source, AT_FDCWD, path, 0)
            }
        } catch {
            throw RecordStoreError(code: error.code, path: path, "linked")
        }
    }

    /// Removes a new log that was not finished.
    package func removeNewLog() {
        // What stays is overwritten by the next one.
        remove(Self.newLog)
    }

    /// Removes a file, if it is there and can be removed.
    package func remove(_ name: String) {
        let path = path(of: name)
        // `unsafe`: the text lives until the call returns, and the call keeps no pointer to it.
        _ = try? RecordFileStep.remove(name).perform(faults) { unsafe unlink(path) }
    }

    /// The names of what is in the directory; none if that cannot be known.
    package func names() -> [String] {
        guard faults(.list) == nil else { return [] }
        return (try? FileManager.default.contentsOfDirectory(atPath: url.path(percentEncoded: false))) ?? []
    }

    /// Waits until the names of the files are on the disk.
    package func flush() throws(RecordStoreError) { try flush(url) }

    /// The path of a file by its name.
    package func path(of name: String) -> String { url.appending(path: name).path(percentEncoded: false) }

    private func flush(_ directory: URL) throws(RecordStoreError) {
        let path = directory.path(percentEncoded: false)
        // Opening it is a part of the step.
        let file = try RecordFile("", path: path, flags: O_RDONLY | O_DIRECTORY) { step in
            step == .flushDirectory ? faults(step) : nil
        }
        try file.flush(as: .flushDirectory)
    }
}
