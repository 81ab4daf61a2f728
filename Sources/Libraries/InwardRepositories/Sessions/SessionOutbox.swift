public import InwardCore
import Synchronization

/// A session's share in an outbox that other sessions of the same user may have too.
public final class SessionOutbox: Sendable {
    private struct Share {
        var member: OutboxMember?
        /// Joins the outbox, and waits until it is this process's turn to deliver.
        var opening: Task<Void, Never>?
        var isClosed = false
    }

    /// The outbox, which the user's other sessions may have too.
    public let outbox: Outbox
    private let earlier: Mutex<Outbox?>
    private let share = Mutex(Share())
    private let executor: (any TaskExecutor)?
    private let end: @Sendable () async -> Void

    /// - Parameters:
    ///   - outbox: The outbox.
    ///   - earlier: The one before it over the same records, which is being closed; `nil` if none is.
    ///   - executor: Where it is opened; `nil` for wherever there is room.
    ///   - end: What is to be done when the session has it no more.
    init(
        _ outbox: Outbox,
        behind earlier: Outbox?,
        executor: (any TaskExecutor)?,
        whenClosed end: @escaping @Sendable () async -> Void
    ) {
        self.outbox = outbox
        self.earlier = Mutex(earlier)
        self.executor = executor
        self.end = end
    }

    /// Lets the session's repository settle what is written, and delivers or shows what is pending.
    ///
    /// Opening waits for an earlier outbox of the same records that is being closed. The user's new credentials are used at once: what
    /// waits because the upstream did not take the earlier ones is sent now. If another process owns the outbox, the error handler is
    /// told who it is, and the session goes on to wait for its turn.
    ///
    /// - Throws: a `RecordStoreError` if the store cannot be read: `unavailable` if it does not answer before the task's deadline.
    ///   Joining goes on then, as it does when the task is cancelled, until the session is closed; and opening is tried again with the
    ///   next write.
    public func open(
        settling handler: any OutboxHandler,
        pendingWrites: PendingWrites = .deliver,
        tellingOwnersTo errorHandler: any ErrorHandler = IgnoringErrorHandler()
    ) async throws(RecordStoreError) {
        let joined = Promise<Result<Void, RecordStoreError>>()
        // Unstructured, because the session has the outbox all the same where the task that signs in was cancelled, or came too late:
        // it would be told nothing for as long as it is open. The session's close cancels it and waits for it.
        let opening = Deadline.lifted {
            Task(executorPreference: executor) {
                let owner = await Result(awaiting: { () async throws(RecordStoreError) in
                    try await self.join(handler, pendingWrites)
                })
                joined.fulfill(owner.map { _ in })
                guard case .success(let owner?) = owner else { return }
                errorHandler.handle(Self.owned(by: owner))
                // Its failures are those of the next write, which opens it, too.
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
            // Joining goes on, and nobody waits for what comes of it.
            return
        case .deadlinePassed:
            throw RecordStoreError(
                .unavailable,
                explanation: """
                    The outbox could not be read in time: the disk is slow, or another process holds the lock of the store and does \
                    not go on.
                    """
            )
        }
    }

    /// - Returns: who owns the outbox, if the session is to deliver and cannot.
    private func join(
        _ handler: any OutboxHandler,
        _ pendingWrites: PendingWrites
    ) async throws(RecordStoreError) -> String? {
        await earlier.withLock { $0.take() }?.close()
        let joined = try await outbox.join(settling: [handler])
        let isClosed = share.withLock { share in
            share.member = joined
            return share.isClosed
        }
        if isClosed { outbox.leave(joined) }
        switch pendingWrites {
        case .deliver:
            guard try await outbox.hasPendingRecords() else { return nil }
            if let owner = try await outbox.openUnlessOwned() {
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
                "The outbox is owned by \(owner), which delivers it. This process delivers when that has ended."
        )
    }

    /// Leaves the outbox. With the last session it is closed, and what is pending waits for the next.
    public func close() async {
        let opening = share.withLock { share in
            share.isClosed = true
            return share.opening
        }
        opening?.cancel()
        await opening?.value
        // The last one settles to the end what the upstream has answered.
        await end()
        if let member = share.withLock(\.member) { outbox.leave(member) }
    }
}

/// What a session does with the writes that an earlier process left in the app's store.
///
/// In either case the session's own writes are accepted and delivered. A session owns its user's outbox from its first write on, or
/// from the moment that it delivers, and shares it with the user's other sessions in the same app.
public enum PendingWrites: Hashable, Sendable {
    /// Delivers them from sign-in on, unless another process owns the outbox: then that one does.
    case deliver
    /// Shows them to readers as they were when the feed was read last, and owns nothing: for a session that only reads.
    case show
}
