import InwardCore

/// What a repository can be asked for: one entity, or a list.
protocol RepositoryQuestion<Entity>: Hashable, Sendable {
    associatedtype Entity: Identifiable & Sendable where Entity.ID: Sendable
    /// What is kept of an answer.
    associatedtype Kept: Sendable
    /// What an answer is.
    associatedtype Value: Sendable

    /// What is kept in memory.
    func kept(in memory: EntityMemory<Entity>) -> KeptAnswer<Kept>?

    /// What is kept in a store, which then is in memory too.
    func kept(in store: EntityStore<Entity>, _ source: EntitySource<Entity>) async throws(RecordStoreError)
        -> KeptAnswer<Kept>?

    /// What the upstream says.
    func fetch(from source: EntitySource<Entity>, bypassingCaches: Bool) async throws(RepositoryError) -> Reading<Value>

    /// The answer that was kept; `nil` if that is that there is none.
    func answer(_ kept: Kept) -> (value: Value, rejected: [RejectedRecord])?

    /// The answer that is among what is pending, if there is one.
    func reading(among pending: PendingEntities<Entity>) -> Reading<Value>?

    /// A reading with what is pending on top.
    func adding(_ pending: PendingEntities<Entity>.Snapshot, to reading: Reading<Value>) -> Reading<Value>

    /// What is asked for, as the components of a path relative to the upstream.
    func path(in endpoint: Endpoint<Entity>) -> [String]
}
