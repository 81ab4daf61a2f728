public import InwardCore
public import Synchronization

/// Most reads are answered out of memory, and that takes no longer than it must: what is here is inlinable, so that it is compiled
/// for the entities that it gives.
extension Repository {
    /// The entity of an identity, if memory has it and that will do.
    @inlinable
    func readingAtHand(of id: Entity.ID, _ policy: ReadPolicy) -> Reading<Entity>? {
        guard isPlain, let kept = memory.entity(id), let value = kept.value else { return nil }
        let now = timer.now
        guard case .given(let isStale) = kept.use(policy, at: now, endpoint.lifetimes) else { return nil }
        return Reading(value, origin: .memory, age: kept.age(at: now), isStale: isStale)
    }

    /// The entities that a filter lets through, if memory has them and that will do.
    @inlinable
    func readingAtHand(of filter: EntityFilter<Entity>, _ policy: ReadPolicy) -> Reading<[Entity]>? {
        guard isPlain, let kept = memory.list(filter) else { return nil }
        let now = timer.now
        guard case .given(let isStale) = kept.use(policy, at: now, endpoint.lifetimes) else { return nil }
        return Reading(
            kept.value.entities,
            origin: .memory,
            age: kept.age(at: now),
            isStale: isStale,
            rejected: kept.value.rejected
        )
    }

    /// Whether what memory has may be given as it is: the repository is open, and nothing is pending.
    @inlinable var isPlain: Bool { !isClosed.load(ordering: .acquiring) && pending.isEmpty }

    @usableFromInline
    func readEntity(_ id: Entity.ID, _ policy: ReadPolicy) async throws(RepositoryError) -> Reading<Entity> {
        try await read(EntityQuestion(id: id), policy, entities)
    }

    @usableFromInline
    func readEntities(
        _ filter: EntityFilter<Entity>,
        _ policy: ReadPolicy
    ) async throws(RepositoryError) -> Reading<[Entity]> {
        try await read(ListQuestion(filter: filter), policy, lists)
    }
}
