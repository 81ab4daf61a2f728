public import InwardCore
import InwardFetching

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension Repository {
    /// Returns the conflicts of writes in the outbox that nobody has decided, the oldest first.
    ///
    ///     for conflict in try await comments.conflicts() {
    ///         show(conflict.versions.mine, beside: conflict.versions.theirs)
    ///     }
    ///
    /// Such a write was refused because the upstream has another version, and the ``ConflictRule`` of the endpoint asks or has given
    /// up. Both versions are kept with it in the outbox's store, so they are there after a restart and without a connection. The
    /// outbox tells its error handler of each new one with a ``RefusedWriteError``, whose cause has the reason `conflict`.
    ///
    /// - Returns: the conflicts; an empty array without an outbox. A conflict whose versions cannot be read is left out, and remains
    ///   among the dead letters in ``Outbox/contents()``.
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
        return letters.compactMap { conflict(in: $0, of: outbox) }.sorted { $0.refusedAt < $1.refusedAt }
    }

    /// Decides a conflict of a write in the outbox.
    ///
    ///     try await comments.resolve(conflict, .mine)
    ///
    /// The decision is between the two versions in the conflict. So what is sent names the upstream's version in `If-Match`; if the
    /// upstream has changed the entity once more, there is another conflict, between the new version and the one that was chosen. An
    /// upstream without entity tags takes what is sent for any version. What is sent replaces the dead letter in one commit, and is
    /// shown as pending.
    ///
    /// Other writes of the entity that are pending have to be for the same version, as an earlier decision is. Otherwise the
    /// conflict remains until they are delivered or refused.
    ///
    /// - Parameters:
    ///   - conflict: A conflict from ``conflicts()``.
    ///   - resolution: What becomes of it. If the chosen entity is the upstream's version, nothing is sent.
    /// - Complexity: O(n) in the number of writes in the outbox.
    /// - Throws: a `RepositoryError` if nothing was decided: `notFound` if the conflict has been resolved already, or if something is
    ///   to be sent and the entity is deleted, or is to be; `unavailable` while other writes of the entity are pending; `refused` if
    ///   the chosen entity has another identifier or breaks a rule.
    public func resolve(
        _ conflict: UnresolvedConflict<Entity>,
        _ resolution: ConflictResolution<Entity>
    ) async throws(RepositoryError) {
        // What is kept counts, and not the caller's copy of it.
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
            let explanation = "was not sent: the upstream has deleted it; choose its version, or create it again"
            throw refusal(of: id, explanation, .notFound)
        }
        if let chosen, endpoint.isSame(chosen, theirs) { return try await discard(conflict, from: outbox) }
        try await accept(id, into: outbox, replacing: conflict.id) { current throws(RepositoryError) in
            let isFirst = try isFirst(current, of: conflict, theirs, in: outbox)
            guard let chosen else { return (EditRequest.deletion, conflict.entityTag) }
            // After another pending write, a whole record would undo that write.
            return try update(from: theirs, isPatch: !isFirst) { $0 = chosen }.map { ($0.request, conflict.entityTag) }
        }
    }

    /// Returns whether no other write of an entity in conflict is pending.
    ///
    /// - Throws: a `RepositoryError` if one is after which the decision would overwrite what nobody has compared.
    private func isFirst(
        _ id: Entity.ID,
        of conflict: UnresolvedConflict<Entity>,
        _ theirs: Entity,
        in outbox: Outbox
    ) throws(RepositoryError) -> Bool {
        guard let subject = pending.subject(of: id) else { return true }
        if case .deleted? = pending.version(id, over: .entity(theirs)) {
            throw refusal(of: id, "was not sent: it is deleted, as soon as the upstream can be told", .notFound)
        }
        guard let tag = conflict.entityTag, outbox.firstPending(of: subject)?.write.version == .entityTag(tag),
            endpoint.format.mediaType == JSONFormat.mediaType
        else {
            let explanation = "was not sent: other changes of it are pending; decide when the upstream has taken them"
            throw refusal(of: id, explanation, .unavailable)
        }
        return false
    }

    func resolvedAlready(_ id: Entity.ID) -> RepositoryError {
        refusal(of: id, "was not sent: the conflict has been resolved already", .notFound)
    }

    private func discard(_ conflict: UnresolvedConflict<Entity>, from outbox: Outbox) async throws(RepositoryError) {
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

    /// Returns the conflict of a dead letter; `nil` if it has none, is another endpoint's, or cannot be read.
    private func conflict(in letter: OutboxItem, of outbox: Outbox) -> UnresolvedConflict<Entity>? {
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
        let url = outbox.upstream.baseURL.appending(path: write.path)
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

/// A conflict of a write in an outbox that nobody has decided. Decide it with ``Repository/resolve(_:_:)``.
public struct UnresolvedConflict<Entity: Identifiable & Sendable>: Identifiable, Sendable
where Entity.ID: Sendable & LosslessStringConvertible {
    /// The ``OutboxItem/id`` of the write, which is a dead letter.
    public let id: String
    /// The identifier of the entity.
    public let entityID: Entity.ID
    /// When the upstream refused the write.
    public let refusedAt: Date
    /// Both versions, as they were when the upstream refused the write.
    public let versions: WriteConflict<Entity>
    var entityTag: String?
    var isDeletion = false

    /// Creates a conflict, for testing code that displays it.
    public init(id: String, entityID: Entity.ID, refusedAt: Date, versions: WriteConflict<Entity>) {
        self.id = id
        self.entityID = entityID
        self.refusedAt = refusedAt
        self.versions = versions
    }
}

/// What becomes of an ``UnresolvedConflict``.
public enum ConflictResolution<Entity: Sendable>: Sendable {
    /// The refused update or deletion is sent for the upstream's version.
    case mine
    /// The refused write is discarded in favor of the upstream's version.
    case theirs
    /// This entity, which was made of both, is sent for the upstream's version.
    case merged(Entity)
}
