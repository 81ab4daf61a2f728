#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The key of a record: its components, from the general to the particular, such as `posts` and `7`.
///
///     let key: RecordKey = ["posts", "7"]
///
/// Two keys are equal if the UTF-8 bytes of their components are equal. So a precomposed `é` and a decomposed one make different
/// keys, although they are equal as strings, because stores find records by bytes.
///
/// Keys are ordered component by component, each by its UTF-8 bytes. A key precedes the keys that begin with it.
public struct RecordKey: Hashable, Sendable, Comparable, CustomStringConvertible, ExpressibleByArrayLiteral {
    /// The components. A component may be empty and may contain any character.
    public let components: [String]

    /// Creates a key from components. The empty key contains every key.
    public init(_ components: [String]) {
        self.components = components
    }

    /// Creates a key from an array literal.
    public init(arrayLiteral components: String...) {
        self.init(components)
    }

    /// Returns the key with a component appended.
    public func appending(_ component: String) -> RecordKey { RecordKey(components + [component]) }

    /// Returns whether another key equals this one or begins with it.
    public func contains(_ other: RecordKey) -> Bool {
        other.components.starts(with: components) { $0.utf8.elementsEqual($1.utf8) }
    }

    /// Returns whether two keys are equal, byte for byte.
    public static func == (first: RecordKey, second: RecordKey) -> Bool {
        first.components.elementsEqual(second.components) { $0.utf8.elementsEqual($1.utf8) }
    }

    /// Returns whether a key precedes another.
    public static func < (first: RecordKey, second: RecordKey) -> Bool {
        for (one, other) in zip(first.components, second.components) where !one.utf8.elementsEqual(other.utf8) {
            return one.utf8.lexicographicallyPrecedes(other.utf8)
        }
        return first.components.count < second.components.count
    }

    /// Hashes the components.
    public func hash(into hasher: inout Hasher) {
        // Components with equal bytes are equal strings, which have equal hashes.
        hasher.combine(components)
    }

    /// The components, such as `posts/7`. Different keys can have the same description.
    public var description: String { components.joined(separator: "/") }
}

/// The contents of a record.
public struct StoredRecord: Hashable, Sendable {
    /// The contents.
    public let bytes: [UInt8]
    /// When the record expires and is no longer returned. A store that is short of space may remove it sooner. `nil` keeps the
    /// record until it is removed.
    public let expiry: Date?

    /// Creates a record. Without an expiry it stays until it is removed.
    public init(_ bytes: [UInt8], expiry: Date? = nil) {
        self.bytes = bytes
        self.expiry = expiry
    }

    /// Returns whether the record has expired at a time.
    public func isExpired(at time: Date) -> Bool {
        // A date of NaN is never reached, and must not keep a record forever.
        if let expiry { !(time < expiry) } else { false }
    }
}

/// A change to the contents of a store.
public enum RecordChange: Hashable, Sendable {
    /// Stores a record under a key, and replaces an existing one.
    case keep(StoredRecord, RecordKey)
    /// Removes the record under a key, if there is one.
    case remove(RecordKey)
    /// Removes the records whose keys equal a key or begin with it.
    case removeAll(RecordKey)
}
