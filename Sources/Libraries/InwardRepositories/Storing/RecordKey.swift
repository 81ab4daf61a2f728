#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// What a record is kept under: its components, from the general to the particular, such as `posts` and `7`.
///
/// Two keys are the same if their components are, each byte for byte of its UTF-8. So `é` in one character and `é` in two are
/// different keys, though they are equal as texts: what a store keeps is found by bytes.
///
/// Keys are in order by their components, one after the other, each by its UTF-8 bytes; a key comes before those that it is the
/// beginning of.
public struct RecordKey: Hashable, Sendable, Comparable, CustomStringConvertible, ExpressibleByArrayLiteral {
    /// The components. They may be empty, and hold any character.
    public let components: [String]

    /// Makes a key of its components, of none for the one that every key is under.
    public init(_ components: [String]) {
        self.components = components
    }

    /// Makes a key of its components.
    public init(arrayLiteral components: String...) {
        self.init(components)
    }

    /// The key with a component more.
    public func appending(_ component: String) -> RecordKey { RecordKey(components + [component]) }

    /// Whether another key begins with this one, or is it.
    public func contains(_ other: RecordKey) -> Bool {
        other.components.starts(with: components) { $0.utf8.elementsEqual($1.utf8) }
    }

    /// Whether two keys are the same, byte for byte.
    public static func == (first: RecordKey, second: RecordKey) -> Bool {
        first.components.elementsEqual(second.components) { $0.utf8.elementsEqual($1.utf8) }
    }

    /// Whether a key comes before another.
    public static func < (first: RecordKey, second: RecordKey) -> Bool {
        for (one, other) in zip(first.components, second.components) where !one.utf8.elementsEqual(other.utf8) {
            return one.utf8.lexicographicallyPrecedes(other.utf8)
        }
        return first.components.count < second.components.count
    }

    /// Adds the components to what a hash is made of.
    public func hash(into hasher: inout Hasher) {
        // Texts of the same bytes are equal texts, and those have one hash.
        hasher.combine(components)
    }

    /// The components, such as `posts/7`. What two keys are called may be the same.
    public var description: String { components.joined(separator: "/") }
}

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

/// A change of what a store keeps.
public enum RecordChange: Hashable, Sendable {
    /// A record is kept under a key, in the place of another if there is one.
    case keep(StoredRecord, RecordKey)
    /// What is kept under a key is removed, if there is anything.
    case remove(RecordKey)
    /// Everything whose key begins with a key is removed, and what is kept under that key itself.
    case removeAll(RecordKey)
}
