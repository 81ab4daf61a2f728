import Foundation
import InterfaceAdapters
import UseCases

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The files that a target is made of, and what is done to their names.
struct PartialFiles: Sendable {
    /// The address of what is to be there in the end.
    let target: URL
    let faults: RecordFileFault.Source

    /// The paths of the files that are beside a target until it is published.
    static func names(for path: String) -> [String] {
        let name = path.split(separator: "/").last ?? ""
        return ["inward-part", "inward-state", "inward-state.new"].map { "\(path.dropLast(name.count)).\(name).\($0)" }
    }

    private var directory: RecordDirectory {
        RecordDirectory(url: target.deletingLastPathComponent(), faults: faults)
    }
    private var part: String { ".\(target.lastPathComponent).inward-part" }
    private var state: String { ".\(target.lastPathComponent).inward-state" }

    /// Opens the partial file, and keeps everybody else from it as long as it is open.
    ///
    /// - Returns: the file; `nil` if somebody else has it.
    func open() throws(RecordStoreError) -> RecordFile? {
        try directory.make(permissions: 0o777)
        let path = target.path(percentEncoded: false)
        var isDirectory: ObjCBool = false
        // `unsafe`: the call writes one truth value, which is where it is told to write.
        if unsafe FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory), isDirectory.boolValue {
            throw RecordStoreError(code: EISDIR, path: path, "replaced")
        }
        while true {
            let file = try RecordFile(
                part,
                path: directory.path(of: part),
                flags: O_RDWR | O_CREAT,
                permissions: 0o666,
                faults: faults
            )
            guard try file.lockAtOnce() else { return nil }
            // Who had it locked before may have renamed it: then another has the name, or none.
            if directory.status(of: part)?.identity == (try file.status().identity) { return file }
        }
    }

    /// What an earlier run noted about the partial file; `nil` if it is nothing that can be read.
    func notedPart() -> SavedPart? {
        guard let note = FileManager.default.contents(atPath: directory.path(of: state)) else { return nil }
        return SavedPart(note: [UInt8](note))
    }

    /// Notes what the partial file has. What is noted may be lost with the power, and is never half.
    func note(_ saved: SavedPart) throws(RecordStoreError) {
        let new = "\(state).new"
        let file = try RecordFile(
            new,
            path: directory.path(of: new),
            flags: O_WRONLY | O_CREAT | O_TRUNC,
            permissions: 0o666,
            faults: faults
        )
        try file.write(saved.note, at: 0)
        try rename(new, to: directory.path(of: state))
    }

    /// Takes away what was noted.
    func removeNote() {
        for name in [state, "\(state).new"] where directory.status(of: name) != nil {
            // What stays is of a partial file that is not there, and found to be so.
            try? FileManager.default.removeItem(atPath: directory.path(of: name))
        }
    }

    /// Takes away the partial file and what was noted.
    func remove() {
        removeNote()
        // What stays is cut to nothing by whoever writes next.
        try? FileManager.default.removeItem(atPath: directory.path(of: part))
    }

    /// Puts the partial file, which is flushed, in the place of the target, and waits until that is on the disk.
    func publish() throws(RecordStoreError) {
        try rename(part, to: target.path(percentEncoded: false))
        removeNote()
        try directory.flush()
    }

    private func rename(_ name: String, to path: String) throws(RecordStoreError) {
        if let fault = faults(.rename(name)) { throw RecordStoreError(code: fault.code, path: path, "replaced") }
        // `unsafe`: the texts live until the call returns, and the call keeps no pointer to them.
        guard unsafe Foundation.rename(directory.path(of: name), path) == 0 else {
            throw RecordStoreError(code: errno, path: path, "replaced")
        }
    }
}
