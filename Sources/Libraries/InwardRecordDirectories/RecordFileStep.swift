/// A system call that a store is about to make.
package enum RecordFileStep: Equatable, Sendable {
    case open(String)
    case status(String)
    case setMode(String)
    case read(String, at: Int, count: Int)
    case write(String, byteCount: Int)
    case flush(String)
    case truncate(String)
    case lock(String)
    case rename(String)
    case remove(String)
    case list
    case makeDirectory(String)
    case flushDirectory
}
