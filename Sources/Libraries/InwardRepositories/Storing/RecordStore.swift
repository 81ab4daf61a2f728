public import InwardFetching

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A store of records that outlive the process.
///
///     let key: RecordKey = ["posts", "7"]
///     try await store.commit([.keep(StoredRecord(bytes), key)])
///     let record = try await store.record(for: key)
///
/// Each implementation documents what *durable* means for it. Reads return a record only if it is byte for byte what was stored
/// under the key; the store sets damaged bytes aside and reports them. Readers in any process, and readers after a crash, see all
/// changes of a commit or none. Calls may run concurrently.
///
/// A record with an expiry can be fetched again: the store may drop it at any time, and does not return it once it has expired. A
/// record without an expiry stays until it is removed. If damage destroys one, reads no longer return it, and ``losses(under:)``
/// names its key.
///
/// `RecordStoreConformance` in `InwardTesting` verifies these requirements.
public protocol RecordStore: Sendable {
    /// Returns the record under a key; `nil` if there is none.
    ///
    /// - Throws: a ``RecordStoreError`` if the store cannot tell.
    func record(for key: RecordKey) async throws(RecordStoreError) -> StoredRecord?

    /// Returns the records whose keys equal a key or begin with it, in key order.
    ///
    /// - Throws: a ``RecordStoreError`` if the store cannot tell.
    func records(under key: RecordKey) async throws(RecordStoreError) -> [(key: RecordKey, record: StoredRecord)]

    /// Returns the losses among the keys that equal a key or begin with it. Reads the records under the key, to find damage that no
    /// read has met so far.
    ///
    /// Only records without an expiry count as losses. The list is as durable as the records.
    ///
    /// - Throws: a ``RecordStoreError`` if the store cannot tell.
    func losses(under key: RecordKey) async throws(RecordStoreError) -> RecordLosses

    /// Makes changes in order, all of them or none. They are durable when this method returns.
    ///
    /// - Throws: a ``RecordStoreError`` if nothing was changed: `cancelled` if the task was cancelled, or its deadline passed,
    ///   before the store began to write. After that the changes are made.
    func commit(_ changes: [RecordChange]) async throws(RecordStoreError)

    /// Tries to claim a key, without waiting. A claim excludes other claims of exactly this key. It does not restrict who reads or
    /// changes records.
    ///
    /// Claims are independent of records: a key can be claimed whether or not anything is stored under it.
    ///
    /// - Returns: the claim, or the owner of the key.
    /// - Throws: a ``RecordStoreError`` if the store cannot tell who owns the key.
    func claim(_ key: RecordKey) async throws(RecordStoreError) -> RecordClaimResult
}

extension RecordStore {
    /// Returns the records under several keys, in the order of the keys, with `nil` for each key without a record.
    ///
    /// - Throws: a ``RecordStoreError`` if the store cannot tell.
    public func records(for keys: [RecordKey]) async throws(RecordStoreError) -> [StoredRecord?] {
        var records: [StoredRecord?] = []
        for key in keys { records.append(try await record(for: key)) }
        return records
    }
}

/// A failure of a store.
public struct RecordStoreError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of failure.
    public enum Reason: Hashable, Sendable, CaseIterable {
        /// The store or its disk is full.
        case full
        /// The operation is not permitted.
        case denied
        /// Another owner holds the key or the records.
        case busy
        /// The store, or the outbox that uses it, is closed.
        case closed
        /// The task was cancelled, or its deadline passed, before the operation began.
        case cancelled
        /// Any other failure.
        case unavailable
    }

    /// The kind of failure.
    public let reason: Reason
    /// What happened and what to do, as a sentence.
    public let explanation: String

    /// Creates an error with a reason and an explanation.
    public init(_ reason: Reason, explanation: String) {
        self.reason = reason
        self.explanation = explanation
    }

    /// The explanation.
    public var description: String { explanation }
}

extension RecordStoreError: ProblemDetailsConvertible {
    /// The response of a server that shows the error.
    public var problemDetails: ProblemDetails {
        switch reason {
        case .full: .full
        // The store denies something to the server, which is not the client's concern.
        case .denied: .internalError
        case .busy, .closed, .cancelled, .unavailable: .unavailable
        }
    }
}

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
        other.components.count >= components.count && zip(components, other.components).allSatisfy(Self.areSame)
    }

    /// Returns whether two keys are equal, byte for byte.
    public static func == (first: RecordKey, second: RecordKey) -> Bool {
        first.components.count == second.components.count
            && zip(first.components, second.components).allSatisfy(areSame)
    }

    /// Returns whether a key precedes another.
    public static func < (first: RecordKey, second: RecordKey) -> Bool {
        for (one, other) in zip(first.components, second.components) where !areSame(one, other) {
            return areASCII(one, other) ? one < other : one.utf8.lexicographicallyPrecedes(other.utf8)
        }
        return first.components.count < second.components.count
    }

    /// Returns whether two components have equal bytes. Strings with equal bytes are equal, and most strings are compared faster than
    /// their bytes.
    private static func areSame(_ one: String, _ other: String) -> Bool {
        one == other && (areASCII(one, other) || one.utf8.elementsEqual(other.utf8))
    }

    /// Returns whether two components are ASCII, which strings compare byte by byte. A string knows both of its lengths.
    private static func areASCII(_ one: String, _ other: String) -> Bool {
        one.utf8.count == one.utf16.count && other.utf8.count == other.utf16.count
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
