public import InwardFetching

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
