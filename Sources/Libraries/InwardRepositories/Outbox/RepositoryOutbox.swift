public import InwardCore

/// The outbox through which repositories write: an ``Outbox``, or one user's partition of a ``SharedOutbox``.
///
/// ```swift
/// func comments(through outbox: any RepositoryOutbox) -> Repository<Comment> {
///     Repository(endpoint, upstream: upstream, outbox: outbox)
/// }
/// ```
///
/// Repositories, sessions and a ``RecordUnitOfWork`` use only this protocol, so they do not know whether one process delivers
/// the writes or several share them.
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

    // MARK: Opening

    /// Adds the handlers of repositories, at most one for each endpoint, and tells them which entries are known to be pending.
    /// `nil` is ignored.
    ///
    /// - Returns: the member with which the handlers leave.
    /// - Throws: a ``RecordStoreError`` if they cannot be added.
    func join(handlers: [(any OutboxHandler)?]) async throws(RecordStoreError) -> OutboxMember

    /// Removes handlers.
    func leave(_ member: OutboxMember)

    /// Reads which entries are pending, and tells the handlers.
    ///
    /// - Throws: a ``RecordStoreError`` if the store cannot be read.
    func showPending() async throws(RecordStoreError)

    /// Returns whether the store may have pending writes.
    ///
    /// - Throws: a ``RecordStoreError`` if the store cannot be read.
    func hasPendingRecords() async throws(RecordStoreError) -> Bool

    /// Reads the pending writes, and begins to deliver them. If another process owns the outbox, waits until it is released.
    ///
    /// - Throws: a ``RecordStoreError`` if the outbox cannot be opened.
    func open() async throws(RecordStoreError)

    /// Reads the pending writes, and begins to deliver them, unless another process owns the outbox.
    ///
    /// - Parameter delivering: Whether to deliver before the next write is accepted or retried.
    /// - Returns: a description of the other process, or `nil`.
    /// - Throws: a ``RecordStoreError`` if the outbox cannot be opened.
    func openUnlessOwned(delivering: Bool) async throws(RecordStoreError) -> String?

    /// Returns a description of the other process that owns the outbox, or `nil` if there is none.
    ///
    /// - Throws: a ``RecordStoreError`` if the store cannot be read.
    func otherOwner() async throws(RecordStoreError) -> String?

    // MARK: Managing

    /// Lists the pending writes and the dead letters.
    ///
    /// - Complexity: O(n) in the number of writes.
    /// - Throws: a ``RecordStoreError`` if the store cannot be read.
    func contents() async throws(RecordStoreError) -> OutboxContents

    /// Counts what was accepted here and what has ended since the outbox was opened, as far as the store can be read.
    func outcomes() async -> OutboxCounts

    /// Sends the writes again whose credentials the upstream has rejected, without further waiting. Call it when there are new
    /// credentials.
    func retryDenied()

    /// Sends a pending or refused write again, without further waiting. If the creation of an entity and changes of it were refused,
    /// sends them together.
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

    /// Begins to deliver, and waits until the pending writes are delivered or refused, up to a deadline. Does not wait for writes
    /// that are due later.
    ///
    /// - Returns: the number of writes in the store that are still pending, no matter which process delivers them.
    /// - Throws: a ``RecordStoreError`` if the store cannot be read.
    func deliver(by deadline: Deadline) async throws(RecordStoreError) -> Int
}

extension RepositoryOutbox {
    /// Stores writes and changes in one commit, and then delivers the writes in the background.
    ///
    /// ```swift
    /// func confirm(_ outbox: any RepositoryOutbox) async throws {
    ///     try await outbox.accept([OutboxWrite(endpoint: "receipts", subject: ["comments", "7"], path: "comments/7/receipt")])
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - writes: The writes to deliver. Writes of one subject are delivered in this order.
    ///   - changes: The changes to make in the store in the same commit.
    /// - Returns: the entries of the writes, in the same order.
    /// - Throws: a ``RecordStoreError``. Unless its reason is `outcomeUnknown`, nothing was accepted or changed.
    @discardableResult
    public func accept(
        _ writes: [OutboxWrite],
        with changes: [RecordChange] = []
    ) async throws(RecordStoreError) -> [OutboxEntry] {
        try await accept(writes, with: changes, whenAccepted: { _ in })
    }
}
