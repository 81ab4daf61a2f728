public import Foundation
import InwardRecordDirectories
import InwardRepositories
public import InwardTransfers

/// Saves data in a file.
///
/// It is written into a file beside the target, `.NAME.inward-part`, whose end a small record tells, `.NAME.inward-state`: which
/// source, which version, how far, and the checksum so far. When all is there it is flushed to the disk, read back, compared, and
/// renamed to take the target's place; then the directory is flushed. So the target is what it was or what it is to be, whenever
/// the process is killed or the power is lost.
///
/// A part that an earlier run left is read before it is gone on from. One that is damaged, and one of another source or version,
/// is written anew. One that another process is writing at the moment is left to it, and the saving refused.
///
/// The directory is made if it does not exist. A target that is a symbolic link is replaced itself, not what it points to.
public struct FileDataSaver: DataSaver {
    private let target: FileTarget
    private let faults: RecordFileFault.Source
    private let checkpointByteCount: Int

    /// Makes a saver.
    ///
    /// - Parameters:
    ///   - file: The address of the target in the file system.
    ///   - checkpointByteCount: How many bytes a killed process loses at the most, of those it had written.
    public init(file: URL, checkpointByteCount: Int = 16 * 1_024 * 1_024) {
        self.init(file: file, checkpointByteCount: checkpointByteCount) { _ in nil }
    }

    /// Makes a saver with failures to inject into its system calls.
    init(file: URL, checkpointByteCount: Int, faults: @escaping RecordFileFault.Source) {
        target = FileTarget(file)
        self.faults = faults
        self.checkpointByteCount = max(1, checkpointByteCount)
    }

    /// Makes a saver of a file in a directory that is opened as the target says.
    package init(_ target: FileTarget) {
        self.target = target
        faults = { _ in nil }
        checkpointByteCount = 16 * 1_024 * 1_024
    }

    /// Puts the data in the place of the file.
    ///
    /// - Throws: a `DataSaverError` if it is not known to be there.
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

    /// Opens the partial file, and reads what is there.
    ///
    /// - Throws: a `DataSaverError` if there is no room for it, or another process is writing.
    public func openDraft() async throws(DataSaverError) -> any DataDraft {
        try await FileDataDraft(target, faults, checkpointByteCount: checkpointByteCount)
    }
}

/// A file that is to be saved, and the directory that it is in.
package struct FileTarget: Sendable {
    /// The address of the file, for messages.
    package let url: URL
    /// An open directory and the path of the file below it; `nil` for a file that is named by its address alone.
    private let place: (root: DirectoryHandle, path: String)?

    /// Names a file below an open directory. No symbolic link is followed on the way there.
    package init(_ path: String, in root: DirectoryHandle) {
        url = URL(filePath: root.path(of: path))
        place = (root, path)
    }

    /// Names a file by its address.
    package init(_ file: URL) {
        url = file.absoluteURL.standardizedFileURL
        place = nil
    }

    /// Opens the directory, and makes it if it does not exist.
    func openDirectory() throws(RecordStoreError) -> DirectoryHandle {
        if let place { return try place.root.directory(of: place.path, making: 0o755) }
        let directory = RecordDirectory(url: url.deletingLastPathComponent()) { _ in nil }
        try directory.make(permissions: 0o777)
        return try DirectoryHandle(path: directory.url.path(percentEncoded: false))
    }
}
