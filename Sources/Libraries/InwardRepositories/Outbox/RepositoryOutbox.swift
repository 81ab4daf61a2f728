public import InwardCore

/// The outbox through which repositories write: an ``Outbox``, or one user's partition of a ``SharedOutbox``.
///
/// ```swift
/// func comments(through outbox: any RepositoryOutbox) -> Repository<Comment> {
///     Repository(endpoint, upstream: upstream, outbox: outbox)
/// }
/// ```
///
/// A ``Repository`` and a ``RecordUnitOfWork`` use only this protocol, so they do not know whether one process delivers the
/// writes or several share them.
public protocol RepositoryOutbox: AnyObject, Sendable {
    /// The pending entries that can be read. Those of a subject are in the order in which they are delivered.
    ///
    /// - Complexity: O(n log n) in the number of entries.
    var pending: [OutboxEntry] { get }

    /// Stores writes and changes in one commit, and then delivers the writes in the background.
    ///
    /// - Parameters:
    ///   - writes: The writes to deliver. Writes of one subject are delivered in this order.
    ///   - changes: The changes to make in the store in the same commit.
    ///   - tell: Called once with the entries, when they are durable and the handlers know of them. Must return quickly.
    /// - Returns: the entries of the writes, in the same order.
    /// - Throws: a ``RecordStoreError``. Unless its reason is `outcomeUnknown`, nothing was accepted or changed.
    @discardableResult
    func accept(
        _ writes: [OutboxWrite],
        with changes: [RecordChange],
        whenAccepted tell: ([OutboxEntry]) -> Void
    ) async throws(RecordStoreError) -> [OutboxEntry]

    /// Stores a write that depends on the pending writes of its subject, and then delivers it in the background.
    ///
    /// - Parameters:
    ///   - subject: The subject of the write.
    ///   - letter: The ``OutboxItem/id`` of the dead letter that the write replaces, in the same commit, or `nil` for none.
    ///   - make: Returns the write, or `nil` to accept none. The handlers know of all pending writes of the subject when it is
    ///     called. If others accept one in the meantime, it is called again, and only the last call counts. It is not called
    ///     if there is no such dead letter.
    /// - Returns: the entry, or `nil` if nothing was accepted.
    /// - Throws: a ``RecordStoreError``. Unless its reason is `outcomeUnknown`, nothing was accepted or changed.
    @discardableResult
    func accept(
        in subject: RecordKey,
        replacing letter: String?,
        making make: () -> OutboxWrite?
    ) async throws(RecordStoreError) -> OutboxEntry?

    /// Returns the first pending entry of a subject, or `nil` if there is none.
    func firstPending(of subject: RecordKey) -> OutboxEntry?

    /// Lists the pending writes and the dead letters.
    ///
    /// - Complexity: O(n) in the number of writes.
    /// - Throws: a ``RecordStoreError`` if the store cannot be read.
    func contents() async throws(RecordStoreError) -> OutboxContents

    /// Sends a pending or refused write again, without further waiting.
    ///
    /// - Parameter id: The ``OutboxItem/id`` of the write.
    /// - Returns: the pending entry, or `nil` if there is no such write.
    /// - Throws: a ``RecordStoreError`` if the write cannot be sent again.
    @discardableResult
    func retry(_ id: String) async throws(RecordStoreError) -> OutboxEntry?

    /// Removes a write permanently. If it was pending, readers see the previous value again.
    ///
    /// - Parameter id: The ``OutboxItem/id`` of the write.
    /// - Returns: whether there was such a write.
    /// - Throws: a ``RecordStoreError`` if nothing was removed: `denied` if the write cannot be removed now.
    @discardableResult
    func discard(_ id: String) async throws(RecordStoreError) -> Bool

    /// Waits until a write is done at the upstream and settled.
    ///
    /// - Throws: a `RepositoryError`: the refusal if the write was refused or discarded. If the outcome is not known yet, the
    ///   reason is `closed`, `cancelled` or `unavailable`.
    func settlement(of entry: OutboxEntry) async throws(RepositoryError)

    /// Waits until all writes that are pending now are settled, the task's deadline passes, or the task is cancelled.
    ///
    /// - Returns: the number of writes that are still pending.
    @discardableResult
    func drain() async -> Int
}
