#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// What is kept under a key.
public struct StoredRecord: Hashable, Sendable {
    /// The contents.
    public let bytes: [UInt8]
    /// When the record expires and is no longer returned. Without room it may be removed sooner. `nil` if it stays until it is removed.
    public let expiry: Date?

    /// Makes a record. Without an expiry it stays until it is removed.
    public init(_ bytes: [UInt8], expiry: Date? = nil) {
        self.bytes = bytes
        self.expiry = expiry
    }

    /// Whether it has expired by a time.
    public func isExpired(at time: Date) -> Bool {
        // NaN is never reached, and must not keep a record for ever.
        if let expiry { !(time < expiry) } else { false }
    }
}
