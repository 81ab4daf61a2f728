public import InwardCore
import InwardFetching

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension Repository {
    /// Returns the unresolved conflicts of writes in the outbox, the oldest first.
    ///
    /// ```swift
    /// for conflict in try await comments.conflicts() {
    ///     print("Yours:", conflict.versions.mine?.body ?? "deleted")
    ///     print("Theirs:", conflict.versions.theirs?.body ?? "deleted")
    /// }
    /// ```
    ///
    /// The upstream refused these writes because it has another version, and the ``ConflictRule`` of the endpoint is
    /// ``ConflictRule/ask`` or has given up. The outbox's store keeps both versions, so they are available offline and after a
    /// restart. The outbox reports each new conflict to its error handler as a ``RefusedWriteError`` whose cause has the reason
    /// `conflict`.
    ///
    /// - Returns: the conflicts, or an empty array without an outbox. A conflict whose versions cannot be read is left out. It
    ///   remains among the dead letters in ``Outbox/contents()``.
    /// - Complexity: O(n) in the number of writes in the outbox.
    /// - Throws: a `RepositoryError` if the repository is closed, or the store cannot be read.
    public func conflicts() async throws(RepositoryError) -> [UnresolvedConflict<Entity>] {
        try throwIfClosed(asking: endpoint.path)
        guard let outbox else { return [] }
        let letters: [OutboxItem]
        do throws(RecordStoreError) {
            letters = try await outbox.contents().deadLetters
        } catch {
            throw RepositoryError(error, request: "The list of conflicts of \(endpoint.name)", "cannot be read")
        }
        return letters.compactMap(conflict(in:)).sorted { $0.refusedAt < $1.refusedAt }
    }

    /// Resolves a conflict of a write in the outbox.
    ///
    /// ```swift
    /// for conflict in try await comments.conflicts() {
    ///     try await comments.resolve(conflict, .mine)
    /// }
    /// ```
    ///
    /// With ``ConflictResolution/theirs``, the dead letter is discarded. Otherwise, a new write of the chosen entity replaces
    /// the dead letter in one commit, and reads show the entity as pending.
    ///
    /// In `If-Match`, the new write names the upstream's version that the conflict contains. If the upstream has changed the
    /// entity again, there is a new conflict between that change and the chosen entity. An upstream without entity tags accepts
    /// the write for any version.
    ///
    /// While other writes of the entity are pending, you can choose ``ConflictResolution/mine`` or
    /// ``ConflictResolution/merged(_:)`` only if those writes are based on the upstream's version in the conflict, like
    /// those of an earlier resolution. Otherwise, try again when they are delivered or refused.
    ///
    /// - Parameters:
    ///   - conflict: A conflict from ``conflicts()``.
    ///   - resolution: The version to keep. If it is the same as the upstream's, nothing is sent.
    /// - Complexity: O(n) in the number of writes in the outbox.
    /// - Throws: a `RepositoryError` if the conflict was not resolved. The reason is `notFound` if it was already resolved, or
    ///   if the entity is deleted at the upstream or its deletion is pending, so that the chosen version cannot be sent. It is
    ///   `unavailable` while other writes of the entity are pending, and `refused` if the chosen entity has another identifier
    ///   or breaks a rule.
    public func resolve(
        _ conflict: UnresolvedConflict<Entity>,
        _ resolution: ConflictResolution<Entity>
    ) async throws(RepositoryError) {
        // The caller's copy may be outdated, so use the stored conflict.
        guard let outbox, let conflict = try await conflicts().first(where: { $0.id == conflict.id }) else {
            throw resolvedAlready(conflict.entityID)
        }
        let id = conflict.entityID
        let chosen: Entity?
        switch resolution {
        case .theirs: return try await discard(conflict, from: outbox)
        case .mine where conflict.isDeletion: chosen = nil
        case .mine:
            guard let mine = conflict.versions.mine else {
                throw refusal(of: id, "was not sent: the update cannot be applied to the upstream's version")
            }
            chosen = mine
        case .merged(let merged): chosen = merged
        }
        guard let theirs = conflict.versions.theirs else {
            let explanation = "was not sent: the upstream has deleted it; resolve with `.theirs`, or create it again"
            throw refusal(of: id, explanation, .notFound)
        }
        if let chosen, endpoint.isSame(chosen, theirs) { return try await discard(conflict, from: outbox) }
        try await accept(id, into: outbox, replacing: conflict.id) { current throws(RepositoryError) in
            let isFirst = try isFirst(current, of: conflict, theirs, in: outbox)
            guard let chosen else { return (EditRequest.deletion, conflict.entityTag) }
            // A whole record would undo a pending write before it, so send a patch.
            return try update(from: theirs, isPatch: !isFirst) { $0 = chosen }.map { ($0.request, conflict.entityTag) }
        }
    }

    /// Returns whether no other write of an entity in conflict is pending.
    ///
    /// - Throws: a `RepositoryError` if a pending write is for another version, because the resolution would then overwrite
    ///   changes that the caller has not seen.
    private func isFirst(
        _ id: Entity.ID,
        of conflict: UnresolvedConflict<Entity>,
        _ theirs: Entity,
        in outbox: any RepositoryOutbox
    ) throws(RepositoryError) -> Bool {
        guard let subject = pending.subject(of: id) else { return true }
        if case .deleted? = pending.version(id, over: .entity(theirs)) {
            throw refusal(of: id, "was not sent: its deletion is pending", .notFound)
        }
        guard let tag = conflict.entityTag, outbox.firstPending(of: subject)?.write.version == .entityTag(tag),
            endpoint.format.mediaType == JSONFormat.mediaType
        else {
            let explanation = "was not sent: other writes of the entity are pending; try again when they are delivered"
            throw refusal(of: id, explanation, .unavailable)
        }
        return false
    }

    func resolvedAlready(_ id: Entity.ID) -> RepositoryError {
        refusal(of: id, "was not sent: the conflict is already resolved", .notFound)
    }

    private func discard(_ conflict: UnresolvedConflict<Entity>, from outbox: any RepositoryOutbox)
        async throws(RepositoryError)
    {
        do throws(RecordStoreError) {
            if try await outbox.discard(conflict.id) { return }
        } catch {
            throw RepositoryError(
                error,
                request: source.upstream.description(of: endpoint.onePath(conflict.entityID)),
                "is still in conflict"
            )
        }
        throw resolvedAlready(conflict.entityID)
    }

    /// Returns the conflict of a dead letter, or `nil` if it has none, belongs to another endpoint, or cannot be read.
    private func conflict(in letter: OutboxItem) -> UnresolvedConflict<Entity>? {
        guard let write = letter.write, write.endpoint == endpoint.name, let conflict = letter.conflict,
            case .refused(let date) = letter.state, let id = write.entityID.flatMap({ Entity.ID($0) })
        else { return nil }
        let versions: [Entity?]
        do {
            versions = try [conflict.mine, conflict.theirs].map { record in
                try record.map { try endpoint.decodeStored(Data($0)) }
            }
        } catch {
            return nil
        }
        guard versions.allSatisfy({ $0 == nil || $0?.id == id }) else { return nil }
        let url = source.upstream.baseURL.appending(path: write.path)
        let request = DataRequest(method: write.method, url: url).description
        let cause = letter.cause ?? "was refused"
        var unresolved = UnresolvedConflict(
            id: letter.id,
            entityID: id,
            refusedAt: date,
            versions: WriteConflict(
                mine: versions[0],
                theirs: versions[1],
                refusal: RepositoryError(
                    .conflict,
                    request: request,
                    explanation: cause.hasPrefix("\(request) ") ? String(cause.dropFirst(request.count + 1)) : cause
                )
            )
        )
        (unresolved.entityTag, unresolved.isDeletion) = (conflict.entityTag, write.method == .delete)
        return unresolved
    }
}

/// An unresolved conflict of a write in an outbox. Resolve it with ``Repository/resolve(_:_:)``.
///
/// ```swift
/// for conflict in try await comments.conflicts() where conflict.versions.theirs == nil {
///     try await comments.resolve(conflict, .theirs)
/// }
/// ```
public struct UnresolvedConflict<Entity: Identifiable & Sendable>: Identifiable, Sendable
where Entity.ID: Sendable & LosslessStringConvertible {
    /// The ``OutboxItem/id`` of the write, which is a dead letter.
    public let id: String
    /// The identifier of the entity.
    public let entityID: Entity.ID
    /// The time at which the upstream refused the write.
    public let refusedAt: Date
    /// Both versions at the time of the refusal.
    public let versions: WriteConflict<Entity>
    var entityTag: String?
    var isDeletion = false

    /// Creates a conflict, to test code that displays it.
    public init(id: String, entityID: Entity.ID, refusedAt: Date, versions: WriteConflict<Entity>) {
        self.id = id
        self.entityID = entityID
        self.refusedAt = refusedAt
        self.versions = versions
    }
}

/// The version to keep in an ``UnresolvedConflict``.
///
/// ```swift
/// for conflict in try await comments.conflicts() {
///     guard let mine = conflict.versions.mine, var merged = conflict.versions.theirs else { continue }
///     merged.body += "\n" + mine.body
///     try await comments.resolve(conflict, .merged(merged))
/// }
/// ```
public enum ConflictResolution<Entity: Sendable>: Sendable {
    /// Keep the caller's version: send the refused update or deletion again, with the entity tag of the upstream's version.
    case mine
    /// Keep the upstream's version: discard the refused write.
    case theirs
    /// Keep this entity, made from both versions: send it, with the entity tag of the upstream's version.
    case merged(Entity)
}
