import InwardCore
import InwardFetching
public import InwardRepositories

extension AppScopeConfiguration {
    /// Shares a store, and the writes that are pending in it, among several instances of the service.
    ///
    /// ```swift
    /// func configuration(_ store: any SharedRecordStore) -> AppScopeConfiguration {
    ///     var configuration = AppScopeConfiguration(upstream, endpoints: [AnyEndpoint(commentsEndpoint)])
    ///     configuration.share(store) { user in .fixed(.bearer("a token of the service for \(user)")) }
    ///     return configuration
    /// }
    /// ```
    ///
    /// A user may have sessions on any instance. Each of them shows what the others write, usually within milliseconds, if the store
    /// announces changes to other processes. `PostgreSQLRecordStore` does. A store in a directory announces them only to the process
    /// that makes them. Writes go
    /// through a `SharedOutbox`: whichever instance is free delivers them, whether or not the user is signed in, and another one
    /// takes over if it dies. So ``AppScope/keepDelivering(every:within:usersAtATime:as:)`` has nothing to do.
    ///
    /// Before you share the store of a running service, deliver its pending writes: the shared outbox does not know of them.
    ///
    /// - Parameters:
    ///   - store: The store, for example of PostgreSQL. The app does not close it.
    ///   - policy: The limits of the shared outboxes: one for each upstream.
    ///   - pendingWrites: Whether this instance delivers pending writes or only shows them, as a tool for operators does.
    ///   - credentials: Returns the credentials with which the service sends the writes of a user. They must be valid although
    ///     the user is not signed in. It is called often, for each write that is accepted and each subject that is delivered,
    ///     so a closure that renews tokens should keep them. It is not called for guests, who send none.
    public mutating func share(
        _ store: any SharedRecordStore,
        policy: SharedOutboxPolicy = SharedOutboxPolicy(),
        pendingWrites: PendingWrites = .deliver,
        deliveringAs credentials: @escaping @Sendable (String) -> SessionCredentials
    ) {
        self.store = store
        sharing = StoreSharing(store: store, policy: policy, pendingWrites: pendingWrites, credentials: credentials)
    }
}

/// How several instances of a service share a store.
struct StoreSharing: Sendable {
    let store: any SharedRecordStore
    let policy: SharedOutboxPolicy
    let pendingWrites: PendingWrites
    let credentials: @Sendable (String) -> SessionCredentials
}

/// The outboxes that an app shares with other instances of the service, one for each upstream. There are none unless the
/// configuration shares a store.
struct SharedOutboxes: Sendable {
    /// The prefix of the records of all outboxes. The next component of a key is the name of the upstream in the store.
    static let prefix: RecordKey = ["outboxes", "shared"]

    private let outboxes: [UpstreamName: SharedOutbox]
    private let pendingWrites: PendingWrites
    let peers: RepositoryPeers

    init(_ configuration: AppScopeConfiguration, timer: TimerService) {
        let peers = RepositoryPeers(sharing: configuration.sharing?.store)
        self.peers = peers
        pendingWrites = configuration.sharing?.pendingWrites ?? .deliver
        guard let sharing = configuration.sharing else {
            outboxes = [:]
            return
        }
        let outboxes = ([configuration.standardUpstream] + configuration.otherUpstreams).map { hosted in
            let outbox = SharedOutbox(
                store: sharing.store,
                prefix: Self.prefix.appending(hosted.upstream.nameInStore(as: hosted.name)),
                policy: sharing.policy,
                timer: timer,
                observer: configuration.observers.repositories,
                errorHandler: configuration.errorHandler
            ) { partition in
                let owner = OutboxOwner(partition: partition)
                let credentials = owner.isGuest ? .none : sharing.credentials(owner.user)
                var dataFetcher = configuration.dataFetcher(of: hosted, for: owner.user)
                if let credentials = credentials.make(for: hosted, configuration, timer) {
                    credentials.whenRenewalFails { configuration.errorHandler.handle($0) }
                    dataFetcher = dataFetcher.authorizing(with: credentials)
                }
                return OutboxDestination(
                    upstream: hosted.upstream.asked(
                        through: dataFetcher.observing(with: configuration.observers.fetching, timer: timer)
                    ),
                    endpoints: configuration.endpoints.filter { $0.upstream == hosted.name },
                    store: configuration.place(of: owner.key, at: hosted, peers),
                    timer: timer,
                    observer: configuration.observers.repositories
                )
            }
            return (hosted.name, outbox)
        }
        self.outboxes = Dictionary(uniqueKeysWithValues: outboxes)
    }

    /// The outboxes, in the order of their names.
    var all: [(upstream: UpstreamName, outbox: SharedOutbox)] {
        outboxes.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    /// Returns an owner's partition of the outbox of an upstream, or `nil` if no store is shared.
    func partition(of owner: OutboxOwner, at hosted: HostedUpstream) -> OutboxPartition? {
        outboxes[hosted.name]?.partition(owner.partition)
    }

    /// Delivers or shows pending writes, and follows other instances, until the task is cancelled.
    func run() async {
        await withDiscardingTaskGroup { group in
            group.addTask { await peers.followAnnouncements() }
            for outbox in outboxes.values { group.addTask { await outbox.run(pendingWrites) } }
        }
    }
}
