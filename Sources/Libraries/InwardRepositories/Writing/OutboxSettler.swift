public import InwardCore
public import InwardFetching

/// Whoever turns what became of a write into what is kept: a repository, for an endpoint of its own.
///
/// An ``Outbox`` asks it for changes and commits them together with the end of the write. From when it asks until it has called
/// ``OutboxSettlement/whenCommitted`` no other write of that subject is accepted or settled, so that what a settler reads in the
/// store stays true until its changes are made.
///
/// Whose readers are to see what is not delivered yet shows the value of each entry that it is told of in ``accepted(_:)`` as
/// pending, in the order of ``OutboxEntry/sequence``, until the entry is settled: then the value of the upstream takes its place,
/// or what was there before. The entries that stand behind it are still pending then, and go on top of that.
public protocol OutboxSettler: Sendable {
    /// The name by which writes find it: the same from one version of the program to the next, because writes are kept with it.
    var endpoint: String { get }

    /// What writes of this endpoint may do. An outbox neither accepts nor sends any other.
    var operations: [OutboxOperation] { get }

    /// Is told which entries are pending, in their order, and that no others are: when the outbox is opened, and with none when
    /// another process has taken over, which then knows what becomes of them. It returns soon.
    ///
    /// - Parameter entries: All pending entries of this endpoint.
    func reset(to entries: [OutboxEntry])

    /// Is told of entries that are pending from now on, in their order: durable, and not delivered. It returns soon.
    ///
    /// - Parameter entries: Entries of this endpoint.
    func accepted(_ entries: [OutboxEntry])

    /// Says what is to be kept of a write that was done.
    ///
    /// It is asked again where its changes could not be committed.
    ///
    /// - Parameters:
    ///   - entry: What was done.
    ///   - answer: What the upstream said, with a status of success.
    ///   - later: The entries of the same subject that are not delivered yet, in their order.
    /// - Returns: the changes, and what to do then. Where the answer cannot be used, with
    ///   ``OutboxSettlement/problem``: the write was done all the same.
    /// - Throws: a ``RecordStoreError`` if the store that is needed to say so does not answer.
    func delivered(
        _ entry: OutboxEntry,
        answer: DataResponse,
        before later: LaterEntries
    ) async throws(RecordStoreError) -> OutboxSettlement

    /// Says what is to be kept where a write was refused for good: what there was before.
    ///
    /// It is asked again where its changes could not be committed.
    ///
    /// - Parameters:
    ///   - entry: What was refused.
    ///   - error: Why: with `RepositoryError.Reason.refused`, or with `notFound` if the upstream has nothing at that path. If
    ///     somebody discarded it, with `refused` too, or with `outcomeUnknown` if it may have been done.
    ///   - later: The entries of the same subject that are not delivered yet, in their order.
    /// - Returns: the changes, and what to do then.
    /// - Throws: a ``RecordStoreError`` if the store that is needed to say so does not answer.
    func refused(
        _ entry: OutboxEntry,
        because error: RepositoryError,
        before later: LaterEntries
    ) async throws(RecordStoreError) -> OutboxSettlement
}

extension OutboxSettler {
    /// Whether one of the ``operations`` is what a write asks for.
    func declares(_ write: OutboxWrite) -> Bool { operations.contains { $0.matches(write) } }
}
