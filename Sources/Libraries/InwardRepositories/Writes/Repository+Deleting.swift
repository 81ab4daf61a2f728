public import InwardCore
import InwardFetching

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension Repository {
    /// Deletes an entity. Deleting an entity that does not exist succeeds.
    ///
    /// ```swift
    /// try await comments.delete(7)
    /// ```
    ///
    /// Without an outbox, the deletion is sent immediately. With an outbox, it has been accepted when this method returns, and
    /// reads no longer find the entity. If the upstream refuses the deletion, they find it again. As with ``update(_:_:)``, the
    /// request names the entity tag of the version that was read.
    ///
    /// - Parameter id: The identifier. For a created entity, either the pending identifier or the upstream's.
    /// - Throws: a ``WriteError``: `conflict` if the upstream has another version; `failed` with `outcomeUnknown` if the
    ///   deletion was sent and the upstream may have done it.
    public func delete(_ id: Entity.ID) async throws(WriteError<Entity>) {
        do throws(RepositoryError) {
            try throwIfClosed(asking: endpoint.onePath(id))
            try throwUnlessDeletable(id)
            if let outbox {
                // Loads the entity tag from the store, if the entity is cached.
                _ = try? await entity(id, .cacheOnly)
                let known = cachedVersion(of: pending.currentID(id))?.entityTag
                try await accept(id, into: outbox) { current throws(RepositoryError) in
                    (EditRequest.deletion, cachedVersion(of: current)?.entityTag ?? known)
                }
                return
            }
        } catch {
            throw .failed(error)
        }
        try await sendDeletion(of: id)
    }

    /// Deletes an entity if a condition holds for its current version, with its pending writes applied.
    ///
    /// ```swift
    /// try await comments.delete(7) { $0.body == "Well said." }
    /// ```
    ///
    /// Of several concurrent calls of this method and of ``update(_:_:)``, each sees the result of those before it. The condition
    /// guards against writes of this repository, and of those that share its outbox. If the upstream has entity tags, the tag in the
    /// request guards against all others.
    ///
    /// - Parameters:
    ///   - id: The identifier. For a created entity, either the pending identifier or the upstream's.
    ///   - condition: Returns whether this version may be deleted. It may be called several times.
    /// - Throws: a ``WriteError``: `conflict` if the condition does not hold, or if the upstream has another version; `failed` with
    ///   `notFound` if there is no such entity, or with `outcomeUnknown` if the deletion was sent and the upstream may have done it.
    public func delete(
        _ id: Entity.ID,
        if condition: @Sendable (Entity) -> Bool
    ) async throws(WriteError<Entity>) {
        var other: Entity?
        do throws(RepositoryError) {
            try throwIfClosed(asking: endpoint.onePath(id))
            try throwUnlessDeletable(id)
            if let outbox {
                var isOutdated: Bool
                repeat {
                    let base = try await currentBase(of: id)
                    let wasCached = cachedVersion(of: base.entity.id) != nil
                    isOutdated = false
                    try await accept(id, into: outbox) { current throws(RepositoryError) in
                        other = nil
                        let cached = cachedVersion(of: current)
                        // Another instance has changed the entity, or an earlier write was settled, in the meantime.
                        isOutdated = cached == nil && (wasCached || current != base.entity.id)
                        if isOutdated { return nil }
                        let before = cached ?? base
                        let version = pending.version(current, over: .entity(before.entity)) ?? .entity(before.entity)
                        guard let entity = version.entity else {
                            throw refusal(of: id, "was not sent: its deletion is pending", .notFound)
                        }
                        guard condition(entity) else {
                            other = entity
                            return nil
                        }
                        return (EditRequest.deletion, before.entityTag)
                    }
                } while isOutdated
            } else {
                let current = try await currentBase(of: id).entity
                if !condition(current) { other = current }
            }
        } catch {
            throw .failed(error)
        }
        if let other { throw .conflict(unexpected(other)) }
        if outbox == nil { try await sendDeletion(of: id, if: condition) }
    }

    /// Returns the conflict of a version that the caller does not want to delete.
    private func unexpected(_ theirs: Entity) -> WriteConflict<Entity> {
        let refusal = refusal(of: theirs.id, "was not sent: it is not the version that may be deleted", .conflict)
        return WriteConflict(mine: nil, theirs: theirs, refusal: refusal)
    }

    /// Prepares the deletion of an entity for a ``RecordUnitOfWork``.
    ///
    /// ```swift
    /// let change = try await comments.prepareDeletion(of: 7, "the deletion of a comment")
    /// ```
    ///
    /// - Parameters:
    ///   - id: The identifier.
    ///   - description: The change as a noun phrase for messages, such as `the deletion of a comment`.
    /// - Returns: the change, or `nil` if the repository has no outbox.
    /// - Throws: a `RepositoryError` if the deletion cannot be sent.
    public func prepareDeletion(
        of id: Entity.ID,
        _ description: String
    ) async throws(RepositoryError) -> PreparedRecordChange? {
        try throwIfClosed(asking: endpoint.onePath(id))
        try throwUnlessDeletable(id)
        guard let outbox else { return nil }
        try await learnIdentityToWrite(id, through: outbox)
        let current = pending.currentID(id)
        let write = try write(current, .deletion, cachedVersion(of: current)?.entityTag)
        return PreparedRecordChange(description, for: outbox, writes: [write])
    }

    private func throwUnlessDeletable(_ id: Entity.ID) throws(RepositoryError) {
        guard endpoint.editing?.allowsDeletion != true else { return }
        throw refusal(of: id, "was not sent: its endpoint declares no deletions")
    }

    // MARK: Without an outbox

    private func sendDeletion(
        of id: Entity.ID,
        if condition: (Entity) -> Bool = { _ in true }
    ) async throws(WriteError<Entity>) {
        // Loads the entity tag from the store, if the entity is cached.
        _ = try? await entity(id, .cacheOnly)
        let cached = cachedVersion(of: id)
        if let cached, !condition(cached.entity) { throw .conflict(unexpected(cached.entity)) }
        var entityTag = cached?.entityTag
        var attempt = 0
        while true {
            attempt += 1
            let count = cache.changeCountElsewhere
            do throws(RepositoryError) {
                try await write(id, .deletion, entityTag) { _ in }
                keepAbsence(of: id, since: count)
                return await flush()
            } catch {
                if error.reason == .notFound {
                    keepAbsence(of: id, since: count)
                    return await flush()
                }
                let conflict = try await conflict(of: id, mine: nil, behind: error)
                guard let theirs = conflict.versions.theirs else { return }
                guard condition(theirs) else { throw .conflict(conflict.versions) }
                if let entityTag, entityTag == conflict.entityTag { throw .failed(error) }
                guard attempt < WriteConflict<Entity>.maximumAttempts else { throw .conflict(conflict.versions) }
                switch endpoint.editing?.rule {
                case .theirs?: return
                case .mine?: entityTag = conflict.entityTag
                case .merge(let merge)?:
                    guard let merged = merge(conflict.versions) else { throw .conflict(conflict.versions) }
                    _ = try await update(id) { $0 = merged }
                    return
                case .ask?, nil: throw .conflict(conflict.versions)
                }
            }
        }
    }
}
