import Dispatch
public import Foundation
import InwardRecordDirectories
import InwardRepositories
public import InwardTransfers

/// A saver that replaces a file atomically, and can resume an interrupted transfer.
///
/// ```swift
/// let saver = FileDataSaver(file: URL(filePath: "/var/lib/comments/export.json"))
/// try await saver.save(Array("{}".utf8))
/// ```
///
/// Readers of the file see either its old or its new content, even if the process is killed or the power fails. The saver
/// writes to a partial file next to the target, `.NAME.inward-part`. When the data is complete, the saver flushes it to the
/// disk, reads it back, compares it, renames it over the target, and flushes the directory.
///
/// A state file, `.NAME.inward-state`, records the source, its version, the number of bytes written, and their checksum. Before
/// the saver resumes a partial file, it verifies the bytes. It starts over if the partial file is damaged, or belongs to
/// another source or version. If another transfer is writing the partial file, saving fails.
///
/// The saver creates the directory if it does not exist. If the target is a symbolic link, the saver replaces the link, not the
/// file that it points to.
public struct FileDataSaver: DataSaver {
    private let target: FileTarget
    private let faults: RecordFileFault.Source
    private let checkpointByteCount: Int

    /// Creates a saver.
    ///
    /// - Parameters:
    ///   - file: The URL of the target.
    ///   - checkpointByteCount: The number of bytes after which the saver updates the state file. If the process is killed, the
    ///     next transfer repeats at most about this many bytes.
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
    /// - Throws: A `DataSaverError` if the data was not saved, or if it is unknown whether it is durable.
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

    /// Opens the partial file, and verifies the bytes that an earlier run left in it.
    ///
    /// - Throws: A `DataSaverError` if the partial file cannot be created, or if another transfer is writing it.
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

/// A draft in a partial file.
struct FileDataDraft: DataDraft {
    private static let readingByteCount = 256 * 1_024

    private(set) var saved: SavedPart?

    private let target: URL
    private let files: PartialFiles
    private let file: RecordFile
    private let checkpointByteCount: Int
    private let work = FileWork()
    private var byteCount = 0
    private var reached: SavedPart?
    private var notedByteCount = 0
    private var isPublished = false

    /// Opens the partial file, and verifies what an earlier run left in it.
    init(
        _ target: FileTarget,
        _ faults: @escaping RecordFileFault.Source,
        checkpointByteCount: Int
    ) async throws(DataSaverError) {
        self.target = target.url
        self.checkpointByteCount = checkpointByteCount
        let opening = work
        let (files, opened) = try await Self.translated(target.url) { () async throws(RecordStoreError) in
            try await opening.run { () throws(RecordStoreError) in
                let files = try PartialFiles(target, faults: faults)
                return (files, try files.open())
            }
        }
        guard let opened else { throw Self.failure(target.url, "failed: another transfer is writing the file") }
        self.files = files
        file = opened
        guard let noted = await opening.run({ files.notedPart() }), noted.canBeResumed, noted.savedByteCount >= 0
        else { return }
        guard try await checksum(of: noted.savedByteCount) == Checksum(value: noted.checksum) else { return }
        saved = noted
        reached = noted
        byteCount = noted.savedByteCount
        notedByteCount = byteCount
    }

    mutating func begin() async throws(DataSaverError) {
        try await run { (file, files) throws(RecordStoreError) in
            files.removeNote()
            try file.truncate(to: 0)
        }
        saved = nil
        reached = nil
        byteCount = 0
        notedByteCount = 0
    }

    mutating func append(_ bytes: [UInt8], reaching part: SavedPart) async throws(DataSaverError) {
        guard !Task.isCancelled else { throw Self.failure(target, "was cancelled") }
        let offset = byteCount
        try await run { (file, _) throws(RecordStoreError) in try file.write(bytes, at: offset) }
        byteCount += bytes.count
        reached = part
        if byteCount - notedByteCount >= checkpointByteCount { try await note() }
    }

    mutating func publish(_ checksum: Checksum) async throws(DataSaverError) {
        let size = byteCount
        try await run { (file, _) throws(RecordStoreError) in
            // The file may end with bytes that an earlier run wrote but did not record.
            try file.truncate(to: size)
            try file.flush()
            file.forgetInMemory()
        }
        guard try await self.checksum(of: size) == checksum else {
            reached = nil
            throw Self.failure(
                target,
                "failed: the data read back differs from what was written. Nothing was replaced. Check the disk"
            )
        }
        isPublished = true
        try await run { (file, files) throws(RecordStoreError) in
            do throws(RecordStoreError) {
                try files.publish(file)
            } catch {
                // The file may be closed only after the caller has the error, and the next transfer would find it locked.
                try? file.lock(false)
                throw error
            }
            try file.lock(false)
        }
    }

    mutating func leave() async {
        guard !isPublished else { return }
        if reached?.canBeResumed == true {
            // If the note cannot be written, the next run writes these bytes again.
            try? await note()
        } else {
            let files = files
            await work.run { files.remove() }
        }
        // If unlocking fails, the file stays locked until it is closed, which happens when the draft is released.
        try? await run { (file, _) throws(RecordStoreError) in try file.lock(false) }
    }

    private mutating func note() async throws(DataSaverError) {
        guard let reached, reached.canBeResumed else { return }
        try await run { (_, files) throws(RecordStoreError) in try files.note(reached) }
        notedByteCount = byteCount
    }

    /// Returns the checksum of the first bytes of the file, or `nil` if the file is shorter.
    private func checksum(of count: Int) async throws(DataSaverError) -> Checksum? {
        var checksum = Checksum()
        var offset = 0
        while offset < count {
            guard !Task.isCancelled else { throw Self.failure(target, "was cancelled") }
            let (place, rest) = (offset, min(Self.readingByteCount, count - offset))
            let bytes = try await run { (file, _) throws(RecordStoreError) in try file.read(at: place, count: rest) }
            guard bytes.count == rest else { return nil }
            checksum.update(with: bytes.span)
            offset += rest
        }
        return checksum
    }

    private func run<Answer: Sendable>(
        _ body: @escaping @Sendable (RecordFile, PartialFiles) throws(RecordStoreError) -> Answer
    ) async throws(DataSaverError) -> Answer {
        let (file, files) = (file, files)
        return try await Self.translated(target) { () async throws(RecordStoreError) in
            try await work.run { () throws(RecordStoreError) in try body(file, files) }
        }
    }

    private static func translated<Answer>(
        _ target: URL,
        _ body: () async throws(RecordStoreError) -> Answer
    ) async throws(DataSaverError) -> Answer {
        do {
            return try await body()
        } catch {
            // The explanation consists of complete sentences, but `failure` appends the last period itself.
            let sentences = error.explanation
            throw failure(target, "failed: \(sentences.hasSuffix(".") ? String(sentences.dropLast()) : sentences)")
        }
    }

    private static func failure(_ target: URL, _ explanation: String) -> DataSaverError {
        DataSaverError(
            destination: "Saving to “\(target.path(percentEncoded: false))”",
            explanation: explanation
        )
    }
}

/// A serial queue for blocking file I/O. It keeps the work off the cooperative thread pool.
package final class FileWork: Sendable {
    private let queue = DispatchQueue(label: "inward.file-transfers")

    /// Creates a queue.
    package init() {}

    /// Runs a closure on the queue and waits for its result.
    ///
    /// - Returns: The closure's result.
    /// - Throws: The closure's error.
    package func run<Answer: Sendable, Failure: Error>(
        _ body: @escaping @Sendable () throws(Failure) -> Answer
    ) async throws(Failure) -> Answer {
        // Resumed exactly once, because the queue runs the closure once.
        let outcome: Result<Answer, Failure> = await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: Result { () throws(Failure) in try body() }) }
        }
        return try outcome.get()
    }
}
