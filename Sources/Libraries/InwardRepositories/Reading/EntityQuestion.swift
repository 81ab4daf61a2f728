import InwardCore

/// The question for the entity of an identity.
struct EntityQuestion<Entity: Identifiable & Sendable>: RepositoryQuestion where Entity.ID: Sendable {
    let id: Entity.ID

    func kept(in memory: EntityMemory<Entity>) -> KeptAnswer<Entity?>? { memory.entity(id) }

    func kept(
        in store: EntityStore<Entity>,
        _ source: EntitySource<Entity>
    ) async throws(RecordStoreError) -> KeptAnswer<Entity?>? {
        let tick = source.memory.begin()
        defer { source.memory.end(tick) }
        guard let found = try await store.entity(id) else { return nil }
        let stamp = source.stamp(tick, of: found)
        guard source.memory.keep(found.value, stamp) else { return kept(in: source.memory) }
        return KeptAnswer(value: found.value, time: stamp.time, staleTime: source.staleTime(stamp))
    }

    func fetch(
        from source: EntitySource<Entity>,
        bypassingCaches: Bool
    ) async throws(RepositoryError) -> Reading<Entity> {
        // Who wants no copy asks by itself: what is asked for together may be answered out of a cache.
        guard !bypassingCaches, let batcher = source.batcher else {
            return try await source.fetchAlone(id, bypassingCaches: bypassingCaches)
        }
        switch await batcher.answer(to: id) {
        case .kept(let answer): return try answer.get()
        case .cancelled, .deadlinePassed:
            let request = source.upstream.description(of: path(in: source.endpoint))
            throw RepositoryError(.cancelled, request: request, explanation: "was cancelled")
        }
    }

    func answer(_ kept: Entity?) -> (value: Entity, rejected: [RejectedRecord])? { kept.map { ($0, []) } }

    func reading(among pending: PendingEntities<Entity>) -> Reading<Entity>? {
        pending.entity(id).map { Reading($0, origin: .memory, isPending: true) }
    }

    func adding(_ pending: PendingEntities<Entity>.Snapshot, to reading: Reading<Entity>) -> Reading<Entity> { reading }

    func path(in endpoint: Endpoint<Entity>) -> [String] { endpoint.onePath(id) }

    static func == (first: Self, second: Self) -> Bool { first.id == second.id }

    func hash(into hasher: inout Hasher) { hasher.combine(id) }
}
