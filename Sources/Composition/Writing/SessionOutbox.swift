import InterfaceAdapters
import Synchronization

/// A session's share in an outbox that other sessions of the same user may have too.
final class SessionOutbox: Sendable {
    let outbox: Outbox
    private let member = Mutex<OutboxMember?>(nil)
    private let end: @Sendable () async -> Void

    /// - Parameters:
    ///   - outbox: The outbox.
    ///   - end: What is to be done when the session has it no more.
    init(_ outbox: Outbox, whenClosed end: @escaping @Sendable () async -> Void) {
        self.outbox = outbox
        self.end = end
    }

    /// Has the session's repository settle what is written, and be told of what is pending; and the outbox deliver.
    ///
    /// - Throws: a `RecordStoreError` if it cannot be opened. It is tried again with the next write.
    func open(settling settler: any OutboxSettler) async throws(RecordStoreError) {
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
