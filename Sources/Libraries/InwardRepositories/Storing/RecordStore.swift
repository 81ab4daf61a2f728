/// The port to a place where records outlive the process.
///
/// Each implementation documents what *durable* means for it. A store never gives a record that is not, byte for byte, one that was
/// kept under that key. It sets damaged bytes aside and reports them. Readers in this process or another, and readers after a
/// crash, see all changes of a commit or none. Calls may run concurrently.
///
/// A record with an expiry can be fetched again: the store may drop it at any time, and does not give it once it has expired. A
/// record without an expiry stays until it is removed. If damage destroys one, reads no longer give it, and ``losses(under:)``
/// names its key.
///
/// `RecordStoreConformance` in `InwardTesting` checks all this.
public protocol RecordStore: Sendable {
    /// What is kept under a key; `nil` if nothing is.
    ///
    /// - Throws: a ``RecordStoreError`` if it cannot be known.
    func record(for key: RecordKey) async throws(RecordStoreError) -> StoredRecord?

    /// The keys that begin with a key, that key among them, and what is kept under each, in order.
    ///
    /// - Throws: a ``RecordStoreError`` if it cannot be known.
    func records(under key: RecordKey) async throws(RecordStoreError) -> [(key: RecordKey, record: StoredRecord)]

    /// Returns the losses among the keys that begin with a key. Reads the records under the key to find damage that no read has
    /// met so far.
    ///
    /// Only records without an expiry count as losses. The list is as durable as the records.
    ///
    /// - Throws: a ``RecordStoreError`` if the store cannot tell.
    func losses(under key: RecordKey) async throws(RecordStoreError) -> RecordLosses

    /// Makes changes in their order, all of them or none. They are durable when it returns.
    ///
    /// - Throws: a ``RecordStoreError`` if nothing was changed. A task that is cancelled, or whose deadline passes, before the store
    ///   begins to write gets `cancelled`; after that the changes are made.
    func commit(_ changes: [RecordChange]) async throws(RecordStoreError)

    /// Tries to claim a key, without waiting. A claim excludes other claims of exactly this key; it does not restrict who reads or
    /// changes records.
    ///
    /// Claims are independent of records: a key can be claimed whether or not anything is stored under it.
    ///
    /// - Returns: the claim, or who owns the key.
    /// - Throws: a ``RecordStoreError`` if the store cannot tell who owns the key.
    func claim(_ key: RecordKey) async throws(RecordStoreError) -> RecordClaimResult
}

extension RecordStore {
    /// What is kept under several keys, `nil` for each where nothing is, in their order.
    ///
    /// - Throws: a ``RecordStoreError`` if it cannot be known.
    public func records(for keys: [RecordKey]) async throws(RecordStoreError) -> [StoredRecord?] {
        var records: [StoredRecord?] = []
        for key in keys { records.append(try await record(for: key)) }
        return records
    }
}

/// Why a store could not do what it was asked for.
public struct RecordStoreError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Which kind of failure it is.
    public enum Reason: Hashable, Sendable {
        /// The store or its disk is full.
        case full
        /// It may not be done.
        case denied
        /// Somebody else owns it.
        case busy
        /// It is closed.
        case closed
        /// The task was cancelled, or its deadline passed, before it was begun.
        case cancelled
        /// Anything else.
        case unavailable
    }

    /// Which kind of failure it is.
    public let reason: Reason
    /// What happened, and what to do, as a sentence.
    public let explanation: String

    /// Makes an error of its kind and what happened.
    public init(_ reason: Reason, explanation: String) {
        self.reason = reason
        self.explanation = explanation
    }

    /// What happened.
    public var description: String { explanation }
}
