public import InwardCore
import InwardFetching

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension Repository {
    /// The handler that settles this repository's writes, with which to open its outbox; `nil` if the endpoint does not support
    /// creation.
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

    /// Creates an entity by sending a draft to the endpoint's list.
    ///
    /// With an outbox, the draft is accepted when this method returns. It is then as durable as the outbox's store, and the entity
    /// is shown as pending until the upstream has answered. Without an outbox, the draft is sent immediately, once, and the entity
    /// is created when this method returns. Outdated lists have then been removed from the store, unless the task is cancelled or
    /// its deadline passes.
    ///
    /// - Parameter draft: The draft, of the type of the endpoint's ``Creation``.
    /// - Returns: the entity.
    /// - Throws: a `RepositoryError`: `outcomeUnknown` if the draft was sent and the outcome is not known, or if it was accepted
    ///   and cannot be shown.
    public func create(_ draft: some Encodable) async throws(RepositoryError) -> Reading<Entity> {
        try throwIfClosed(asking: endpoint.path)
        let (creation, body) = try creationBody(draft)
        guard let outbox else { return try await send(body, creation) }
        var accepted: Entity?
        do {
            _ = try await outbox.accept([write(body)], with: []) { entries in
                // The handler has made the entity already, unless the outbox has another repository's handler.
                accepted = entries.first.flatMap { pending[$0.idempotencyKey] ?? creation.pending(body, $0.sequence) }
            }
        } catch {
            throw RepositoryError(error, request: creating)
        }
        guard let entity = accepted else {
            // The draft is accepted. A caller that is told otherwise would send it again and create the entity twice.
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
    ///   - draft: The draft, of the type of the endpoint's ``Creation``.
    ///   - description: What is changed, as part of a sentence: `the publication of a post`.
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
        // A resource that has no identifier yet is a subject of its own.
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
        // Not left to the data fetcher, which may not notice either before the request has been sent.
        if Task.isCancelled {
            throw RepositoryError(.cancelled, request: creating, explanation: "was not sent: the task was cancelled")
        }
        if Deadline.current?.hasPassed == true {
            throw RepositoryError(.unavailable, request: creating, explanation: "was not sent: the deadline has passed")
        }
        do throws(RepositoryError) {
            let created = try await source.upstream.create(Data(body), path: endpoint.path) {
                answer throws(FieldError) in try creation.created(body, answer)
            }
            keep(created)
            // Outdated records must leave the store, so that a later process does not find them if this one is killed.
            await flush()
            return Reading(created, origin: .upstream)
        } catch {
            source.lastChange.note(at: timer.now)
            // The entity may have been created, and may belong in any list.
            if [.outcomeUnknown, .cancelled].contains(error.reason) { memory.forgetLists() }
            detachAll()
            await flush()
            throw error
        }
    }

    /// Caches an entity that was just created. Later reads must return it, and requests in flight may have been answered before it
    /// existed.
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
    /// Creates the error of a write that was not accepted.
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

/// Shows drafts as pending entities, and replaces them when they are settled.
struct CreationHandler<Entity: Identifiable & Sendable>: OutboxHandler
where Entity.ID: Sendable & LosslessStringConvertible {
    let endpoint: String
    let operations: [OutboxOperation]
    let creation: Creation<Entity>
    let pending: PendingEntities<Entity>
    /// The changes to commit with the settlement of a write. They remove stored lists, which may lack the new entity.
    let changes: [RecordChange]
    /// Ensures that no list from before the write is stored once its settlement is committed. Takes the created entity, if it is
    /// known, and the idempotency key of the write.
    let prepare: @Sendable (Entity?, String) async throws(RecordStoreError) -> Void
    /// Caches the entity that the write with an idempotency key created.
    let keep: @Sendable (Entity, String) -> Void
    /// Removes every list from the cache, because the write with an idempotency key created an unknown entity.
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
        // The entity may have been created, and may belong in any list.
        try await prepare(nil, key)
        return OutboxSettlement(changes) { pending.remove(key) { forgetLists(key) } }
    }
}
