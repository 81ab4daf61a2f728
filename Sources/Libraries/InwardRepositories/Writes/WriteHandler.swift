import InwardCore
import InwardFetching

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The operations of a ``WriteHandler`` on the caches of its repository.
struct WriteEffects<Entity: Identifiable & Sendable>: Sendable {
    /// Ensures that the caches keep no older results after the settlement of a write is committed. Takes the identifier of the
    /// written entity, or `nil` if it is not known, and the idempotency key of the write. Returns whether no other instance has
    /// announced a change since the settlement began.
    let prepare: @Sendable (Entity.ID?, String) async throws(RecordStoreError) -> Bool
    /// Caches the entity that the write with an idempotency key has changed, with the validator of the response, unless another
    /// instance has announced a change since the settlement began.
    let keep: @Sendable (Entity, Validator?, String) -> Void
    /// Caches that the write with an idempotency key has deleted an entity, unless another instance has announced a change since
    /// the settlement began.
    let keepAbsence: @Sendable (Entity.ID, String) -> Void
    /// Removes an outdated entity from the caches. With `nil`, removes every list, because any of them may have changed.
    let forget: @Sendable (Entity.ID?) -> Void
    /// Ends the settlement of the write with an idempotency key.
    let end: @Sendable (String) -> Void
    /// Returns the cached version of an entity.
    let cached: @Sendable (Entity.ID) -> EntityVersion<Entity>?
    /// Returns the upstream's version of an entity and its entity tag, or `nil` if the entity does not exist.
    let current: @Sendable (Entity.ID) async throws(RepositoryError) -> EntityVersion<Entity>?
}

/// The outbox handler of a repository: shows its writes as pending, and caches their results when they are settled.
struct WriteHandler<Entity: Identifiable & Sendable>: OutboxHandler
where Entity.ID: Sendable & LosslessStringConvertible {
    let entities: Endpoint<Entity>
    let pending: PendingLayer<Entity>
    let store: EntityStore<Entity>?
    let effects: WriteEffects<Entity>

    var endpoint: String { entities.name }

    private var listPath: String { entities.path.joined(separator: "/") }

    var operations: [OutboxOperation] {
        var operations: [OutboxOperation] = []
        if let creation = entities.creation {
            // Only for messages, because the draft decides which list it is sent to.
            operations.append(OutboxOperation(.post, creation.path == nil ? listPath : "{parent}/\(listPath)"))
        }
        guard let editing = entities.editing else { return operations }
        if let update = editing.update { operations.append(OutboxOperation(update.method, "\(listPath)/*")) }
        if editing.allowsDeletion { operations.append(OutboxOperation(.delete, "\(listPath)/*")) }
        return operations
    }

    func declares(_ write: OutboxWrite) -> Bool {
        // Without making the ``operations``, because each write is checked several times.
        switch write.method {
        case .post:
            return entities.creation != nil && write.path == entities.creationPath(of: write.body ?? [])
        case .delete: guard entities.editing?.allowsDeletion == true else { return false }
        default: guard entities.editing?.update?.method == write.method else { return false }
        }
        if write.entityID == nil { return write.path == listPath }
        return write.entityID.flatMap { Entity.ID($0) }.flatMap(entities.outboxPath) == write.path
    }

    // MARK: Showing

    func reset(to entries: [OutboxEntry]) {
        var ids: [RecordKey: Entity.ID] = [:]
        let writes = entries.compactMap { entry in
            let write = write(entry) { ids[entry.write.subject] }
            if entry.write.method == .post { ids[entry.write.subject] = write?.id }
            return write
        }
        // Another process has settled the removed writes, or will settle them. The cached entities may be older than that, so
        // forget them.
        for write in pending.reset(to: writes) {
            if case .created = write.effect { effects.forget(nil) } else { effects.forget(write.id) }
            effects.end(write.key)
        }
    }

    func accepted(_ entries: [OutboxEntry]) {
        for entry in entries {
            // One at a time, because an entry may change the entity that an earlier one creates.
            if let write = write(entry, { pending.id(createdIn: entry.write.subject) }) { pending.add(write) }
        }
    }

    func revised(_ entries: [OutboxEntry]) {
        for entry in entries {
            if let write = write(entry, { pending.id(createdIn: entry.write.subject) }) { pending.replace(write) }
        }
    }

    /// Returns the pending write of an entry, or `nil` if it cannot be shown.
    private func write(_ entry: OutboxEntry, _ createdID: () -> Entity.ID?) -> PendingLayer<Entity>.Write? {
        let body = Data(entry.write.body ?? [])
        let effect: PendingLayer<Entity>.Effect?
        switch entry.write.method {
        case .post:
            effect = entities.creation?.pending(Array(body), entry.pendingNumber, entities.format).map { .created($0) }
        case .put where !entry.write.isPatch:
            effect = (try? entities.decodeStored(body)).map { .replaced($0) }
        case .put, .patch: effect = MergePatch(body).map { .patched($0) }
        default: effect = .deleted
        }
        guard let effect else { return nil }
        let id: Entity.ID? =
            if case .created(let entity) = effect {
                entity.id
            } else {
                entry.write.entityID.map { Entity.ID($0) } ?? createdID()
            }
        return id.map { .init(key: entry.idempotencyKey, id: $0, subject: entry.write.subject, effect: effect) }
    }

    /// Returns the identifier of the entity that an entry changes, or `nil` if it is not known.
    private func id(of entry: OutboxEntry) -> Entity.ID? {
        guard let name = entry.write.entityID else { return pending.id(createdIn: entry.write.subject) }
        return Entity.ID(name)
    }

    // MARK: Sending

    func preparation(of entry: OutboxEntry) async throws(RecordStoreError) -> OutboxPreparation {
        guard entry.write.method != .post else { return .ready }
        var write = entry.write
        // This entry is the first of its subject, so any creation of the entity has been settled.
        guard let id = id(of: entry), let path = entities.outboxPath(of: id) else {
            return .refused(
                refusal(of: entry, "the identifier of its entity is not known: retry it together with the creation")
            )
        }
        if write.entityID == nil { write = write.addressed(to: id.description, path, nil) }
        if write.version == .previousWrite {
            write = write.made(for: (effects.cached(id)?.entityTag).map { .entityTag($0) } ?? .any)
        }
        if write.method == .put, write.isPatch {
            // The patch becomes a record of the version that the write is for.
            let version = try await version(of: id, write.version)
            guard let version, let patch = MergePatch(Data(write.body ?? [])),
                let entity = entities.patched(version.entity, by: patch), let body = try? entities.encode(entity)
            else {
                return .refused(refusal(of: entry, "the update cannot be applied to the upstream's version"))
            }
            write = write.recorded(body, contentType: entities.format.mediaType)
            if write.version == .any, let entityTag = version.entityTag {
                write = write.made(for: .entityTag(entityTag))
            }
        }
        return write == entry.write ? .ready : .revised(write)
    }

    private func refusal(of entry: OutboxEntry, _ cause: String) -> RepositoryError {
        RepositoryError(
            .refused,
            request: "\(entry.write.method) \(entry.write.path)",
            explanation: "was not sent: \(cause)"
        )
    }

    /// Returns the cached version of an entity if a write is for that version, and otherwise the upstream's.
    private func version(
        of id: Entity.ID,
        _ wanted: OutboxWrite.Version
    ) async throws(RecordStoreError) -> EntityVersion<Entity>? {
        if let cached = effects.cached(id) {
            switch wanted {
            case .entityTag(let tag): if cached.entityTag == tag { return cached }
            case .any, .previousWrite: return cached
            }
        }
        return try await current(id)
    }

    /// Returns the upstream's version of an entity, or `nil` if it does not exist there.
    private func current(_ id: Entity.ID) async throws(RecordStoreError) -> EntityVersion<Entity>? {
        do throws(RepositoryError) {
            return try await effects.current(id)
        } catch {
            throw RecordStoreError(.unavailable, explanation: "The upstream's version cannot be read: \(error).")
        }
    }

    func resolution(
        of entry: OutboxEntry,
        because error: RepositoryError
    ) async throws(RecordStoreError) -> OutboxResolution? {
        let write = entry.write
        guard let editing = entities.editing, write.method != .post, let id = id(of: entry) else { return nil }
        // The version that the update was made from, to show it if the upstream has deleted the entity.
        let base = effects.cached(id)?.entity
        guard let theirs = try await current(id) else {
            if case .theirs = editing.rule { return .dropped(.any) }
            return write.method == .delete ? .dropped(.any) : unresolved(result(of: write, over: base), nil)
        }
        let mine = result(of: write, over: theirs.entity)
        let version: OutboxWrite.Version = theirs.entityTag.map { .entityTag($0) } ?? .any
        // The same record: an earlier attempt succeeded, and its response was lost.
        if let mine, entities.isSame(mine, theirs.entity) { return .dropped(version) }
        // The upstream still has the version that the write is for, so this is not a conflict of versions.
        let isSameVersion = theirs.entityTag != nil && version == write.version
        if isSameVersion { return .refused }
        let unresolved = unresolved(mine, theirs)
        guard write.revision < WriteConflict<Entity>.maximumAttempts else { return unresolved }
        switch editing.rule {
        case .ask: return unresolved
        case .theirs: return .dropped(version)
        case .mine: return .revised(write.revised(for: theirs.entityTag))
        case .merge(let merge):
            let conflict = WriteConflict(mine: mine, theirs: theirs.entity, refusal: error)
            guard let merged = merge(conflict), merged.id == id else { return unresolved }
            do {
                guard let update = try entities.update(from: theirs.entity, to: merged) else {
                    return .dropped(version)
                }
                return .revised(write.revised(for: theirs.entityTag, update))
            } catch {
                return unresolved
            }
        }
    }

    /// Returns the entity after a write, or `nil` if the write deletes it or the result is not known.
    private func result(of write: OutboxWrite, over base: Entity?) -> Entity? {
        let body = Data(write.body ?? [])
        return switch write.method {
        case .put: try? entities.decodeStored(body)
        case .patch: MergePatch(body).flatMap { patch in base.flatMap { entities.patched($0, by: patch) } }
        default: nil
        }
    }

    /// Returns the resolution that keeps both versions in a dead letter until the caller decides.
    private func unresolved(_ mine: Entity?, _ theirs: EntityVersion<Entity>?) -> OutboxResolution {
        do {
            let conflict = OutboxConflict(
                mine: try mine.map { Array(try entities.encode($0)) },
                theirs: try theirs.map { Array(try entities.encode($0.entity)) },
                entityTag: theirs?.entityTag
            )
            return .conflict(conflict)
        } catch {
            return .refused
        }
    }

    // MARK: Settling

    func delivered(
        _ entry: OutboxEntry,
        answer: DataResponse,
        before later: LaterEntries
    ) async throws(RecordStoreError) -> OutboxSettlement {
        guard answer.fallbackReason == nil else {
            return try await settlement(of: entry, nil, problem: "is a fallback and not the upstream's")
        }
        let validator = Validator(answer.headerFields)
        guard entry.write.method != .post else { return try await created(by: entry, answer, validator, later) }
        guard let id = id(of: entry) else { return try await settlement(of: entry, nil) }
        if entry.write.method == .delete {
            return try await settlement(
                of: entry,
                id,
                changes: removal(of: id),
                revised: later.first(madeFor: .any)
            ) { effects.keepAbsence(id, entry.idempotencyKey) }
        }
        let revised = later.first(madeFor: (validator?.entityTag).map { .entityTag($0) } ?? .any)
        guard let entity = updated(id, by: entry, answer) else {
            return try await settlement(of: entry, id, changes: removal(of: id), revised: revised) {
                effects.forget(id)
            }
        }
        return try await settlement(of: entry, id, changes: keeping(entity, validator), revised: revised) {
            effects.keep(entity, validator, entry.idempotencyKey)
        }
    }

    func refused(
        _ entry: OutboxEntry,
        because error: RepositoryError,
        before later: LaterEntries
    ) async throws(RecordStoreError) -> OutboxSettlement {
        let key = entry.idempotencyKey
        // The next write now changes the version that this write was made for. If that is the result of the previous write,
        // the next write already says so.
        let revised = entry.write.version == .previousWrite ? [] : later.first(madeFor: entry.write.version)
        if entry.write.method == .post {
            guard error.reason == .outcomeUnknown else {
                return OutboxSettlement {
                    pending.remove(key)
                    effects.end(key)
                }
            }
            // The upstream may have created the entity, which may belong in any list.
            return try await settlement(of: entry, nil)
        }
        guard [.conflict, .notFound, .outcomeUnknown].contains(error.reason), let id = id(of: entry) else {
            return OutboxSettlement(revised: revised) {
                pending.remove(key)
                effects.end(key)
            }
        }
        return try await settlement(of: entry, id, changes: removal(of: id), revised: revised) { effects.forget(id) }
    }

    private func created(
        by entry: OutboxEntry,
        _ answer: DataResponse,
        _ validator: Validator?,
        _ later: LaterEntries
    ) async throws(RecordStoreError) -> OutboxSettlement {
        let entity: Entity
        do throws(FieldError) {
            guard let creation = entities.creation else { throw FieldError(nil, "is for an endpoint without creation") }
            entity = try creation.created(entry.write.body ?? [], answer.body, entities.format)
        } catch {
            return try await settlement(of: entry, nil, problem: "cannot be used: \(error)")
        }
        // The writes that wait for the creation get the created identifier. The first of them is for the created version.
        var version: OutboxWrite.Version? = (validator?.entityTag).map { .entityTag($0) } ?? .any
        let revised = later.all.compactMap { entry -> OutboxEntry? in
            guard entry.write.method != .post, entry.write.entityID == nil,
                let path = entities.outboxPath(of: entity.id)
            else { return nil }
            defer { version = nil }
            return entry.revised(to: entry.write.addressed(to: entity.id.description, path, version))
        }
        return try await settlement(
            of: entry,
            entity.id,
            changes: keeping(entity, validator),
            identity: identity(entity.id, of: entry),
            revised: revised,
            createdID: entity.id
        ) { effects.keep(entity, validator, entry.idempotencyKey) }
    }

    /// Returns the entity after an update, or `nil` if it is not known.
    private func updated(_ id: Entity.ID, by entry: OutboxEntry, _ answer: DataResponse) -> Entity? {
        if !answer.body.isEmpty {
            guard let entity = try? entities.decodeOne(answer.body), entity.id == id else { return nil }
            return entity
        }
        let body = Data(entry.write.body ?? [])
        guard entry.write.method == .patch else { return try? entities.decodeStored(body) }
        // The result of a patch is known only if the patched version is cached.
        guard let cached = effects.cached(id), let tag = cached.entityTag, entry.write.version == .entityTag(tag) else {
            return nil
        }
        return MergePatch(body).flatMap { entities.patched(cached.entity, by: $0) }
    }

    private func keeping(_ entity: Entity, _ validator: Validator?) -> [RecordChange] {
        store.map { [$0.keep(entity, age: .zero, validator), $0.removeLists] } ?? []
    }

    /// Returns the change that tells other instances the identifier of a created entity. Returns no change for an `Outbox`, because
    /// it reuses pending identifiers.
    private func identity(_ id: Entity.ID, of entry: OutboxEntry) -> [RecordChange] {
        guard entry.pendingNumber != entry.sequence else { return [] }
        let draft = entities.creation?.pending(entry.write.body ?? [], entry.pendingNumber, entities.format)
        return draft.flatMap { store?.keepIdentity(id, of: $0.id) } ?? []
    }

    private func removal(of id: Entity.ID) -> [RecordChange] { store.map { [$0.remove(id), $0.removeLists] } ?? [] }

    /// Returns the settlement of a write of an entity. With `nil`, the write may have changed any list.
    private func settlement(
        of entry: OutboxEntry,
        _ id: Entity.ID?,
        changes: [RecordChange]? = nil,
        identity: [RecordChange] = [],
        problem: String? = nil,
        revised: [OutboxEntry] = [],
        createdID: Entity.ID? = nil,
        _ keep: (@Sendable () -> Void)? = nil
    ) async throws(RecordStoreError) -> OutboxSettlement {
        let key = entry.idempotencyKey
        let isLast = try await effects.prepare(id, key)
        // Another instance may have changed the entity after the upstream's answer.
        let changes = isLast ? changes : id.map(removal) ?? changes
        let announcement = store?.announcement(of: id.map(entities.key) ?? [entities.name]) ?? []
        return OutboxSettlement(
            (changes ?? store.map { [$0.removeLists] } ?? []) + identity + announcement,
            problem: problem,
            revised: revised
        ) { [pending, effects] in
            pending.remove(key, as: createdID) {
                if let keep { keep() } else { effects.forget(nil) }
                effects.end(key)
            }
        }
    }
}

extension Endpoint {
    /// Returns the path of an entity for a write in an outbox, or `nil` if an outbox cannot store one of its components.
    func outboxPath(of id: Entity.ID) -> String? { outboxPath(onePath(id)) }

    /// Returns the path for a draft in an outbox, or `nil` if the bytes are not a draft or an outbox cannot store the path.
    func creationPath(of body: [UInt8]) -> String? {
        guard let path = creation?.path else { return path.joined(separator: "/") }
        return path(body, format).flatMap(outboxPath)
    }

    private func outboxPath(_ components: [String]) -> String? {
        let path = components.joined(separator: "/")
        let write = OutboxWrite(endpoint: name, subject: [], path: path)
        let isPossible =
            OutboxOperation(.post, path).matches(write) && !components.contains { $0.utf8.contains(UInt8(ascii: "/")) }
        return isPossible ? path : nil
    }
}

extension Editing.Update {
    fileprivate var method: DataRequest.Method { self == .put ? .put : .patch }
}

extension LaterEntries {
    /// If the first entry is for the version that the settled write produces, returns it with that version filled in. Otherwise
    /// returns no entry.
    fileprivate func first(madeFor version: OutboxWrite.Version) -> [OutboxEntry] {
        guard let first = all.first, first.write.version == .previousWrite else { return [] }
        return [first.revised(to: first.write.made(for: version))]
    }
}
