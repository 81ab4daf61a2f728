/// Something that a store is about to do to its files.
package enum RecordFileStep: Equatable, Sendable {
    case open(String)
    case write(String, byteCount: Int)
    case flush(String)
    case truncate(String)
    case rename(String)
    case remove(String)
    case flushDirectory
}
