public import InwardCore
import InwardFetching

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension Repository {
    /// The handler for this repository's writes, or `nil` if the endpoint accepts neither creation nor editing. Pass it to the
    /// outbox when you open it.
    ///
    /// ```swift
    /// let outbox = Outbox(upstream: upstream, store: InMemoryRecordStore(), errorHandler: IgnoringErrorHandler())
    /// let comments = Repository(endpoint, upstream: upstream, outbox: outbox)
    /// try await outbox.open(handlers: [comments.handler])
    /// ```
    public var handler: (any OutboxHandler)? {
        guard endpoint.isWritable else { return nil }
        return WriteHandler(entities: endpoint, pending: pending, store: store, effects: effects)
    }

    private var effects: WriteEffects<Entity> {
        WriteEffects(
            prepare: { [weak self] id, key async throws(RecordStoreError) in
                guard let self else { return true }
                cache.lastChange.note(at: timer.now)
                try await memory.prepareSettlement(of: id, key, cache.changeCountElsewhere)
                return memory.changeCountElsewhere(settling: key) == cache.changeCountElsewhere
            },
            keep: { [weak self] entity, validator, key in
                guard let self else { return }
                let count = memory.changeCountElsewhere(settling: key)
                keep(entity, validator, since: count, isAnnounced: true)
            },
            keepAbsence: { [weak self] id, key in
                guard let self else { return }
                keepAbsence(of: id, since: memory.changeCountElsewhere(settling: key), isAnnounced: true)
            },
            forget: { [weak self] id in self?.forget(id, isAnnounced: true) },
            end: { [weak self] key in self?.memory.endSettlement(of: key) },
            cached: { [weak self] id in self?.cachedVersion(of: id) },
            current: { [weak self, source] id async throws(RepositoryError) in
                guard let self else { throw Self.released(id, source) }
                return try await currentVersion(of: id)
            }
        )
    }

    private static func released(_ id: Entity.ID, _ source: EntitySource<Entity>) -> RepositoryError {
        RepositoryError(
            .closed,
            request: source.upstream.description(of: source.endpoint.onePath(id)),
            explanation: "was not sent: its repository was released"
        )
    }

    /// Creates an entity from a draft.
    ///
    /// ```swift
    /// let created = try await comments.create(CommentDraft(postId: 1, body: "Well said."))
    /// print(created.value.id, created.isPending)
    /// ```
    ///
    /// The draft goes to the endpoint's list, or to the list that the ``Creation`` names.
    ///
    /// Without an outbox, the draft is sent once, immediately. When this method returns, the upstream has created the entity.
    /// Outdated lists have been removed from the store, unless the task was cancelled or its deadline passed.
    ///
    /// With an outbox, the draft has been accepted when this method returns: it is as durable as the outbox's store. Reads show
    /// the entity as pending until the upstream has answered.
    ///
    /// - Parameter draft: The draft, of the type of the endpoint's ``Creation``.
    /// - Returns: a reading of the entity.
    /// - Throws: a `RepositoryError`: `outcomeUnknown` if the upstream may have created the entity, or if the outbox has
    ///   accepted the draft but the entity cannot be shown. In both cases, do not send the draft again.
    public func create(_ draft: some Encodable) async throws(RepositoryError) -> Reading<Entity> {
        try throwIfClosed(asking: endpoint.path)
        let (creation, body, path) = try creationBody(draft)
        guard let outbox else { return try await send(body, to: path, creation) }
        let write = try write(body, to: path)
        var accepted: Entity?
        do {
            try await outbox.accept([write], with: []) { entries in
                // The handler has already made the entity, unless the outbox was opened with the handler of another repository.
                accepted = entries.first.flatMap {
                    pending[$0.idempotencyKey] ?? creation.pending(body, $0.pendingNumber, endpoint.format)
                }
            }
        } catch {
            throw RepositoryError(error, request: creating(at: path))
        }
        guard let entity = accepted else {
            // The draft is accepted. With another error, the caller would send it again and create the entity twice.
            throw RepositoryError(
                .outcomeUnknown,
                request: creating(at: path),
                explanation: "was accepted, but cannot be shown before the upstream has answered; do not send it again"
            )
        }
        return Reading(entity, origin: .memory, isPending: true)
    }

    /// Prepares the creation of an entity for a ``RecordUnitOfWork``.
    ///
    /// ```swift
    /// let draft = CommentDraft(postId: 1, body: "Well said.")
    /// let change = try comments.prepareCreation(of: draft, "the publication of a comment")
    /// ```
    ///
    /// - Parameters:
    ///   - draft: The draft, of the type of the endpoint's ``Creation``.
    ///   - description: The change as a noun phrase for messages, such as `the publication of a post`.
    /// - Returns: the change, or `nil` if the repository has no outbox.
    /// - Throws: a `RepositoryError` if the draft cannot be sent.
    public func prepareCreation(
        of draft: some Encodable,
        _ description: String
    ) throws(RepositoryError) -> PreparedRecordChange? {
        try throwIfClosed(asking: endpoint.path)
        let (_, body, path) = try creationBody(draft)
        guard let outbox else { return nil }
        return PreparedRecordChange(description, for: outbox, writes: [try write(body, to: path)])
    }

    /// Finds out whether an identifier is the pending one of an entity whose creation another instance has delivered.
    ///
    /// - Returns: whether it is. Then the entity is found by this identifier from now on.
    /// - Throws: a ``RecordStoreError`` if the store cannot tell.
    func learnIdentity(of id: Entity.ID) async throws(RecordStoreError) -> Bool {
        let (_, isCreated, isDelivered) = pending.identity(of: id)
        guard let store, !isCreated, !isDelivered, let current = try await store.identity(of: id) else { return false }
        return pending.learn(current, of: id)
    }

    /// Finds out, before a read, whether an identifier is a pending one. If the store cannot tell, it is not.
    func learnIdentityToRead(_ id: Entity.ID) async -> Bool {
        do throws(RecordStoreError) {
            return try await learnIdentity(of: id)
        } catch {
            store?.report(error)
            return false
        }
    }

    /// Finds out, before a write, whether an identifier is a pending one, unless it names an entity in memory. Otherwise, the write
    /// could go to an address that the upstream does not have, and a deletion would seem to succeed.
    func learnIdentityToWrite(_ id: Entity.ID, through outbox: any RepositoryOutbox) async throws(RepositoryError) {
        func isUnknown() -> Bool {
            pending.subject(of: id) == nil && !pending.identity(of: id).isDelivered && cachedVersion(of: id) == nil
        }
        guard store?.hasIdentities == true, isUnknown() else { return }
        do throws(RecordStoreError) {
            // In this order: the commit that settles the creation stores the identifier.
            try await outbox.showPending()
            if isUnknown() { _ = try await learnIdentity(of: id) }
        } catch {
            throw RepositoryError(error, request: source.upstream.description(of: endpoint.onePath(id)))
        }
    }

    private func creating(at path: [String]) -> String {
        DataRequest(method: .post, url: source.upstream.address(of: path)).description
    }

    private func write(_ body: [UInt8], to path: [String]) throws(RepositoryError) -> OutboxWrite {
        guard let path = endpoint.creationPath(of: body) else {
            throw RepositoryError(
                .refused,
                request: creating(at: path),
                explanation: "was not sent: its path has a component that an outbox cannot store"
            )
        }
        // A new resource has no identifier yet, so its subject is unique.
        let subject: RecordKey = [endpoint.name, "new", String(chance().bitPattern, radix: 16)]
        return OutboxWrite(
            endpoint: endpoint.name,
            subject: subject,
            method: .post,
            path: path,
            body: body,
            contentType: endpoint.format.mediaType
        )
    }

    private func creationBody(
        _ draft: some Encodable
    ) throws(RepositoryError) -> (creation: Creation<Entity>, body: [UInt8], path: [String]) {
        func refusal(_ cause: String) -> RepositoryError {
            RepositoryError(.refused, request: creating(at: endpoint.path), explanation: "was not sent: \(cause)")
        }
        guard let creation = endpoint.creation else { throw refusal("its endpoint declares no creation") }
        let body: [UInt8]
        do {
            body = Array(try endpoint.format.encode(draft))
        } catch {
            throw refusal("the draft cannot be encoded")
        }
        guard let creationPath = creation.path else { return (creation, body, endpoint.path) }
        guard let path = creationPath(body, endpoint.format) else { throw refusal("the draft has another type") }
        return (creation, body, path)
    }

    private func send(
        _ body: [UInt8],
        to path: [String],
        _ creation: Creation<Entity>
    ) async throws(RepositoryError) -> Reading<Entity> {
        let upstream = source.upstream
        let count = cache.changeCountElsewhere
        let request = upstream.request(
            .post,
            to: try upstream.url(of: path, []),
            accept: endpoint.format.mediaType,
            body: (Data(body), endpoint.format.mediaType)
        )
        do throws(RepositoryError) {
            let (created, validator) = try await upstream.write(request) { answer throws(FieldError) in
                (try creation.created(body, answer.body, endpoint.format), Validator(answer.headerFields))
            }
            keep(created, validator, since: count)
            // Remove outdated records from the store now, so that a later process does not find them if this one is killed.
            await flush()
            return Reading(created, origin: .upstream)
        } catch {
            // The upstream may have created the entity, which may belong in any list.
            let mayBeCreated = [.outcomeUnknown, .cancelled].contains(error.reason)
            if mayBeCreated { change([endpoint.name]) { memory, _ in memory.forgetLists() } }
            await flush()
            throw error
        }
    }

    /// Caches an entity that was just written. Responses to requests in flight, which may be older, do not replace it.
    ///
    /// If other instances have announced anything since they had announced a number of changes, one of them may have written a
    /// later version, so the entity is not cached.
    func keep(_ entity: Entity, _ validator: Validator?, since count: Int?, isAnnounced: Bool = false) {
        let byteCount = endpoint.byteCount(of: entity)
        change(endpoint.key(of: entity.id), isAnnounced) { [timer] memory, countNow in
            guard count == countNow else { return memory.forget(entity.id, inStore: !isAnnounced) }
            memory.write(
                entity,
                time: timer.now,
                byteCount: byteCount,
                validator: validator,
                inStore: !isAnnounced
            )
        }
    }

    /// Caches that an entity was just deleted, unless other instances have announced anything since they had announced a number of
    /// changes.
    func keepAbsence(of id: Entity.ID, since count: Int?, isAnnounced: Bool = false) {
        change(endpoint.key(of: id), isAnnounced) { [timer] memory, countNow in
            guard count == countNow else { return memory.forget(id, inStore: !isAnnounced) }
            memory.writeAbsence(of: id, time: timer.now, inStore: !isAnnounced)
        }
    }

    /// Removes an outdated entity from the caches. With `nil`, removes every list.
    func forget(_ id: Entity.ID?, isAnnounced: Bool = false) {
        // If instances share the store, the commit that announces the change has removed the records, and none of them stores
        // older ones.
        let inStore = !isAnnounced || store?.isShared != true
        change(id.map(endpoint.key) ?? [endpoint.name], isAnnounced) { memory, _ in
            if let id { memory.forget(id, inStore: inStore) } else { memory.forgetLists(inStore: inStore) }
        }
    }

    /// Changes the cache because of a write. Without an outbox, also changes the caches of the peers. An outbox notifies them
    /// itself.
    ///
    /// - Parameters:
    ///   - key: The key of the change.
    ///   - isAnnounced: Whether a commit changes the store and announces the key to other instances, as the settlement of a
    ///     write does.
    ///   - change: Changes a memory cache. Takes the number of changes that other instances have announced so far.
    func change(
        _ key: RecordKey,
        _ isAnnounced: Bool = false,
        _ change: (EntityMemory<Entity>, _ changeCountElsewhere: Int) -> Void
    ) {
        cache.change(everywhere: outbox == nil, announcing: isAnnounced ? nil : key, change)
    }
}

extension RepositoryError {
    /// Creates the error of a failed store operation, such as accepting a write.
    init(_ error: RecordStoreError, request: String, _ event: String = "was not accepted") {
        let reason: Reason =
            switch error.reason {
            case .cancelled: .cancelled
            case .closed: .closed
            case .outcomeUnknown: .outcomeUnknown
            case .full, .denied, .busy, .conflict, .unavailable: .unavailable
            }
        let cause = error.explanation.hasSuffix(".") ? error.explanation.dropLast() : error.explanation[...]
        self.init(
            reason,
            request: request,
            explanation: "\(event): \(cause)",
            canRetry: [.busy, .conflict, .full, .unavailable].contains(error.reason)
        )
    }
}
