#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// An answer as a store keeps it: when it was given, and what it says.
struct StoredAnswer {
    private static let version: UInt8 = 1
    private static let headLength = 9

    /// When it was asked for.
    let time: Date
    /// What it says.
    let body: Data

    init(time: Date, body: Data) {
        self.time = time
        self.body = body
    }

    /// Reads an answer; `nil` if it is none, or was written by another version of the program.
    init?(_ bytes: [UInt8]) {
        guard bytes.count >= Self.headLength, bytes[0] == Self.version else { return nil }
        let bits = bytes[1..<Self.headLength].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        time = Date(timeIntervalSinceReferenceDate: Double(bitPattern: bits))
        body = Data(bytes[Self.headLength...])
        guard time.timeIntervalSinceReferenceDate.isFinite else { return nil }
    }

    /// What a store is to keep.
    var bytes: [UInt8] {
        let bits = time.timeIntervalSinceReferenceDate.bitPattern
        return [Self.version] + (0..<8).map { UInt8(truncatingIfNeeded: bits >> (56 - 8 * $0)) } + body
    }
}
