import Foundation
public import InterfaceAdapters
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

/// A directory that a program writes its files into, next to what others put there.
///
/// A file is replaced only if it begins with the mark of its maker; any other is left as it is, and the writing refused. The directory
/// stays open while files are written, and no symbolic link in it is followed, so that nothing outside is written. The path of the
/// directory itself may lead over symbolic links.
public struct OutputDirectory: Sendable {
    private let directory: URL
    /// Called when all files were checked, before the first is written.
    private let afterCheck: @Sendable () -> Void

    /// Names a directory by its path, which is made when something is written to it.
    public init(path: String) {
        self.init(path: path) {}
    }

    /// Names a directory in which others do something between the check and the writing.
    init(path: String, afterCheck: @escaping @Sendable () -> Void) {
        directory = URL(filePath: path, directoryHint: .isDirectory)
        self.afterCheck = afterCheck
    }

    /// Writes all files, or none if one of them may not be written. Each is replaced at once, never left half.
    ///
    /// - Throws: an ``OutputDirectoryError`` that names the file.
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

    /// Throws if a file exists and does not begin with the mark of its maker.
    private func check(
        _ name: String,
        _ file: RenderedFile,
        in output: DirectoryHandle
    ) throws(OutputDirectoryError) {
        let path = output.path(of: file.name)
        guard file.name.isPathComponent else {
            throw OutputDirectoryError(path: path, cannotBeWritten: "its name is not that of a file in the directory.")
        }
        let isForeign = try translated(path) { () throws(RecordStoreError) in
            guard let status = try output.status(of: name) else { return false }
            // This program writes no links, so a link was made by somebody else.
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
            // A file that an earlier run left, or that was planted, is not written into.
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
                    // Somebody put it there after the check.
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
            // What stays is removed by the next run.
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

/// Why files were not written to an ``OutputDirectory``.
public struct OutputDirectoryError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The path of the file or directory that it is about.
    public let path: String
    /// What is wrong, and what can be done about it, as whole sentences.
    public let description: String

    init(foreignFile path: String) {
        self.path = path
        description =
            "“\(path)” was written by somebody else and is kept. Name another directory, or move the file away."
    }

    init(path: String, cannotBeWritten explanation: String) {
        self.path = path
        description = "“\(path)” cannot be written: \(explanation)"
    }
}
