public import InwardCore
import InwardFetching

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension Repository {
    /// What settles the writes of this repository, for whoever opens its outbox; `nil` if nothing can be created at the endpoint.
    public var handler: (any OutboxHandler)? {
        endpoint.creation.map { creation in
            CreationHandler(
                endpoint: endpoint.name,
                operations: [OutboxOperation(.post, endpoint.path.joined(separator: "/"))],
                creation: creation,
                pending: pending,
                changes: store.map { [$0.removeLists] } ?? [],
                prepare: { [weak self] entity, key async throws(RecordStoreError) in
                    guard let self else { return }
                    source.lastChange.note(at: timer.now)
                    try await memory.prepareSettlement(of: entity, key)
                },
                keep: { [weak self] entity, key in
                    self?.keep(entity)
                    self?.memory.endSettlement(of: key)
                },
                forgetLists: { [weak self] key in
                    self?.forgetLists()
                    self?.memory.endSettlement(of: key)
                }
            )
        }
    }

    /// Creates an entity of what is sent to where the list is.
    ///
    /// With an outbox it is accepted when this returns, which is as durable as the outbox's store, and shown as pending until the
    /// upstream has answered. Without one it is sent now, once, and created when this returns; what the store has of before is gone
    /// by then, unless the task is cancelled or its deadline passes.
    ///
    /// - Parameter draft: What is sent, as the endpoint's ``Creation`` knows it.
    /// - Returns: the entity.
    /// - Throws: a `RepositoryError`, with `outcomeUnknown` if the draft was sent and no answer tells what became of it, or was
    ///   accepted and cannot be shown.
    public func create(_ draft: some Encodable) async throws(RepositoryError) -> Reading<Entity> {
        try throwIfClosed(asking: endpoint.path)
        let (creation, body) = try creationBody(draft)
        guard let outbox else { return try await send(body, creation) }
        let entries: [OutboxEntry]
        do {
            entries = try await outbox.accept([write(body)])
        } catch {
            throw RepositoryError(error, request: creating)
        }
        guard let entry = entries.first, let entity = creation.pending(body, entry.sequence) else {
            // Who was told that it was not accepted would send it again, and have it done twice.
            throw RepositoryError(
                .outcomeUnknown,
                request: creating,
                explanation: "was accepted, and cannot be shown before the upstream has answered"
            )
        }
        return Reading(entity, origin: .memory, isPending: true)
    }

    /// Prepares the creation of an entity, for a unit of work over the repository's outbox.
    ///
    /// - Parameters:
    ///   - draft: What is sent, as the endpoint's ``Creation`` knows it.
    ///   - description: What is changed, as a part of a sentence: `the publication of a post`.
    /// - Returns: the change; `nil` if the repository has no outbox.
    /// - Throws: a `RepositoryError` if the draft cannot be sent.
    public func prepareCreation(
        of draft: some Encodable,
        _ description: String
    ) throws(RepositoryError) -> PreparedRecordChange? {
        try throwIfClosed(asking: endpoint.path)
        let (_, body) = try creationBody(draft)
        return outbox.map { PreparedRecordChange(description, for: $0, writes: [write(body)]) }
    }

    private var creating: String { "POST \(source.upstream.address(of: endpoint.path))" }

    private func write(_ body: [UInt8]) -> OutboxWrite {
        // What has no identity yet is a subject of its own.
        let subject: RecordKey = [endpoint.name, "new", String(chance().bitPattern, radix: 16)]
        return OutboxWrite(
            endpoint: endpoint.name,
            subject: subject,
            method: .post,
            path: endpoint.path.joined(separator: "/"),
            body: body
        )
    }

    private func creationBody(
        _ draft: some Encodable
    ) throws(RepositoryError) -> (creation: Creation<Entity>, body: [UInt8]) {
        guard let creation = endpoint.creation else {
            throw RepositoryError(.refused, request: creating, explanation: "was not sent: nothing is created there")
        }
        do {
            return (creation, Array(try JSONEncoder().encode(draft)))
        } catch {
            throw RepositoryError(.refused, request: creating, explanation: "has content that is no JSON")
        }
    }

    private func send(
        _ body: [UInt8],
        _ creation: Creation<Entity>
    ) async throws(RepositoryError) -> Reading<Entity> {
        do throws(RepositoryError) {
            let created = try await source.upstream.create(Data(body), path: endpoint.path) {
                answer throws(FieldError) in try creation.created(body, answer)
            }
            keep(created)
            // What is kept of before is not to be found by a process that comes behind this, if this one is killed.
            await flush()
            return Reading(created, origin: .upstream)
        } catch {
            source.lastChange.note(at: timer.now)
            // It may have been done, and then be in every list.
            if [.outcomeUnknown, .cancelled].contains(error.reason) { memory.forgetLists() }
            detachAll()
            await flush()
            throw error
        }
    }

    /// Keeps what was created just now. Who asks from now on is to see it, and what is under way may have been answered before.
    private func keep(_ entity: Entity) {
        source.lastChange.note(at: timer.now)
        let byteCount = (try? endpoint.encode(entity).count) ?? 0
        memory.write(entity, time: timer.now, byteCount: byteCount)
        detachAll()
    }

    private func forgetLists() {
        source.lastChange.note(at: timer.now)
        memory.forgetLists()
        detachAll()
    }
}

extension RepositoryError {
    /// The error of a write that was not accepted.
    fileprivate init(_ error: RecordStoreError, request: String) {
        let reason: Reason =
            switch error.reason {
            case .cancelled: .cancelled
            case .closed: .closed
            case .full, .denied, .busy, .unavailable: .unavailable
            }
        let cause = error.explanation.hasSuffix(".") ? error.explanation.dropLast() : error.explanation[...]
        self.init(
            reason,
            request: request,
            explanation: "was not accepted: \(cause)",
            canRetry: [.busy, .full, .unavailable].contains(error.reason)
        )
    }
}

/// Shows what is to be created as pending, and puts what became of it in its place.
struct CreationHandler<Entity: Identifiable & Sendable>: OutboxHandler where Entity.ID: Sendable {
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
            guard answer.fallbackReason == nil else { throw FieldError(nil, "is another's than the upstream's") }
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
