public import Foundation
public import InwardTransfers

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Loads the data of a file, piece by piece.
///
/// The file is opened for each piece. What tells its version is which file it is, its length, and when it was changed last as
/// far as the file system notes it; a file that is written or replaced meanwhile is another version. A symbolic link is not
/// followed if it stands in the place of the file itself.
public struct FileDataLoader: DataLoader {
    private static let maximumReadings = 3

    private let file: URL
    /// Where it is, from an open directory on; `nil` for its path.
    private let place: (components: [String], tree: DirectoryTree)?
    private let pieceByteCount: Int
    private let work = FileWork()

    /// Makes a loader.
    ///
    /// - Parameters:
    ///   - file: The address of the file in the file system.
    ///   - pieceByteCount: How many bytes are loaded at once, at least 1.
    public init(file: URL, pieceByteCount: Int = 256 * 1_024) {
        self.file = file.absoluteURL.standardizedFileURL
        self.pieceByteCount = max(1, pieceByteCount)
        place = nil
    }

    /// Makes a loader of a file below an open directory. No symbolic link is followed on the way there.
    package init(_ components: [String], in tree: DirectoryTree, file: URL) {
        self.file = file
        place = (components, tree)
        pieceByteCount = 256 * 1_024
    }

    /// The path of the file.
    public var source: String? { path }

    /// The bytes from an offset on.
    ///
    /// - Throws: a `DataLoaderError` if there is no such file, or it cannot be read, or the task was cancelled.
    public func piece(at offset: Int, of validator: String?) async throws(DataLoaderError) -> LoadedPiece {
        guard !Task.isCancelled else { throw failure("was not read, because that was cancelled") }
        return try await work.run { () throws(DataLoaderError) in try read(at: offset) }
    }

    private func read(at offset: Int) throws(DataLoaderError) -> LoadedPiece {
        for _ in 0..<Self.maximumReadings {
            let handle = try open()
            let version = try version(of: handle)
            // Of another version, perhaps, which has not so many.
            let offset = min(max(0, offset), version.byteCount)
            let bytes = try read(handle, at: offset, count: min(pieceByteCount, version.byteCount - offset))
            // What was written while it was being read is of no version.
            guard try self.version(of: handle) == version else { continue }
            let end = offset + bytes.count
            return LoadedPiece(
                DataPiece(bytes, at: offset, isLast: end == version.byteCount),
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

/// What tells a file from what it was before: which file it is, how long, and when it was changed last.
///
/// It sees what the file system notes. A change that keeps the length within the same tick of its clock (some milliseconds on Linux)
/// as the reading before it is not seen.
struct FileVersion: Equatable {
    /// How many bytes the file has.
    let byteCount: Int
    /// All of it as text.
    let validator: String

    /// Looks at an open file.
    init(of file: FileHandle) throws(DirectoryTreeError) {
        var status = stat()
        // `unsafe`: the call writes one `stat`, which is where it is told to write.
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
