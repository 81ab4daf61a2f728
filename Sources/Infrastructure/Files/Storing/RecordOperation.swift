/// One change as the log has it, by encoded keys.
enum RecordOperation: Equatable, Sendable {
    case keep([UInt8], RecordEntry)
    case remove([UInt8])
    case removeAll([UInt8])
}
