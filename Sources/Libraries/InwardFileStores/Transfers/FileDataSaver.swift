public import Foundation
import InwardRecordDirectories
import InwardRepositories
public import InwardTransfers

/// Saves data to a file atomically, and can resume an interrupted save.
///
///     let saver = FileDataSaver(file: URL(filePath: "/var/lib/example/data"))
///     try await saver.save(bytes)
///
/// The saver writes to a partial file next to the target, `.NAME.inward-part`. A small state file, `.NAME.inward-state`, notes the
/// source, its version, the number of bytes written, and their checksum. When the data is complete, the saver flushes it to the
/// disk, reads it back, compares it, renames it over the target, and flushes the directory. The target therefore always has either
/// its old or its new content, even if the process is killed or the power fails.
///
/// Before the saver resumes a partial file, it verifies the bytes. A partial file that is damaged, or that belongs to another
/// source or version, is started over. If another process is writing the partial file, saving fails.
///
/// The saver creates the directory if it does not exist. If the target is a symbolic link, the link itself is replaced.
public struct FileDataSaver: DataSaver {
    private let target: FileTarget
    private let faults: RecordFileFault.Source
    private let checkpointByteCount: Int

    /// Creates a saver.
    ///
    /// - Parameters:
    ///   - file: The URL of the target.
    ///   - checkpointByteCount: The maximum number of written bytes that are lost if the process is killed.
    public init(file: URL, checkpointByteCount: Int = 16 * 1_024 * 1_024) {
        self.init(file: file, checkpointByteCount: checkpointByteCount) { _ in nil }
    }

    /// Creates a saver with injected system-call failures.
    init(file: URL, checkpointByteCount: Int, faults: @escaping RecordFileFault.Source) {
        target = FileTarget(file)
        self.faults = faults
        self.checkpointByteCount = max(1, checkpointByteCount)
    }

    /// Creates a saver for a target in an open directory or at a URL.
    package init(_ target: FileTarget) {
        self.target = target
        faults = { _ in nil }
        checkpointByteCount = 16 * 1_024 * 1_024
    }

    /// Replaces the file's content with the data.
    ///
    /// - Throws: a `DataSaverError` if the data may not have been saved.
    public func save(_ data: [UInt8]) async throws(DataSaverError) {
        guard !Task.isCancelled else {
            let path = target.url.path(percentEncoded: false)
            throw DataSaverError(destination: "Saving to “\(path)”", explanation: "was cancelled")
        }
        var draft = try await openDraft()
        do {
            try await draft.begin()
            let part = SavedPart(source: nil, validator: nil, steps: nil, savedByteCount: data.count)
            try await draft.append(data, reaching: part)
            try await draft.publish(Checksum(of: data.span))
        } catch {
            await draft.leave()
            throw error
        }
    }

    /// Opens the partial file, and verifies what an earlier run left there.
    ///
    /// - Throws: a `DataSaverError` if there is no space for the draft, or if another process is writing.
    public func openDraft() async throws(DataSaverError) -> any DataDraft {
        try await FileDataDraft(target, faults, checkpointByteCount: checkpointByteCount)
    }
}

/// A file to save, and the directory that contains it.
package struct FileTarget: Sendable {
    /// The URL of the file, for messages.
    package let url: URL
    /// An open directory and the file's path below it, or `nil` for a file that is identified only by its URL.
    private let place: (root: DirectoryHandle, path: String)?

    /// Creates a target below an open directory. Symbolic links on the way are not followed.
    package init(_ path: String, in root: DirectoryHandle) {
        url = URL(filePath: root.path(of: path))
        place = (root, path)
    }

    /// Creates a target from a URL.
    package init(_ file: URL) {
        url = file.absoluteURL.standardizedFileURL
        place = nil
    }

    /// Opens the directory, and creates it if it does not exist.
    func openDirectory() throws(RecordStoreError) -> DirectoryHandle {
        if let place { return try place.root.directory(of: place.path, making: 0o755) }
        let directory = RecordDirectory(url: url.deletingLastPathComponent()) { _ in nil }
        try directory.make(permissions: 0o777)
        return try DirectoryHandle(path: directory.url.path(percentEncoded: false))
    }
}
