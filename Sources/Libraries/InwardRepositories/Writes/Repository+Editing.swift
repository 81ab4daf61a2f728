public import InwardCore
import InwardFetching

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension Repository {
    /// Updates an entity.
    ///
    /// ```swift
    /// let updated = try await comments.update(7) { $0.body = "Very well said." }
    /// print(updated.value.body, updated.isPending)
    /// ```
    ///
    /// Without an outbox, the update is sent immediately. It is sent again only if a ``ConflictRule`` says so.
    ///
    /// With an outbox, the update has been accepted when this method returns: it is as durable as the outbox's store. The
    /// outbox delivers it after the earlier writes of the entity. Until the upstream has answered, reads show the updated
    /// entity as pending. If the upstream refuses the update, they show the previous version again. You can also update an
    /// entity whose creation is pending.
    ///
    /// The request names the entity tag of the version that was read, if it has one. If the upstream has another version by
    /// then, it refuses the update, and the ``ConflictRule`` of the endpoint decides. Entities that were read in a list have no
    /// tag. To detect conflicts, read the entity alone before you update it.
    ///
    /// - Parameters:
    ///   - id: The identifier. For a created entity, either the pending identifier or the upstream's.
    ///   - change: Changes the entity, but not its identifier. It may be called several times.
    /// - Returns: a reading of the updated entity.
    /// - Throws: a ``WriteError``: `conflict` if the upstream has another version; `failed` with `notFound` if there is no such
    ///   entity, or with `outcomeUnknown` if the update was sent and the upstream may have done it.
    @discardableResult
    public func update(
        _ id: Entity.ID,
        _ change: @Sendable (inout Entity) -> Void
    ) async throws(WriteError<Entity>) -> Reading<Entity> {
        var base: EntityVersion<Entity>
        do throws(RepositoryError) {
            base = try await versionToUpdate(id)
            if let outbox {
                while true {
                    if let reading = try await accept(base, change, into: outbox) { return reading }
                    // Another instance has changed or created the entity in the meantime.
                    base = try await versionToUpdate(id)
                }
            }
        } catch {
            throw .failed(error)
        }
        return try await send(base, change)
    }

    /// Prepares the update of an entity for a ``RecordUnitOfWork``.
    ///
    /// ```swift
    /// let change = try await comments.prepareUpdate(of: 7, "the correction of a comment") { $0.body = "Very well said." }
    /// ```
    ///
    /// In JSON, the update contains only the fields that change, and is applied to the version that exists when it is sent. In
    /// another format, a `PUT` contains the whole record, and overwrites changes that are made between now and the commit.
    ///
    /// - Parameters:
    ///   - id: The identifier.
    ///   - description: The change as a noun phrase for messages, such as `the update of a profile`.
    ///   - change: Changes the entity, but not its identifier.
    /// - Returns: the change, or `nil` if the repository has no outbox or nothing changes.
    /// - Throws: a `RepositoryError` if the update cannot be made.
    public func prepareUpdate(
        of id: Entity.ID,
        _ description: String,
        _ change: @Sendable (inout Entity) -> Void
    ) async throws(RepositoryError) -> PreparedRecordChange? {
        let base = try await versionToUpdate(id)
        let isPatch = endpoint.format.mediaType == JSONFormat.mediaType
        guard let outbox, let (request, entityTag, _) = try update(base.entity.id, from: base, isPatch: isPatch, change)
        else { return nil }
        return PreparedRecordChange(description, for: outbox, writes: [try write(base.entity.id, request, entityTag)])
    }

    /// Returns the upstream's version of an entity, or `nil` if it does not exist there.
    func currentVersion(of id: Entity.ID) async throws(RepositoryError) -> EntityVersion<Entity>? {
        do throws(RepositoryError) {
            return try await source.fetchVersion(of: id, bypassingCaches: true)
        } catch {
            guard error.reason == .notFound else { throw error }
            return nil
        }
    }

    // MARK: Versions

    /// Reads the version of an entity to update.
    private func versionToUpdate(_ id: Entity.ID) async throws(RepositoryError) -> EntityVersion<Entity> {
        guard endpoint.editing?.update != nil else {
            throw refusal(of: id, "was not sent: its endpoint declares no updates")
        }
        return try await currentBase(of: id)
    }

    /// Reads the version of an entity that a write is based on, without its pending writes if it is cached.
    func currentBase(of id: Entity.ID) async throws(RepositoryError) -> EntityVersion<Entity> {
        let reading = try await entity(id)
        let current = reading.value.id
        if let cached = cachedVersion(of: current) { return cached }
        // The entity is neither cached nor pending, because memory had no room for it or it was a fallback. Fetch the
        // upstream's version.
        guard reading.isPending else { return try await source.fetchVersion(of: current, bypassingCaches: false) }
        return EntityVersion(entity: reading.value, entityTag: nil)
    }

    /// Returns the version of an entity in memory.
    func cachedVersion(of id: Entity.ID) -> EntityVersion<Entity>? {
        memory.entity(id).flatMap { kept in
            kept.value.map { EntityVersion(entity: $0, entityTag: kept.validator?.entityTag) }
        }
    }

    /// Returns the request that updates an entity with its pending writes applied, the entity tag to name, and the updated
    /// entity, or `nil` if nothing changes.
    private func update(
        _ id: Entity.ID,
        from base: EntityVersion<Entity>,
        isPatch: Bool = false,
        _ change: (inout Entity) -> Void
    ) throws(RepositoryError) -> (request: EditRequest, entityTag: String?, entity: Entity)? {
        let base = cachedVersion(of: id) ?? base
        let version = pending.version(id, over: .entity(base.entity)) ?? .entity(base.entity)
        guard let old = version.entity else {
            throw refusal(of: id, "was not sent: its deletion is pending", .notFound)
        }
        let isBehind = pending.subject(of: id) != nil && endpoint.format.mediaType == JSONFormat.mediaType
        return try update(from: old, isPatch: isPatch || isBehind || pending.isCreated(id), change).map {
            ($0.request, base.entityTag, $0.entity)
        }
    }

    func update(
        from old: Entity,
        isPatch: Bool = false,
        _ change: (inout Entity) -> Void
    ) throws(RepositoryError) -> (request: EditRequest, entity: Entity)? {
        var new = old
        change(&new)
        guard new.id == old.id else {
            throw refusal(of: old.id, "was not sent: an update cannot change the identifier")
        }
        do {
            // An entity that breaks one of its rules could be neither shown nor stored.
            _ = try endpoint.decodeStored(try endpoint.encode(new))
            return try endpoint.update(from: old, to: new, isPatch: isPatch).map { ($0, new) }
        } catch {
            throw refusal(of: old.id, "was not sent: \(FieldError(decoding: error))")
        }
    }

    func refusal(
        of id: Entity.ID,
        _ explanation: String,
        _ reason: RepositoryError.Reason = .refused
    ) -> RepositoryError {
        RepositoryError(
            reason,
            request: "The change of \(source.upstream.address(of: endpoint.onePath(id)).withoutSecrets)",
            explanation: explanation
        )
    }

    // MARK: With an outbox

    /// Adds an update to the outbox. Returns `nil` if the base is no longer cached, because another instance has changed it.
    private func accept(
        _ base: EntityVersion<Entity>,
        _ change: (inout Entity) -> Void,
        into outbox: any RepositoryOutbox
    ) async throws(RepositoryError) -> Reading<Entity>? {
        var updated: Entity?
        var isForgotten = false
        let wasCached = cachedVersion(of: base.entity.id) != nil
        let wasCreated = pending.isCreated(base.entity.id)
        try await accept(base.entity.id, into: outbox) { current throws(RepositoryError) in
            updated = nil
            let (_, isCreated, isDelivered) = pending.identity(of: base.entity.id)
            isForgotten =
                (wasCached || isDelivered && current != base.entity.id) && cachedVersion(of: current) == nil
            if isForgotten { return nil }
            if wasCreated, !isCreated, !isDelivered, cachedVersion(of: current) == nil {
                throw refusal(of: current, "was not sent: the creation of the entity was refused", .notFound)
            }
            guard let (request, entityTag, entity) = try update(current, from: base, change) else { return nil }
            updated = entity
            return (request, entityTag)
        }
        if isForgotten { return nil }
        if let updated { return Reading(updated, origin: .memory, isPending: true) }
        return try await entity(base.entity.id)
    }

    /// Adds a write to the outbox. While `make` runs, the pending writes of the entity do not change.
    ///
    /// - Parameters:
    ///   - id: The identifier.
    ///   - outbox: The outbox.
    ///   - letter: The ``OutboxItem/id`` of the dead letter that the write replaces, or `nil` for none.
    ///   - make: Returns the request and the entity tag to name, or `nil` if there is nothing to send.
    /// - Throws: a `RepositoryError` if nothing was accepted.
    func accept(
        _ id: Entity.ID,
        into outbox: any RepositoryOutbox,
        replacing letter: String? = nil,
        _ make: (Entity.ID) throws(RepositoryError) -> (request: EditRequest, entityTag: String?)?
    ) async throws(RepositoryError) {
        while true {
            try await learnIdentityToWrite(id, through: outbox)
            let subject = subject(of: pending.currentID(id))
            // Stays `nil` if the subject has changed, because the creation of the entity was settled in the meantime. Then try
            // again.
            var outcome: Result<Void, RepositoryError>?
            var isAsked = false
            func made() -> OutboxWrite? {
                (isAsked, outcome) = (true, nil)
                let current = pending.currentID(id)
                guard self.subject(of: current) == subject else { return nil }
                do throws(RepositoryError) {
                    outcome = .success(())
                    return try make(current).map { made throws(RepositoryError) in
                        try write(current, made.request, made.entityTag)
                    }
                } catch {
                    outcome = .failure(error)
                    return nil
                }
            }
            do throws(RecordStoreError) {
                try await outbox.accept(in: subject, replacing: letter, making: made)
            } catch {
                throw RepositoryError(error, request: source.upstream.description(of: endpoint.onePath(id)))
            }
            if let outcome { return try outcome.get() }
            guard isAsked else { throw resolvedAlready(id) }
        }
    }

    /// Returns the subject for a new write of an entity: that of its pending writes, so that the new one follows them.
    private func subject(of id: Entity.ID) -> RecordKey { pending.subject(of: id) ?? endpoint.key(of: id) }

    func write(
        _ id: Entity.ID,
        _ request: EditRequest,
        _ entityTag: String?
    ) throws(RepositoryError) -> OutboxWrite {
        let isCreated = pending.isCreated(id)
        guard let path = isCreated ? endpoint.path.joined(separator: "/") : endpoint.outboxPath(of: id) else {
            throw refusal(of: id, "was not sent: its path has a component that an outbox cannot store")
        }
        let isFirst = pending.subject(of: id) == nil
        return OutboxWrite(
            endpoint: endpoint.name,
            subject: subject(of: id),
            method: request.method,
            path: path,
            body: request.body.map { Array($0) },
            contentType: request.contentType,
            entityID: isCreated ? nil : id.description,
            version: isFirst ? entityTag.map { .entityTag($0) } ?? .any : .previousWrite
        )
    }

    // MARK: Without an outbox

    private func send(
        _ base: EntityVersion<Entity>,
        _ change: (inout Entity) -> Void
    ) async throws(WriteError<Entity>) -> Reading<Entity> {
        var entityTag = base.entityTag
        var made: (request: EditRequest, entity: Entity)
        do throws(RepositoryError) {
            guard let first = try update(from: base.entity, change) else {
                return Reading(base.entity, origin: .memory)
            }
            made = first
        } catch {
            throw .failed(error)
        }
        var attempt = 0
        while true {
            attempt += 1
            do throws(RepositoryError) {
                return Reading(try await send(made.request, made.entity, entityTag), origin: .upstream)
            } catch {
                let id = base.entity.id
                let conflict = try await conflict(of: id, mine: made.entity, behind: error)
                // The upstream still has the version that the write names, so this is not a conflict of versions.
                if let entityTag, entityTag == conflict.entityTag { throw .failed(error) }
                guard attempt < WriteConflict<Entity>.maximumAttempts, let theirs = conflict.versions.theirs else {
                    throw .conflict(conflict.versions)
                }
                switch endpoint.editing?.rule {
                case .theirs?: return Reading(theirs, origin: .upstream)
                case .mine?:
                    let patch = made.request.method == .patch ? made.request.body.flatMap { MergePatch($0) } : nil
                    made.entity = patch.flatMap { endpoint.patched(theirs, by: $0) } ?? made.entity
                case .merge(let merge)?:
                    guard let merged = merge(conflict.versions), merged.id == id else {
                        throw .conflict(conflict.versions)
                    }
                    do throws(RepositoryError) {
                        guard let next = try update(from: theirs, { $0 = merged }) else {
                            return Reading(theirs, origin: .upstream)
                        }
                        made = next
                    } catch {
                        throw .failed(error)
                    }
                case .ask?, nil: throw .conflict(conflict.versions)
                }
                entityTag = conflict.entityTag
            }
        }
    }

    /// Returns both versions in a conflict.
    ///
    /// - Throws: a ``WriteError`` if the error is not a conflict, or the upstream's version cannot be read.
    func conflict(
        of id: Entity.ID,
        mine: Entity?,
        behind error: RepositoryError
    ) async throws(WriteError<Entity>) -> (versions: WriteConflict<Entity>, entityTag: String?) {
        guard error.reason == .conflict else { throw .failed(error) }
        do throws(RepositoryError) {
            let theirs = try await currentVersion(of: id)
            return (WriteConflict(mine: mine, theirs: theirs?.entity, refusal: error), theirs?.entityTag)
        } catch {
            throw .failed(error)
        }
    }

    /// Sends an update, and returns the updated entity.
    private func send(
        _ request: EditRequest,
        _ entity: Entity,
        _ entityTag: String?
    ) async throws(RepositoryError) -> Entity {
        let id = entity.id
        let count = cache.changeCountElsewhere
        let answer = try await write(id, request, entityTag) { $0 }
        // Without an entity tag, a patch may have been applied to any version, so the result is not known.
        let isKnown = request.method == .put || entityTag != nil
        let written = answer.body.isEmpty ? (isKnown ? entity : nil) : try? endpoint.decodeOne(answer.body)
        if let written, written.id == id {
            keep(written, Validator(answer.headerFields), since: count)
        } else {
            // The upstream has done the update, but its new version is not known.
            forget(id)
        }
        // Remove outdated records from the store now, so that a later process does not find them if this one is killed.
        await flush()
        return written.flatMap { $0.id == id ? $0 : nil } ?? entity
    }

    func write<Written>(
        _ id: Entity.ID,
        _ request: EditRequest,
        _ entityTag: String?,
        _ decode: (DataResponse) -> Written
    ) async throws(RepositoryError) -> Written {
        let upstream = source.upstream
        var data = upstream.request(
            request.method,
            to: try upstream.url(of: endpoint.onePath(id), []),
            accept: endpoint.format.mediaType,
            body: request.body.map { ($0, request.contentType) }
        )
        data.headerFields[.ifMatch] = entityTag
        do throws(RepositoryError) {
            return try await upstream.write(data) { answer throws(FieldError) in decode(answer) }
        } catch {
            // The upstream may have another version by now.
            let isUncertain = [.outcomeUnknown, .cancelled, .conflict, .notFound, .unreadable].contains(error.reason)
            if isUncertain { change(endpoint.key(of: id)) { memory, _ in memory.forget(id) } }
            await flush()
            throw error
        }
    }
}
