public import InwardCore

extension OutboxDestination {
    /// Creates a destination for the writes of repositories.
    ///
    /// ```swift
    /// func destination(of user: String, _ records: any SharedRecordStore, _ peers: RepositoryPeers) -> OutboxDestination {
    ///     let place = RepositoryStore(records, partition: [user], peers: peers, now: { Date() }) { print($0) }
    ///     return OutboxDestination(upstream: upstream, endpoints: [AnyEndpoint(endpoint)], store: place)
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - upstream: The upstream, with credentials that are valid at any time.
    ///   - endpoints: The endpoints of the writes.
    ///   - store: The store location of the repositories of the partition, which keeps the results of the writes.
    ///   - timer: The timer service that measures ages.
    ///   - observer: The observer of reads and of the store, or `nil` for none.
    public init(
        upstream: Upstream,
        endpoints: [AnyEndpoint],
        store: RepositoryStore?,
        timer: TimerService = .continuous,
        observer: (any RepositoryObserver)? = nil
    ) {
        // Only the settlement of a write uses their memory.
        let memory = MemoryLimit(count: 100, bytes: 1_024 * 1_024)
        let set = RepositorySet(upstream: upstream, memory: memory, store: store, timer: timer, observer: observer)
        let repositories = endpoints.map { $0.make(set) }
        self.init(upstream: upstream, handlers: repositories.map(\.handler))
        self.repositories = repositories
    }
}
