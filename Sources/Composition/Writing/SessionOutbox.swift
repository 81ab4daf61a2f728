import InterfaceAdapters
import Synchronization
import UseCases

/// A session's share in an outbox that other sessions of the same user may have too.
final class SessionOutbox: Sendable {
    let outbox: Outbox
    private let earlier: Mutex<Outbox?>
    private let member = Mutex<OutboxMember?>(nil)
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
    /// waits because the upstream did not take the earlier ones is sent now.
    ///
    /// - Throws: a `RecordStoreError` if the store cannot be read. It is tried again with the next write.
    func open(
        settling settler: any OutboxSettler,
        pendingWrites: PendingWrites = .deliver
    ) async throws(RecordStoreError) {
        // Unstructured, because the session has the outbox all the same where who signs in was cancelled, or came too late: it would
        // be told nothing for as long as it is open. It is waited for, and ends with what the store says.
        let opening = Deadline.lifted {
            Task(executorPreference: executor) {
                await Result(awaiting: { () async throws(RecordStoreError) in
                    try await self.join(settler, pendingWrites)
                })
            }
        }
        try await opening.value.get()
    }

    private func join(
        _ settler: any OutboxSettler,
        _ pendingWrites: PendingWrites
    ) async throws(RecordStoreError) {
        await earlier.withLock { $0.take() }?.close()
        let joined = try await outbox.join(settling: [settler])
        member.withLock { $0 = joined }
        switch pendingWrites {
        case .deliver:
            guard try await outbox.hasPendingRecords() else { return }
            // If another process owns them, that one delivers.
            try await outbox.openUnlessOwned()
            outbox.retryDenied()
        case .show: try await outbox.showPending()
        }
    }

    /// Has the session no part in it any more. With the last session it is closed, and what is pending waits for the next.
    func close() async {
        // The last one settles to the end what the upstream has answered.
        await end()
        if let member = member.withLock(\.self) { outbox.leave(member) }
    }
}
