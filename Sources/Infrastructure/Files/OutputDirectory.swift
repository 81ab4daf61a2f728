import Foundation
public import InterfaceAdapters

/// A directory that a program writes its files into, next to what others put there.
///
/// A file is replaced only if it begins with the mark of its maker; any other is left as it is, and the writing refused.
public struct OutputDirectory: Sendable {
    private let directory: URL

    /// Names a directory by its path, which is made when something is written to it.
    public init(path: String) {
        directory = URL(filePath: path, directoryHint: .isDirectory)
    }

    /// Writes all files, or none if one of them may not be written. Each is replaced at once, never left half.
    ///
    /// - Throws: an ``OutputDirectoryError`` that names the file.
    public func write(_ files: [RenderedFile]) throws(OutputDirectoryError) {
        for file in files {
            try check(file)
        }
        do {
            try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        } catch {
            throw OutputDirectoryError(path: directory.path(percentEncoded: false), cannotBeWritten: error)
        }
        for file in files {
            let address = directory.appending(path: file.name)
            do {
                try Data(file.contents.utf8).write(to: address, options: .atomic)
            } catch {
                throw OutputDirectoryError(path: address.path(percentEncoded: false), cannotBeWritten: error)
            }
        }
    }

    private func check(_ file: RenderedFile) throws(OutputDirectoryError) {
        let path = directory.appending(path: file.name).path(percentEncoded: false)
        // Not through a symbolic link: those are not written here, so one that is there is somebody else's.
        guard let attributes = try? FileManager.default.attributesOfItem(atPath: path) else { return }
        guard attributes[.type] as? FileAttributeType == .typeRegular,
            let present = FileManager.default.contents(atPath: path),
            present.starts(with: file.mark.utf8)
        else { throw OutputDirectoryError(foreignFile: path) }
    }
}
