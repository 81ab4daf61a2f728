import Foundation
import InwardTransfers

/// Where a record is in the log, and what is to be known of it without reading it.
struct RecordEntry: Equatable, Sendable {
    /// Where its bytes begin.
    var offset: Int
    /// How many bytes it has.
    let length: Int
    /// The checksum of its bytes.
    let checksum: UInt64
    /// From when on it is not given any more.
    let expiry: Date?

    /// Whether it has expired by a time.
    func isExpired(at time: Date) -> Bool {
        if let expiry { !(time < expiry) } else { false }
    }

    /// Whether these are the bytes that were kept.
    func isFulfilled(by bytes: [UInt8]) -> Bool {
        bytes.count == length && Checksum(of: bytes.span).value == checksum
    }
}
