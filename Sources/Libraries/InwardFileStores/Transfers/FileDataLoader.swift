public import Foundation
public import InwardTransfers

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A loader that reads a file in chunks.
///
/// ```swift
/// import InwardTransfers
///
/// let loader = FileDataLoader(file: URL(filePath: "/var/lib/comments/export.json"))
/// let chunk = try await loader.chunk(at: 0, of: nil)
/// print(chunk.chunk.bytes.count, "bytes of", chunk.totalByteCount ?? 0)
/// ```
///
/// The loader opens the file for each chunk. A file that is written or replaced between two chunks counts as another version:
/// the loader compares its inode, its size, and the times of its last modification and status change. If the file itself is a
/// symbolic link, loading fails.
public struct FileDataLoader: DataLoader {
    private static let maximumReadings = 3

    private let file: URL
    /// The file's path below an open directory, or `nil` to open the file by its absolute path.
    private let place: (components: [String], tree: DirectoryTree)?
    private let chunkByteCount: Int
    private let work = FileWork()

    /// Creates a loader.
    ///
    /// - Parameters:
    ///   - file: The file URL.
    ///   - chunkByteCount: The number of bytes per chunk, at least 1.
    public init(file: URL, chunkByteCount: Int = 256 * 1_024) {
        self.file = file.absoluteURL.standardizedFileURL
        self.chunkByteCount = max(1, chunkByteCount)
        place = nil
    }

    /// Creates a loader for a file below an open directory. Symbolic links on the way are not followed.
    package init(_ components: [String], in tree: DirectoryTree, file: URL) {
        self.file = file
        place = (components, tree)
        chunkByteCount = 256 * 1_024
    }

    /// The path of the file.
    public var source: String? { path }

    /// Returns the chunk that begins at an offset, or an empty chunk if the offset is at or beyond the end of the file.
    ///
    /// - Throws: A `DataLoaderError` if the file does not exist or cannot be read, or if the task was cancelled.
    public func chunk(at offset: Int, of validator: String?) async throws(DataLoaderError) -> LoadedChunk {
        guard !Task.isCancelled else { throw failure("was not read, because the task was cancelled") }
        return try await work.run { () throws(DataLoaderError) in try read(at: offset) }
    }

    private func read(at offset: Int) throws(DataLoaderError) -> LoadedChunk {
        for _ in 0..<Self.maximumReadings {
            let handle = try open()
            let version = try version(of: handle)
            // The offset may belong to another, longer version.
            let offset = min(max(0, offset), version.byteCount)
            let bytes = try read(handle, at: offset, count: min(chunkByteCount, version.byteCount - offset))
            // Bytes read while the file changes do not belong to any version.
            guard try self.version(of: handle) == version else { continue }
            let end = offset + bytes.count
            return LoadedChunk(
                DataChunk(bytes, at: offset, isLast: end == version.byteCount),
                validator: version.validator,
                totalByteCount: version.byteCount
            )
        }
        throw failure("changes faster than it can be read. Try again when the writer is done")
    }

    private func open() throws(DataLoaderError) -> FileHandle {
        let handle: FileHandle?
        do throws(DirectoryTreeError) {
            if let place {
                handle = try place.tree.file(at: place.components)
            } else {
                let directory = try DirectoryTree(path: file.deletingLastPathComponent().path(percentEncoded: false))
                handle = try directory.file(at: [file.lastPathComponent])
            }
        } catch {
            throw failure(error.description, meansAbsence: error.meansAbsence)
        }
        guard let handle else { throw failure("does not exist, or is not a regular file", meansAbsence: true) }
        return handle
    }

    private func version(of handle: FileHandle) throws(DataLoaderError) -> FileVersion {
        do {
            return try FileVersion(of: handle)
        } catch {
            throw failure(error.description)
        }
    }

    private func read(_ handle: FileHandle, at offset: Int, count: Int) throws(DataLoaderError) -> [UInt8] {
        do {
            try handle.seek(toOffset: UInt64(offset))
            return [UInt8](try handle.read(upToCount: count) ?? Data())
        } catch {
            throw failure("could not be read: \(error.localizedDescription)")
        }
    }

    private func failure(_ explanation: String, meansAbsence: Bool = false) -> DataLoaderError {
        DataLoaderError(source: "“\(path)”", explanation: explanation, meansAbsence: meansAbsence)
    }

    private var path: String { file.path(percentEncoded: false) }
}

/// The version of a file: its inode, its size, and the times of its last modification and status change.
///
/// A change goes unnoticed if it keeps the size and happens within the same tick of the file system's clock (a few milliseconds
/// on Linux) as the previous change.
struct FileVersion: Equatable {
    /// The number of bytes in the file.
    let byteCount: Int
    /// The version as text.
    let validator: String

    /// Reads the version of an open file.
    init(of file: FileHandle) throws(DirectoryTreeError) {
        var status = stat()
        // `unsafe`: The call writes one `stat` into the variable whose address it gets.
        guard unsafe fstat(file.fileDescriptor, &status) == 0 else { throw DirectoryTreeError(code: errno) }
        #if canImport(Darwin)
        let (modified, changed) = (status.st_mtimespec, status.st_ctimespec)
        #else
        let (modified, changed) = (status.st_mtim, status.st_ctim)
        #endif
        byteCount = Int(status.st_size)
        let times = [modified, changed].map { "\($0.tv_sec).\($0.tv_nsec)" }.joined(separator: "-")
        validator = "\(status.st_ino)-\(status.st_size)-\(times)"
    }
}
