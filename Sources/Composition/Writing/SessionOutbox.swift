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

    /// Has the session's repository settle what is written, and be told of what is pending; and the outbox deliver.
    ///
    /// An outbox before it that is being closed is waited for, so that it is not taken over while it settles to the end.
    ///
    /// - Throws: a `RecordStoreError` if it cannot be opened. It is tried again with the next write.
    func open(settling settler: any OutboxSettler) async throws(RecordStoreError) {
        // Unstructured, because the session has the outbox all the same where who signs in was cancelled, or came too late: it would
        // be told nothing for as long as it is open. It is waited for, and ends with what the store says.
        let opening = Deadline.lifted {
            Task(executorPreference: executor) {
                await Result(awaiting: { () async throws(RecordStoreError) in try await self.join(settler) })
            }
        }
        try await opening.value.get()
    }

    private func join(_ settler: any OutboxSettler) async throws(RecordStoreError) {
        await earlier.withLock { $0.take() }?.close()
        let joined = try await outbox.join(settling: [settler])
        member.withLock { $0 = joined }
        try await outbox.open()
    }

    /// Has the session no part in it any more. With the last session it is closed, and what is pending waits for the next.
    func close() async {
        // The last one settles to the end what the upstream has answered.
        await end()
        if let member = member.withLock(\.self) { outbox.leave(member) }
    }
}
