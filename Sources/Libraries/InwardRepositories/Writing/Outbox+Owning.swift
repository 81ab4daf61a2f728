import InwardCore
import Synchronization

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

    /// Makes sure that nobody else has taken over: the claim of the store says so for as long as claims work there, and a token that
    /// the owner writes into its records says so in any case.
    ///
    /// - Throws: a ``RecordStoreError``: `closed` if somebody has.
    func checkOwner() async throws(RecordStoreError) {
        let owner = try await store.record(for: records.owner)
        let token = state.withLock(\.token)
        // A record that is lost is nobody else's.
        guard let owner, owner.bytes != Array(token.utf8) else { return }
        let error = OutboxTakenOverError(prefix: records.prefix)
        if await loseRecords() { errorHandler.handle(error) }
        throw RecordStoreError(.closed, explanation: "\(error).")
    }

    /// Leaves the records to whoever has taken over, until the next write opens the outbox again.
    ///
    /// - Returns: `false` if the outbox did not own them.
    private func loseRecords() async -> Bool {
        let lost = state.withLock { state in
            guard state.phase == .open else { return nil as (OutboxState.End, RecordClaim?, OutboxSettlers)? }
            let ending = state.end(.made)
            state.forgetRecords(policy)
            defer { state.claim = nil }
            return (ending, state.claim, state.settlers)
        }
        guard let (ending, claim, settlers) = lost else { return false }
        tell(of: ending)
        // What becomes of the entries is the other's to know.
        settlers.reset(to: [])
        await claim?.release()
        return true
    }

    /// Who owns the records, if that is not this outbox; `nil` if this outbox owns them, or nobody does.
    ///
    /// - Throws: a ``RecordStoreError`` if the store cannot tell.
    public func otherOwner() async throws(RecordStoreError) -> String? {
        let ticket = try await turn(for: [records.owner])
        defer { leave(ticket) }
        guard state.withLock(\.claim) == nil else { return nil }
        switch try await store.claim(records.owner) {
        case .owned(let owner): return owner
        case .claimed(let claim):
            await claim.release()
            return nil
        }
    }

    /// Whether the store has pending writes, whoever owns them.
    ///
    /// - Throws: a ``RecordStoreError`` if the store cannot be read.
    public func hasPendingRecords() async throws(RecordStoreError) -> Bool {
        try await !store.records(under: records.entries).isEmpty
    }

    /// Tells the settlers what is pending, without owning it, unless the outbox is open. What becomes of it meanwhile they learn when
    /// this is called again, or when the outbox is opened.
    ///
    /// - Throws: a ``RecordStoreError`` if the store cannot be read.
    public func showPending() async throws(RecordStoreError) {
        let ticket = try await turn(for: [records.owner])
        defer { leave(ticket) }
        guard state.withLock({ $0.phase == .made }) else { return }
        let left = try await LeftEntries(of: store, records)
        state.withLock(\.settlers).reset(to: left.readable)
    }
}
