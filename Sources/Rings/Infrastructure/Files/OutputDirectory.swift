import Foundation
import InwardFileStores
import InwardRecordDirectories
import InwardRepositories

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A directory into which a program writes its files, next to files of other programs.
///
/// ```swift
/// try OutputDirectory(path: "site").write([.page("index.html", of: document, by: "example")])
/// ```
///
/// An existing file is replaced only if it begins with the program's mark. Otherwise it is kept, and the write fails.
/// The directory stays open while files are written, and symbolic links in it are not followed, so nothing outside it is
/// written. The path of the directory itself may contain symbolic links.
public struct OutputDirectory: Sendable {
    private let directory: URL
    /// Called after all files have been checked, and before the first is written.
    private let afterCheck: @Sendable () -> Void

    /// Creates an output directory from its path. The directory is created when something is written to it.
    public init(path: String) {
        self.init(path: path) {}
    }

    /// Creates an output directory for tests that change it between the check and the write.
    init(path: String, afterCheck: @escaping @Sendable () -> Void) {
        directory = URL(filePath: path, directoryHint: .isDirectory)
        self.afterCheck = afterCheck
    }

    /// Writes all files, each atomically, or none if the check finds one that must not be replaced.
    ///
    /// - Throws: An ``OutputDirectoryError`` that names the file.
    public func write(_ files: [RenderedFile]) throws(OutputDirectoryError) {
        let path = directory.path(percentEncoded: false)
        if FileManager.default.fileExists(atPath: path) {
            let output = try opened(path)
            for file in files { try check(file.name, file, in: output) }
        }
        do {
            try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        } catch {
            throw OutputDirectoryError(path: path, cannotBeWritten: error.localizedDescription)
        }
        let output = try opened(path)
        afterCheck()
        for file in files { try write(file, in: output) }
    }

    private func opened(_ path: String) throws(OutputDirectoryError) -> DirectoryHandle {
        try translated(path) { () throws(RecordStoreError) in try DirectoryHandle(path: path) }
    }

    /// Throws if a file exists and does not begin with its program's mark.
    private func check(
        _ name: String,
        _ file: RenderedFile,
        in output: DirectoryHandle
    ) throws(OutputDirectoryError) {
        let path = output.path(of: file.name)
        guard file.name.isPathComponent else {
            throw OutputDirectoryError(path: path, cannotBeWritten: "its name is not a plain file name.")
        }
        let isForeign = try translated(path) { () throws(RecordStoreError) in
            guard let status = try output.status(of: name) else { return false }
            // This program never creates links, so another program created this one.
            guard status.kind == .file else { return true }
            let mark = Array(file.mark.utf8)
            return try output.file(name, O_RDONLY).read(at: 0, count: mark.count) != mark
        }
        if isForeign { throw OutputDirectoryError(foreignFile: path) }
    }

    private func write(_ file: RenderedFile, in output: DirectoryHandle) throws(OutputDirectoryError) {
        let path = output.path(of: file.name)
        let new = ".\(file.name).inward-new"
        let isExchanged = try translated(path) { () throws(RecordStoreError) in
            // Never write into a leftover: an attacker may have planted it. Remove it, and create the file anew.
            try output.removeFile(new)
            let contents = try output.file(new, O_WRONLY | O_CREAT | O_EXCL, permissions: 0o666)
            try contents.write(Array(file.contents.utf8), at: 0)
            return try output.status(of: file.name) != nil
        }
        do throws(OutputDirectoryError) {
            let isDone = try translated(path) { () throws(RecordStoreError) in
                try output.rename(new, to: output, file.name, isExchanged ? .exchanging : .creating)
            }
            if isDone, isExchanged {
                do throws(OutputDirectoryError) {
                    try check(new, file, in: output)
                } catch {
                    // The file was replaced after the check: put it back.
                    _ = try translated(path) { () throws(RecordStoreError) in
                        try output.rename(new, to: output, file.name, .exchanging)
                    }
                    throw error
                }
            }
            if !isDone {
                try check(file.name, file, in: output)
                _ = try translated(path) { () throws(RecordStoreError) in
                    try output.rename(new, to: output, file.name, .replacing)
                }
            }
            try translated(path) { () throws(RecordStoreError) in try output.removeFile(new) }
        } catch {
            // The next run removes the file if this fails.
            try? output.removeFile(new)
            throw error
        }
    }

    private func translated<Answer>(
        _ path: String,
        _ work: () throws(RecordStoreError) -> Answer
    ) throws(OutputDirectoryError) -> Answer {
        do {
            return try work()
        } catch {
            throw OutputDirectoryError(path: path, cannotBeWritten: error.explanation)
        }
    }
}

/// An error that explains why files were not written to an ``OutputDirectory``. See <doc:GettingStarted> for an example.
public struct OutputDirectoryError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The path of the affected file or directory.
    public let path: String
    /// The problem and possible remedies, as complete sentences.
    public let description: String

    init(foreignFile path: String) {
        self.path = path
        description =
            "“\(path)” was not written by this program and is kept. Choose another directory, or move the file away."
    }

    init(path: String, cannotBeWritten explanation: String) {
        self.path = path
        description = "“\(path)” cannot be written: \(explanation)"
    }
}
