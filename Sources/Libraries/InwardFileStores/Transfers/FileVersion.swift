import Foundation

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

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
