import Synchronization
import UseCases

extension Outbox {
    /// Commits changes of others together with those of the outbox itself, if it is still the one that delivers.
    ///
    /// - Throws: a ``RecordStoreError`` if nothing was changed.
    func commit(_ changes: [RecordChange], adding own: [RecordChange]) async throws(RecordStoreError) {
        if let change = changes.first(where: records.isTouched) {
            throw RecordStoreError(
                .denied,
                explanation: "The change \(change) is of the records of the outbox, which nobody else may change."
            )
        }
        try await checkOwner()
        try await store.commit(changes + own)
    }

    /// Makes sure that nobody else has taken over.
    ///
    /// - Throws: a ``RecordStoreError``: `closed` if somebody has.
    func checkOwner() async throws(RecordStoreError) {
        let owner = try await store.record(for: records.owner)
        let token = state.withLock(\.token)
        // A record that is lost is nobody else's.
        guard let owner, owner.bytes != Array(token.utf8) else { return }
        let isFirst = state.withLock { state in
            defer { state.phase = .closed }
            return state.phase != .closed
        }
        end()
        let error = OutboxTakenOverError(prefix: records.prefix)
        if isFirst { errorHandler.handle(error) }
        throw RecordStoreError(.closed, explanation: "\(error).")
    }
}
