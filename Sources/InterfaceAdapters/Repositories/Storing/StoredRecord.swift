#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// What is kept under a key.
public struct StoredRecord: Hashable, Sendable {
    /// What it says.
    public let bytes: [UInt8]
    /// From when on it is not given any more. It may go sooner, where there is no room; `nil` if it stays until it is removed.
    public let expiry: Date?

    /// Makes a record that stays until it is removed, unless it is said when it expires.
    public init(_ bytes: [UInt8], expiry: Date? = nil) {
        self.bytes = bytes
        self.expiry = expiry
    }

    /// Whether it has expired by a time.
    public func isExpired(at time: Date) -> Bool {
        // A time that is no number is never reached, and must not keep a record for ever.
        if let expiry { !(time < expiry) } else { false }
    }
}
