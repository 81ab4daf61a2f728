public import InwardCore
import Synchronization

/// A session's share of an outbox. The user's other sessions may share the same outbox.
///
/// ```swift
/// func open(_ share: SessionOutbox) async throws -> RepositorySet {
///     let repositories = RepositorySet(upstream: upstream, outbox: share, declaring: [AnyEndpoint(endpoint)])
///     try await repositories.open()  // opens the share with the handlers of the repositories
///     return repositories
/// }
/// ```
///
/// ``SessionOutboxes`` creates it, or you do for a partition of a ``SharedOutbox``. A ``RepositorySet`` opens and closes it.
public final class SessionOutbox: Sendable {
    private struct Share {
        var member: OutboxMember?
        /// The task that joins the outbox and waits for ownership.
        var opening: Task<Void, Never>?
        var isClosed = false
    }

    /// The outbox, which the user's other sessions may share.
    public let outbox: any RepositoryOutbox
    private let earlier: Mutex<Outbox?>
    private let share = Mutex(Share())
    private let executor: (any TaskExecutor)?
    private let end: @Sendable () async -> Void

    /// Creates a share.
    ///
    /// - Parameters:
    ///   - outbox: The outbox.
    ///   - earlier: The previous outbox over the same records, which is being closed, or `nil` if there is none.
    ///   - executor: The executor on which the outbox is opened, or `nil` for the default.
    ///   - end: Called when the session gives up its share.
    init(
        _ outbox: any RepositoryOutbox,
        behind earlier: Outbox? = nil,
        executor: (any TaskExecutor)?,
        whenClosed end: @escaping @Sendable () async -> Void = {}
    ) {
        self.outbox = outbox
        self.earlier = Mutex(earlier)
        self.executor = executor
        self.end = end
    }

    /// Creates a session's share of a user's partition of a shared outbox.
    ///
    /// - Parameters:
    ///   - partition: The partition.
    ///   - executor: The executor on which the partition is read, or `nil` for the default.
    public convenience init(_ partition: OutboxPartition, executor: (any TaskExecutor)? = nil) {
        self.init(partition as any RepositoryOutbox, executor: executor)
    }

    /// Adds the session's handlers to the outbox, and delivers or shows the pending writes.
    ///
    /// If an earlier outbox of the same records is being closed, the call waits for it. Writes that wait because the upstream
    /// rejected earlier credentials are sent immediately, with the session's credentials. If another process owns the outbox,
    /// the error handler receives an error that names the owner, and the session waits for ownership in the background.
    ///
    /// - Parameters:
    ///   - handlers: The handlers of the session's repositories, at most one for each endpoint.
    ///   - pendingWrites: Whether to deliver the pending writes or only show them.
    ///   - errorHandler: Receives an error that names the owner if another process owns the outbox.
    /// - Throws: a `RecordStoreError` if the store cannot be read. The next write tries again to open the outbox. If the task
    ///   is cancelled (`cancelled`) or its deadline passes (`unavailable`) before the store answers, opening continues in the
    ///   background until the session is closed.
    public func open(
        handlers: [any OutboxHandler],
        pendingWrites: PendingWrites = .deliver,
        tellingOwnersTo errorHandler: any ErrorHandler = IgnoringErrorHandler()
    ) async throws(RecordStoreError) {
        let joined = Promise<Result<Void, RecordStoreError>>()
        // Unstructured, because the session keeps its share even if the task that signs in is cancelled or late. Without
        // joining, its repositories would not be told of pending writes. `close()` cancels the task and waits for it.
        let opening = Deadline.lifted {
            Task.starting(on: executor) {
                let owner = await Result(awaiting: { () async throws(RecordStoreError) in
                    try await self.join(handlers, pendingWrites)
                })
                joined.fulfill(owner.map { _ in })
                guard case .success(let owner?) = owner else { return }
                errorHandler.handle(Self.owned(by: owner))
                // If this fails, the next write opens the outbox and reports the failure.
                try? await self.outbox.open()
                self.outbox.retryDenied()
            }
        }
        let isClosed = share.withLock { share in
            share.opening = opening
            return share.isClosed
        }
        if isClosed { opening.cancel() }
        switch await joined.value() {
        case .fulfilled(let result): try result.get()
        case .cancelled:
            throw RecordStoreError(
                .cancelled,
                explanation: "The task was cancelled before the outbox was read. Reading continues in the background."
            )
        case .deadlinePassed:
            throw RecordStoreError(
                .unavailable,
                explanation: """
                    The outbox could not be read in time: the disk is slow, or another process holds the store's lock and is stuck.
                    """
            )
        }
    }

    /// Joins the outbox.
    ///
    /// - Returns: the owner of the outbox, if the session wants to deliver and cannot.
    private func join(
        _ handlers: [any OutboxHandler],
        _ pendingWrites: PendingWrites
    ) async throws(RecordStoreError) -> String? {
        await earlier.withLock { $0.take() }?.close()
        let joined = try await outbox.join(handlers: handlers)
        let isClosed = share.withLock { share in
            share.member = joined
            return share.isClosed
        }
        if isClosed { outbox.leave(joined) }
        switch pendingWrites {
        case .deliver:
            guard try await outbox.hasPendingRecords() else { return nil }
            if let owner = try await outbox.openUnlessOwned(delivering: true) {
                try await outbox.showPending()
                return owner
            }
            outbox.retryDenied()
        case .show: try await outbox.showPending()
        }
        return nil
    }

    private static func owned(by owner: String) -> RecordStoreError {
        RecordStoreError(
            .busy,
            explanation:
                "The outbox is owned by \(owner), which delivers it. This process takes over when the owner has ended."
        )
    }

    /// Leaves the outbox. The last session closes it. Pending writes wait for the next session.
    public func close() async {
        let (opening, isFirst) = share.withLock { share in
            defer { share.isClosed = true }
            return (share.opening, !share.isClosed)
        }
        opening?.cancel()
        await opening?.value
        // Ending twice would end the share of another session.
        guard isFirst else { return }
        // If this is the last session, this closes the outbox. Answered writes are settled before the handlers leave.
        await end()
        if let member = share.withLock(\.member) { outbox.leave(member) }
    }
}
