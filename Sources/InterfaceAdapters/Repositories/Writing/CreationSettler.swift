import UseCases

/// Shows what is to be created as pending, and puts what became of it in its place.
struct CreationSettler<Entity: Identifiable & Sendable>: OutboxSettler where Entity.ID: Sendable {
    let endpoint: String
    let creation: Creation<Entity>
    let pending: PendingEntities<Entity>
    /// What is changed in the store together with the end of a write: of no list there is known that what was created is in it.
    let changes: [RecordChange]
    /// Keeps what was created.
    let keep: @Sendable (Entity) -> Void
    /// Forgets every list, because something was created of which nothing is known.
    let forgetLists: @Sendable () -> Void

    func accepted(_ entries: [OutboxEntry]) {
        for entry in entries {
            guard let entity = creation.pending(entry.write.body ?? [], entry.sequence) else { continue }
            pending.add(entity, for: entry.idempotencyKey)
        }
    }

    func delivered(
        _ entry: OutboxEntry,
        answer: DataResponse,
        before later: [OutboxEntry]
    ) async throws(RecordStoreError) -> OutboxSettlement {
        do throws(FieldError) {
            guard answer.degradation == nil else { throw FieldError(nil, "is another's than the upstream's") }
            let entity = try creation.created(entry.write.body ?? [], answer.body)
            return OutboxSettlement(changes) { pending.remove(entry.idempotencyKey) { keep(entity) } }
        } catch {
            return OutboxSettlement(changes, problem: error.description) {
                pending.remove(entry.idempotencyKey) { forgetLists() }
            }
        }
    }

    func refused(
        _ entry: OutboxEntry,
        because error: RepositoryError,
        before later: [OutboxEntry]
    ) async throws(RecordStoreError) -> OutboxSettlement {
        OutboxSettlement { pending.remove(entry.idempotencyKey) }
    }
}
