public import InwardFetching

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A key-value store of records, which consist of bytes and an optional expiry.
///
/// ```swift
/// func visit(_ store: any RecordStore) async throws {
///     let key: RecordKey = ["visits", "ada"]
///     let visits = try await store.record(for: key)?.bytes.count ?? 0  // one byte for each visit
///     try await store.commit([.keep(StoredRecord(Array(repeating: 1, count: visits + 1)), key)])
/// }
/// ```
///
/// ``InMemoryRecordStore`` keeps records in memory. `FileRecordStore` of `InwardFileStores` keeps them on disk.
///
/// Each implementation documents what *durable* means for it. Reads return a record only if it is byte for byte what was stored
/// under the key. The store sets damaged bytes aside and reports them. Readers in any process, and readers after a crash, see
/// all changes of a commit or none. Calls may run concurrently.
///
/// A record with an expiry is a cached copy: the store may drop it at any time, and does not return it once it has expired. A
/// record without an expiry stays until it is removed. If damage destroys one, reads no longer return it, and
/// ``losses(under:)`` names its key.
///
/// `RecordStoreConformance` in `InwardTesting` verifies these requirements.
public protocol RecordStore: Sendable {
    /// Returns the record under a key, or `nil` if there is none.
    ///
    /// - Throws: a ``RecordStoreError`` if the store cannot tell.
    func record(for key: RecordKey) async throws(RecordStoreError) -> StoredRecord?

    /// Returns the records whose keys equal a key or begin with it, in key order.
    ///
    /// - Throws: a ``RecordStoreError`` if the store cannot tell.
    func records(under key: RecordKey) async throws(RecordStoreError) -> [(key: RecordKey, record: StoredRecord)]

    /// Returns the records under several keys. By default, reads them one after the other.
    ///
    /// - Parameter keys: The keys. They may be in any order, and occur several times.
    /// - Returns: the records in the order of the keys, with `nil` for each key without a record.
    /// - Throws: a ``RecordStoreError`` if the store cannot tell.
    func records(for keys: [RecordKey]) async throws(RecordStoreError) -> [StoredRecord?]

    /// Returns a page of the records whose keys equal a key or begin with it, in key order. By default, reads all of them.
    ///
    /// ```swift
    /// func export(_ store: any RecordStore) async throws {
    ///     var last: RecordKey?
    ///     repeat {
    ///         let page = try await store.records(under: ["posts"], after: last, limit: 100)
    ///         for (key, record) in page { print(key, record.bytes.count) }
    ///         last = page.last?.key
    ///     } while last != nil
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - key: The key of all records.
    ///   - last: The key after which the page begins: that of the last record of the page before, or `nil` for the first page.
    ///   - limit: The maximum number of records.
    /// - Returns: the records. If there are none, the page before was the last one.
    /// - Throws: a ``RecordStoreError`` if the store cannot tell.
    func records(
        under key: RecordKey,
        after last: RecordKey?,
        limit: Int
    ) async throws(RecordStoreError) -> [(key: RecordKey, record: StoredRecord)]

    /// Returns the lost records whose keys equal a key or begin with it. It also reads the records under the key, to find
    /// damage that no read has found so far.
    ///
    /// Only records without an expiry count as lost. The list of losses is as durable as the records.
    ///
    /// - Throws: a ``RecordStoreError`` if the store cannot tell.
    func losses(under key: RecordKey) async throws(RecordStoreError) -> RecordLosses

    /// Makes changes in order, all of them or none. The changes are durable when this method returns.
    ///
    /// - Throws: a ``RecordStoreError``. Then nothing was changed, unless the reason is `outcomeUnknown`. The reason is `cancelled`
    ///   if the task was cancelled, or its deadline passed, before the store began to write. A commit that has begun is always completed.
    func commit(_ changes: [RecordChange]) async throws(RecordStoreError)

    /// Tries to claim a key, without waiting. A claim excludes other claims of the same key, in any process. It does not
    /// restrict who reads or changes records.
    ///
    /// Claims are independent of records: a key can be claimed whether or not a record is stored under it.
    ///
    /// - Returns: the claim, or the owner of the key.
    /// - Throws: a ``RecordStoreError`` if the store cannot tell who owns the key.
    func claim(_ key: RecordKey) async throws(RecordStoreError) -> RecordClaimResult
}

extension RecordStore {
    /// Reads the records one after the other.
    public func records(for keys: [RecordKey]) async throws(RecordStoreError) -> [StoredRecord?] {
        var records: [StoredRecord?] = []
        for key in keys { records.append(try await record(for: key)) }
        return records
    }

    /// Reads all records under the key, and returns those of the page.
    public func records(
        under key: RecordKey,
        after last: RecordKey?,
        limit: Int
    ) async throws(RecordStoreError) -> [(key: RecordKey, record: StoredRecord)] {
        let rest = try await records(under: key).drop { entry in last.map { entry.key <= $0 } ?? false }
        return Array(rest.prefix(max(0, limit)))
    }
}

/// A failure of a store.
///
/// ```swift
/// func save(_ comment: StoredRecord, in store: any RecordStore) async {
///     do {
///         try await store.commit([.keep(comment, ["comments", "7"])])
///     } catch {
///         switch error.reason {
///         case .busy, .cancelled, .unavailable: print("Not saved, try again: \(error)")
///         case .conflict, .outcomeUnknown: print("Perhaps not saved, read it again: \(error)")
///         case .full, .denied, .closed: print("Not saved: \(error)")
///         }
///     }
/// }
/// ```
public struct RecordStoreError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of failure.
    public enum Reason: Hashable, Sendable, CaseIterable {
        /// The store or its disk is full.
        case full
        /// The operation is not permitted.
        case denied
        /// Another owner holds the key or the records.
        case busy
        /// A condition of the commit is not met, because another instance was faster.
        case conflict
        /// The store, or the outbox that uses it, is closed.
        case closed
        /// The task was cancelled, or its deadline passed, before the operation began.
        case cancelled
        /// The store was lost during the commit. The changes may have been made: read the records before you try again.
        case outcomeUnknown
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
    /// The problem details for an HTTP response about this error.
    public var problemDetails: ProblemDetails {
        switch reason {
        case .full: .full
        // What the store permits the server to do does not concern the client.
        case .denied: .internalError
        case .conflict: .conflict
        case .busy, .closed, .cancelled, .outcomeUnknown, .unavailable: .unavailable
        }
    }
}

/// The key of a record: components from the general to the particular.
///
/// ```swift
/// let key: RecordKey = ["posts", "7"]
/// let posts: RecordKey = ["posts"]
/// print(posts.contains(key), posts.appending("7") == key)  // true true
/// ```
///
/// Two keys are equal if the UTF-8 bytes of their components are equal. So a precomposed `é` and a decomposed one make
/// different keys, although they are equal as strings, because stores find records by bytes.
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

    /// Returns whether two components have equal bytes. Comparing the strings first is faster for most components.
    private static func areSame(_ one: String, _ other: String) -> Bool {
        one == other && (areASCII(one, other) || one.utf8.elementsEqual(other.utf8))
    }

    /// Returns whether two components are ASCII. ASCII strings compare like their bytes. This is fast, because a string stores
    /// both of its lengths.
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

/// The contents of a record, and when they expire.
///
/// ```swift
/// let draft = StoredRecord(Array("Well said.".utf8))  // stays until it is removed
/// let copy = StoredRecord(draft.bytes, expiry: Date().addingTimeInterval(3_600))  // may be dropped at any time
/// ```
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

/// A change of the contents of a store.
///
/// ```swift
/// let record = StoredRecord(Array("Well said.".utf8))
/// let changes: [RecordChange] = [
///     .keep(record, ["posts", "7"]), .remove(["posts", "new"]), .removeAll(["drafts"]), .announce(["posts"]),
/// ]
/// ```
public enum RecordChange: Hashable, Sendable {
    /// Stores a record under a key, and replaces an existing one.
    case keep(StoredRecord, RecordKey)
    /// Removes the record under a key, if there is one.
    case remove(RecordKey)
    /// Removes the records whose keys equal a key or begin with it.
    case removeAll(RecordKey)
    /// Tells all instances of a service that something under a key has changed, once the commit is made. It changes nothing itself.
    ///
    /// The ``SharedRecordStore/announcements(under:)`` of a shared store report it. Other stores ignore it.
    case announce(RecordKey)
}
