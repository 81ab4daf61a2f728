package import Foundation
package import InterfaceAdapters

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
    static let log = "records"
    /// The log that is about to take the place of that.
    static let newLog = "records.new"
    /// What is locked by whoever changes something.
    static let lock = "lock"
    /// Where damaged parts of logs are put.
    static let damaged = "damaged"

    /// Where it is.
    package let url: URL
    /// What goes wrong in it.
    package let faults: RecordFileFault.Source

    /// Names a directory, whose files fail when they are told to.
    package init(url: URL, faults: @escaping RecordFileFault.Source) {
        self.url = url
        self.faults = faults
    }

    /// Makes the directory, if there is none, and those that lead to it; durably, and for their owner alone.
    package func make() throws(RecordStoreError) { try make(permissions: 0o700) }

    /// Makes the directory, if there is none, and those that lead to it; durably, with these permissions.
    func make(permissions: mode_t) throws(RecordStoreError) {
        var missing: [URL] = []
        var next = url.standardizedFileURL
        while next.pathComponents.count > 1,
            !FileManager.default.fileExists(atPath: next.path(percentEncoded: false))
        {
            missing.append(next)
            next = next.deletingLastPathComponent()
        }
        for directory in missing.reversed() {
            let path = directory.path(percentEncoded: false)
            // `unsafe`: the text lives until the call returns, and the call keeps no pointer to it.
            guard unsafe mkdir(path, permissions) == 0 || errno == EEXIST else {
                throw RecordStoreError(code: errno, path: path, "made")
            }
            try flush(directory.deletingLastPathComponent())
        }
    }

    /// Opens a file with flags of the system's.
    package func open(_ name: String, _ flags: Int32) throws(RecordStoreError) -> RecordFile {
        try RecordFile(name, path: path(of: name), flags: flags, faults: faults)
    }

    /// Which file has a name, and how many bytes; `nil` if none has.
    package func status(of name: String) -> (identity: RecordFile.Identity, size: Int)? {
        var status = stat()
        // `unsafe`: the text lives until the call returns, which writes one `stat`, where it is told to.
        guard unsafe lstat(path(of: name), &status) == 0 else { return nil }
        return (RecordFile.Identity(status), Int(status.st_size))
    }

    /// Gives the new log the name of the log. A crash behind that may still bring the old one back, until it is flushed.
    func replaceLog() throws(RecordStoreError) {
        try move(Self.newLog, to: path(of: Self.log))
    }

    /// Gives something in the directory a path of its own file system, in the place of the file that has it.
    package func move(_ name: String, to path: String) throws(RecordStoreError) {
        if let fault = faults(.rename(name)) {
            throw RecordStoreError(code: fault.code, path: path, "replaced")
        }
        // `unsafe`: the texts live until the call returns, and the call keeps no pointer to them.
        guard unsafe rename(self.path(of: name), path) == 0 else {
            throw RecordStoreError(code: errno, path: path, "replaced")
        }
    }

    /// Removes a new log that nobody finished.
    func removeNewLog() {
        guard status(of: Self.newLog) != nil, faults(.remove(Self.newLog)) == nil else { return }
        // What stays is overwritten by the next one.
        try? FileManager.default.removeItem(atPath: path(of: Self.newLog))
    }

    /// Waits until the names of the files are on the disk.
    package func flush() throws(RecordStoreError) {
        if let fault = faults(.flushDirectory) {
            throw RecordStoreError(code: fault.code, path: url.path(percentEncoded: false), "flushed")
        }
        try flush(url)
    }

    /// The path of a file by its name.
    package func path(of name: String) -> String { url.appending(path: name).path(percentEncoded: false) }

    private func flush(_ directory: URL) throws(RecordStoreError) {
        // The faults are those of the directory itself.
        try RecordFile("", path: directory.path(percentEncoded: false), flags: O_RDONLY | O_DIRECTORY) {
            _ in nil
        }
        .flush()
    }
}
