/// One change as the log has it, by encoded keys.
enum RecordOperation: Equatable, Sendable {
    case keep([UInt8], RecordEntry)
    case remove([UInt8])
    case removeAll([UInt8])
    /// A record without an expiry is damaged.
    case lose([UInt8])
    /// How many times damage hit unknown keys so far.
    case setUnknownLossCount(Int)
    /// How many commits before this one, and up to it, changed records without an expiry.
    case setDurableCount(before: Int, after: Int)
    /// A part of the log before this cannot be read. It is not in the log, but found there.
    case findGap
}
