/// The port to a place where records outlive the process.
///
/// Whoever implements it says what *durable* means there. It never gives a record that is not, byte for byte, one that was kept
/// under that key: what is damaged is set aside, told to whoever wants to know, and not there any more. Changes that one call
/// makes are one: whoever reads, in this process or another, sees all of them or none, and so does whoever opens the place after
/// a crash. Calls may come from anywhere at the same time.
///
/// A record with an expiry may go at any time, and is not given once it has expired. One without is there until it is removed.
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

    /// Makes changes in their order, all of them or none. They are durable when it returns.
    ///
    /// - Throws: a ``RecordStoreError`` if nothing was changed. A task that is cancelled meanwhile still gets them made.
    func commit(_ changes: [RecordChange]) async throws(RecordStoreError)
}
