import InwardCore

/// The question for the entities that a filter lets through.
struct ListQuestion<Entity: Identifiable & Sendable>: RepositoryQuestion where Entity.ID: Sendable {
    let filter: EntityFilter<Entity>

    func kept(in memory: EntityMemory<Entity>) -> KeptAnswer<EntityList<Entity>>? { memory.list(filter) }

    func kept(
        in store: EntityStore<Entity>,
        _ source: EntitySource<Entity>
    ) async throws(RecordStoreError) -> KeptAnswer<EntityList<Entity>>? {
        let tick = source.memory.begin()
        defer { source.memory.end(tick) }
        guard let found = try await store.list(filter) else { return nil }
        let stamp = source.stamp(tick, of: found)
        let (list, isCurrent) = source.memory.keep(found.value, of: filter, stamp)
        guard isCurrent else { return kept(in: source.memory) }
        return KeptAnswer(value: list, time: stamp.time, staleTime: source.staleTime(stamp))
    }

    func fetch(
        from source: EntitySource<Entity>,
        bypassingCaches: Bool
    ) async throws(RepositoryError) -> Reading<[Entity]> {
        try await source.fetch(filter, bypassingCaches: bypassingCaches)
    }

    func answer(_ kept: EntityList<Entity>) -> (value: [Entity], rejected: [RejectedRecord])? {
        (kept.entities, kept.rejected)
    }

    func reading(among pending: PendingEntities<Entity>) -> Reading<[Entity]>? { nil }

    func adding(
        _ pending: PendingEntities<Entity>.Snapshot,
        to reading: Reading<[Entity]>
    ) -> Reading<[Entity]> {
        let wanted = pending.entities.filter(filter.matches)
        guard !wanted.isEmpty else { return reading }
        return Reading(
            reading.value + wanted,
            origin: reading.origin,
            age: reading.age,
            isStale: reading.isStale,
            isPending: true,
            rejected: reading.rejected,
            degradation: reading.degradation
        )
    }

    func path(in endpoint: Endpoint<Entity>) -> [String] { endpoint.path }
}
