import Foundation
import InterfaceAdapters
import InwardCore
import InwardFetching
import InwardRepositories

/// What an app keeps across restarts: the records of its sessions, and the outboxes that deliver their writes.
struct AppStore: Sendable {
    private let place: @Sendable (_ owner: RecordKey) -> RepositoryStore
    private let delivery: Delivery
    private let peers: RepositoryPeers
    private let timer: TimerService
    private let observer: (any RepositoryObserver)?
    private let errorHandler: any ErrorHandler

    /// Who delivers the writes.
    private enum Delivery {
        /// The session of a user delivers them.
        case sessions(SessionOutboxes)
        /// Each instance of the app delivers the writes of all users.
        case instances(SharedOutbox)
    }

    /// Creates the store of an app.
    ///
    /// - Parameters:
    ///   - records: The records.
    ///   - upstream: The app's upstream.
    ///   - endpoints: The endpoints that write through outboxes.
    ///   - timer: Measures waits.
    ///   - observer: Observes repositories and outboxes; `nil` for no observer.
    ///   - errorHandler: Receives failures that no caller receives.
    init(
        _ records: AppRecords,
        upstream: SessionUpstream,
        endpoints: [AnyEndpoint],
        timer: TimerService,
        observer: (any RepositoryObserver)?,
        errorHandler: any ErrorHandler
    ) {
        let peers = RepositoryPeers(sharing: records.shared?.store)
        let place: @Sendable (RecordKey) -> RepositoryStore = { owner in
            RepositoryStore(
                records.store,
                of: owner,
                at: upstream.upstream(sending: nil),
                peers: peers,
                now: { Date() },
                tellingFailuresTo: errorHandler
            )
        }
        let writeErrors = RefusalNamingErrorHandler(errorHandler)
        // No attempt takes longer, so that other instances need not wait longer when this one dies.
        let attemptLimit = upstream.configuration.policy.requestTimeLimit
        if let (store, credentials) = records.shared {
            delivery = .instances(
                SharedOutbox(
                    store: store,
                    prefix: ["outboxes", "shared", upstream.upstream(sending: nil).nameInStore(as: .standard)],
                    policy: SharedOutboxPolicy(
                        delivery: OutboxPolicy(concurrency: 16, attemptLimit: attemptLimit),
                        leaseDuration: attemptLimit + .seconds(5)
                    ),
                    timer: timer,
                    observer: observer,
                    errorHandler: writeErrors
                ) { partition throws(RecordStoreError) in
                    guard let owner = StoreOwner(partition: partition) else {
                        throw RecordStoreError(
                            .denied,
                            explanation: "“\(partition)” is the partition of another program, which delivers it."
                        )
                    }
                    return OutboxDestination(
                        upstream: upstream.upstream(sending: try owner.credentials(from: credentials)),
                        endpoints: endpoints,
                        store: place(owner.key),
                        timer: timer,
                        observer: observer
                    )
                }
            )
        } else {
            delivery = .sessions(SessionOutboxes(executor: timer.executor))
        }
        self.place = place
        self.peers = peers
        self.timer = timer
        self.observer = observer
        self.errorHandler = writeErrors
    }

    /// Returns the part of an owner, and the session's share of the outbox for it.
    ///
    /// - Parameters:
    ///   - owner: The owner of the session.
    ///   - upstream: The session's upstream, through which its own outbox delivers.
    /// - Returns: The part of the store, and the share of the outbox.
    func parts(of owner: StoreOwner, asking upstream: Upstream) -> (place: RepositoryStore, outbox: SessionOutbox) {
        let place = place(owner.key)
        switch delivery {
        case .sessions(let outboxes):
            let outbox = outboxes.outbox(
                of: place,
                at: upstream,
                timer: timer,
                observer: observer,
                errorHandler: errorHandler
            )
            return (place, outbox)
        case .instances(let outbox):
            return (place, SessionOutbox(outbox.partition(owner.partition), executor: timer.executor))
        }
    }

    /// Follows what other instances change, and delivers pending writes, until the task is cancelled. Returns at once if the
    /// store is not shared.
    func run(_ pendingWrites: PendingWrites) async {
        guard case .instances(let outbox) = delivery else { return }
        await withDiscardingTaskGroup { group in
            group.addTask { await peers.followAnnouncements() }
            group.addTask { await outbox.run(pendingWrites) }
        }
    }
}

/// The records of an app.
enum AppRecords: Sendable {
    /// Returns the credentials with which the app sends the writes of a user.
    typealias Credentials = @Sendable (_ storeKey: String) -> HeaderField?

    /// Records that are used by one process at a time.
    case own(any RecordStore)
    /// Records that several instances of the app share.
    case shared(any SharedRecordStore, Credentials)

    var store: any RecordStore {
        switch self {
        case .own(let store): store
        case .shared(let store, _): store
        }
    }

    var shared: (store: any SharedRecordStore, credentials: Credentials)? {
        if case .shared(let store, let credentials) = self { (store, credentials) } else { nil }
    }
}

/// Whose records these are: those of a user, or those of the guests.
struct StoreOwner: Hashable, Sendable {
    /// The key that identifies the user across sessions; `nil` for guests.
    private let storeKey: String?

    /// The owner of the records of guests.
    static let guests = Self(storeKey: nil)

    /// Creates the owner of the records of a user.
    init(_ storeKey: String) {
        self.init(storeKey: storeKey)
    }

    private init(storeKey: String?) {
        self.storeKey = storeKey
    }

    /// Creates the owner from the name of a partition. Returns `nil` if it is not that of an owner.
    init?(partition: String) {
        if partition == Self.guests.partition {
            self = .guests
        } else if partition.hasPrefix("users/") {
            self.init(String(partition.dropFirst("users/".count)))
        } else {
            return nil
        }
    }

    /// The prefix of the keys of the records.
    var key: RecordKey { storeKey.map { ["users", $0] } ?? ["guests"] }

    /// The name of the owner's partition of a shared outbox. No user has that of the guests.
    var partition: String { storeKey.map { "users/\($0)" } ?? "guests" }

    /// Returns the credentials for delivering the owner's writes; `nil` for guests, who send none.
    ///
    /// - Throws: A `RecordStoreError` if there are none for a user. Then no write is accepted or sent.
    func credentials(from credentials: AppRecords.Credentials) throws(RecordStoreError) -> HeaderField? {
        guard let storeKey else { return nil }
        if let credentials = credentials(storeKey) { return credentials }
        throw RecordStoreError(
            .denied,
            explanation: """
                The app has no credentials for delivering the writes of \(storeKey): return them from `deliveringAs` of the app.
                """
        )
    }
}
