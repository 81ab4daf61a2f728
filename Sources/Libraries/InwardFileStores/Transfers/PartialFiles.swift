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

/// The files that a target is made of, and what is done to their names.
package struct PartialFiles: Sendable {
    /// A longer file is not a note.
    private static let maximumNoteByteCount = 64 * 1_024

    private let directory: DirectoryHandle
    /// What the file is called that is to be there in the end.
    private let name: String
    private let faults: RecordFileFault.Source

    /// Opens the directory of a target, and makes it if it does not exist.
    package init(_ target: FileTarget, faults: @escaping RecordFileFault.Source) throws(RecordStoreError) {
        directory = try target.openDirectory()
        name = target.url.lastPathComponent
        self.faults = faults
    }

    /// The paths of the files that are beside a target until it is published.
    package static func names(for path: String) -> [String] {
        let name = path.split(separator: "/").last ?? ""
        return ["inward-part", "inward-state", "inward-state.new"].map { "\(path.dropLast(name.count)).\(name).\($0)" }
    }

    private var part: String { ".\(name).inward-part" }
    private var state: String { ".\(name).inward-state" }

    /// Opens the partial file, and keeps everybody else from it as long as it is open.
    ///
    /// - Returns: the file; `nil` if another process has it.
    package func open() throws(RecordStoreError) -> RecordFile? {
        if try directory.status(of: name)?.kind == .directory {
            throw RecordStoreError(code: EISDIR, path: directory.path(of: name), "replaced")
        }
        while true {
            let file = try directory.file(part, O_RDWR | O_CREAT, permissions: 0o644, faults: faults)
            guard try file.lockAtOnce() else { return nil }
            // Who had it locked before may have renamed it: then another has the name, or none.
            guard let status = try directory.status(of: part), status.identity == (try file.status().identity) else {
                continue
            }
            guard status.isOwnFile else { throw planted(part) }
            return file
        }
    }

    /// What an earlier run noted about the partial file; `nil` if it is nothing that can be read.
    package func notedPart() -> SavedPart? {
        // Another user's note could make the transfer go on from the wrong place.
        guard let status = try? directory.status(of: state), status.isOwnFile,
            let file = try? directory.file(state, O_RDONLY),
            (try? file.status().identity) == status.identity,
            let note = try? file.read(at: 0, count: Self.maximumNoteByteCount)
        else { return nil }
        return SavedPart(note: note)
    }

    /// Notes what the partial file has. What is noted may be lost with the power, and is never half.
    package func note(_ saved: SavedPart) throws(RecordStoreError) {
        let new = "\(state).new"
        // One that is there may be another name of a file that is not to be written into.
        try directory.removeFile(new)
        let file = try directory.file(new, O_WRONLY | O_CREAT | O_EXCL, permissions: 0o644, faults: faults)
        try file.write(saved.note, at: 0)
        try rename(new, to: state)
    }

    /// Takes away what was noted.
    package func removeNote() {
        // What stays is of a partial file that is not there, and found to be so.
        for name in [state, "\(state).new"] { try? directory.removeFile(name) }
    }

    /// Takes away the partial file and what was noted.
    package func remove() {
        removeNote()
        // What stays is truncated by the next writer.
        try? directory.removeFile(part)
    }

    /// Puts the partial file, which is flushed, in the place of the target, and waits until that is on the disk.
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
                “\(directory.path(of: name))” is not a file that only this user can write, or it has another name. It is not used: find out what it \
                is, and move it away.
                """
        )
    }
}
