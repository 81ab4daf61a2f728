import Foundation
import InwardFetching
package import InwardRecordDirectories
package import InwardRepositories
package import InwardTransfers

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The partial file and the state file of a target, and the operations on them.
package struct PartialFiles: Sendable {
    /// A file longer than this is not a valid note.
    private static let maximumNoteByteCount = 64 * 1_024

    private let directory: DirectoryHandle
    /// The name of the target.
    private let name: String
    private let faults: RecordFileFault.Source

    /// Opens the directory of a target, and creates it if it does not exist.
    package init(_ target: FileTarget, faults: @escaping RecordFileFault.Source) throws(RecordStoreError) {
        directory = try target.openDirectory()
        name = target.url.lastPathComponent
        self.faults = faults
    }

    /// Returns the paths of the temporary files that exist next to a target until it is published.
    package static func names(for path: String) -> [String] {
        let name = path.split(separator: "/").last ?? ""
        return ["inward-part", "inward-state", "inward-state.new"].map { "\(path.dropLast(name.count)).\(name).\($0)" }
    }

    private var part: String { ".\(name).inward-part" }
    private var state: String { ".\(name).inward-state" }

    /// Opens the partial file and locks it until it is closed.
    ///
    /// - Returns: The file, or `nil` if another process has locked it.
    package func open() throws(RecordStoreError) -> RecordFile? {
        if try directory.status(of: name)?.kind == .directory {
            throw RecordStoreError(code: EISDIR, path: directory.path(of: name), "replaced")
        }
        while true {
            let file = try directory.file(part, O_RDWR | O_CREAT, permissions: 0o644, faults: faults)
            guard try file.lockAtOnce() else { return nil }
            // The previous owner of the lock may have renamed the file. The name may now be missing, or belong to another file.
            guard let status = try directory.status(of: part), status.identity == (try file.status().identity) else {
                continue
            }
            guard status.isOwnFile else { throw planted(part) }
            return file
        }
    }

    /// Returns the note of an earlier run about the partial file, or `nil` if there is no readable note.
    package func notedPart() -> SavedPart? {
        // A note written by another user could make the transfer resume at the wrong offset.
        guard let status = try? directory.status(of: state), status.isOwnFile,
            let file = try? directory.file(state, O_RDONLY),
            (try? file.status().identity) == status.identity,
            let note = try? file.read(at: 0, count: Self.maximumNoteByteCount)
        else { return nil }
        return SavedPart(note: note)
    }

    /// Records the contents of the partial file in a note. A power failure may lose the note, but never leaves half of it.
    package func note(_ saved: SavedPart) throws(RecordStoreError) {
        let new = "\(state).new"
        // The name may already exist as a hard link to a file that must not change.
        try directory.removeFile(new)
        let file = try directory.file(new, O_WRONLY | O_CREAT | O_EXCL, permissions: 0o644, faults: faults)
        try file.write(saved.note, at: 0)
        try rename(new, to: state)
    }

    /// Removes the note.
    package func removeNote() {
        // A leftover note describes a partial file that no longer exists. The next run notices that.
        for name in [state, "\(state).new"] { try? directory.removeFile(name) }
    }

    /// Removes the partial file and the note.
    package func remove() {
        removeNote()
        // If the file remains, the next writer truncates it.
        try? directory.removeFile(part)
    }

    /// Renames the flushed partial file over the target, and flushes the directory.
    package func publish(_ file: RecordFile) throws(RecordStoreError) {
        try rename(part, to: name, file)
        removeNote()
        if let fault = faults(.flushDirectory) {
            throw RecordStoreError(code: fault.code, path: directory.path, "flushed")
        }
        try directory.flush()
    }

    private func rename(
        _ name: String,
        to newName: String,
        _ file: RecordFile? = nil
    ) throws(RecordStoreError) {
        if let fault = faults(.rename(name)) {
            throw RecordStoreError(code: fault.code, path: directory.path(of: newName), "replaced")
        }
        if let file, try directory.status(of: name)?.identity != file.status().identity { throw planted(name) }
        _ = try directory.rename(name, to: directory, newName, .replacing)
    }

    private func planted(_ name: String) -> RecordStoreError {
        RecordStoreError(
            .denied,
            explanation: """
                “\(directory.path(of: name))” is not used: it is not a regular file that only this user can write to, or it has a \
                second hard link. Find out what it is, and move it away.
                """
        )
    }
}
