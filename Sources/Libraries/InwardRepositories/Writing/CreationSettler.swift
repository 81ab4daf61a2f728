import InwardCore
import InwardFetching

/// Shows what is to be created as pending, and puts what became of it in its place.
struct CreationSettler<Entity: Identifiable & Sendable>: OutboxSettler where Entity.ID: Sendable {
    let endpoint: String
    let operations: [OutboxOperation]
    let creation: Creation<Entity>
    let pending: PendingEntities<Entity>
    /// What is changed in the store together with the end of a write: of no list there is known that what was created is in it.
    let changes: [RecordChange]
    /// Makes sure that no list from before the write is stored once its settlement is committed. It is given what was created, if
    /// that is known, and the idempotency key of the write.
    let prepare: @Sendable (Entity?, String) async throws(RecordStoreError) -> Void
    /// Keeps what was created by the write with an idempotency key.
    let keep: @Sendable (Entity, String) -> Void
    /// Forgets every list, because the write with an idempotency key created something of which nothing is known.
    let forgetLists: @Sendable (String) -> Void

    func reset(to entries: [OutboxEntry]) {
        pending.reset(
            to: entries.compactMap { entry in
                creation.pending(entry.write.body ?? [], entry.sequence).map { (entry.idempotencyKey, $0) }
            }
        )
    }

    func accepted(_ entries: [OutboxEntry]) {
        for entry in entries {
            guard let entity = creation.pending(entry.write.body ?? [], entry.sequence) else { continue }
            pending.add(entity, for: entry.idempotencyKey)
        }
    }

    func delivered(
        _ entry: OutboxEntry,
        answer: DataResponse,
        before later: LaterEntries
    ) async throws(RecordStoreError) -> OutboxSettlement {
        let key = entry.idempotencyKey
        let created = Result { () throws(FieldError) in
            guard answer.degradation == nil else { throw FieldError(nil, "is another's than the upstream's") }
            return try creation.created(entry.write.body ?? [], answer.body)
        }
        switch created {
        case .success(let entity):
            try await prepare(entity, key)
            return OutboxSettlement(changes) { pending.remove(key) { keep(entity, key) } }
        case .failure(let error):
            try await prepare(nil, key)
            return OutboxSettlement(changes, problem: error.description) {
                pending.remove(key) { forgetLists(key) }
            }
        }
    }

    func refused(
        _ entry: OutboxEntry,
        because error: RepositoryError,
        before later: LaterEntries
    ) async throws(RecordStoreError) -> OutboxSettlement {
        let key = entry.idempotencyKey
        guard error.reason == .outcomeUnknown else { return OutboxSettlement { pending.remove(key) } }
        // It may have been created, and then be in every list.
        try await prepare(nil, key)
        return OutboxSettlement(changes) { pending.remove(key) { forgetLists(key) } }
    }
}
