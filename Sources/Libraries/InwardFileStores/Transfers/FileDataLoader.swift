public import Foundation
public import InwardTransfers

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Loads data from a file in chunks.
///
///     let loader = FileDataLoader(file: URL(filePath: "/var/lib/example/data"))
///     let chunk = try await loader.chunk(at: 0, of: nil)
///
/// The loader opens the file for each chunk. A version is identified by the file's identity, length and modification time, so a
/// file that is written to or replaced between chunks becomes another version. If the file itself is a symbolic link, it is not
/// followed.
public struct FileDataLoader: DataLoader {
    private static let maximumReadings = 3

    private let file: URL
    /// The file's path below an open directory, or `nil` to use its absolute path.
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

    /// Loads the bytes from an offset on.
    ///
    /// - Throws: a `DataLoaderError` if the file does not exist or cannot be read, or if the task was cancelled.
    public func chunk(at offset: Int, of validator: String?) async throws(DataLoaderError) -> LoadedChunk {
        guard !Task.isCancelled else { throw failure("was not read, because that was cancelled") }
        return try await work.run { () throws(DataLoaderError) in try read(at: offset) }
    }

    private func read(at offset: Int) throws(DataLoaderError) -> LoadedChunk {
        for _ in 0..<Self.maximumReadings {
            let handle = try open()
            let version = try version(of: handle)
            // The offset may belong to another, longer version.
            let offset = min(max(0, offset), version.byteCount)
            let bytes = try read(handle, at: offset, count: min(chunkByteCount, version.byteCount - offset))
            // Bytes that were read during a change do not belong to any version.
            guard try self.version(of: handle) == version else { continue }
            let end = offset + bytes.count
            return LoadedChunk(
                DataChunk(bytes, at: offset, isLast: end == version.byteCount),
                validator: version.validator,
                totalByteCount: version.byteCount
            )
        }
        throw failure("is being written all the time")
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
        guard let handle else { throw failure("is not there, or is no file", meansAbsence: true) }
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

/// The version of a file: its identity, length and modification time.
///
/// A change is missed if it keeps the length and happens within the same tick of the file system's clock (some milliseconds on
/// Linux) as the previous read.
struct FileVersion: Equatable {
    /// The number of bytes in the file.
    let byteCount: Int
    /// The version as text.
    let validator: String

    /// Reads the version of an open file.
    init(of file: FileHandle) throws(DirectoryTreeError) {
        var status = stat()
        // `unsafe`: The call writes one `stat` into the variable that it is given.
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
