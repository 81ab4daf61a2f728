public import InwardCore
import InwardFetching
import Synchronization

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A durable queue of writes that several instances of a service share.
///
/// ```swift
/// func serve(_ store: any SharedRecordStore, _ handler: any OutboxHandler) async throws {
///     let outbox = SharedOutbox(store: store, errorHandler: IgnoringErrorHandler()) { user in
///         OutboxDestination(upstream: upstream, handlers: [handler])  // sends with the service's own credentials
///     }
///     async let delivery: Void = outbox.run()  // on every instance, until the task is cancelled
///     let write = OutboxWrite(endpoint: "receipts", subject: ["comments", "7"], path: "comments/7/receipt")
///     try await outbox.accept([write], in: "users/1")  // on any instance
///     await delivery
/// }
/// ```
///
/// Each instance has an outbox over the same records. Any of them accepts a write, and any of them delivers it: they lease the
/// pending writes of a subject, send them one at a time in the order in which they were accepted, and settle them. If an
/// instance dies, its leases run out, and others take over. Nobody has to sign in for that: ``OutboxDestination`` says where the
/// writes of a user go, and with which credentials.
///
/// **What an accepted write can rely on.** It is as durable as the store. It is sent with the same `Idempotency-Key` each time
/// until the upstream gives a final response. If the upstream keeps keys for as long as ``SharedOutboxPolicy/resendLimit`` asks,
/// the write takes effect at most once, and the writes of a subject take effect in order.
///
/// **Fencing.** A write is noted before each attempt and settled after it, both under the condition that the lease is still the
/// last one. So an instance that was suspended, and whose lease somebody else has taken over, cannot settle anything, and
/// normally finds out before it sends. One way to send a write twice remains: an instance is suspended between its last check
/// and the sending itself. Both requests have the same key, so the upstream answers the second one with the stored response.
///
/// Repositories write through a ``partition(_:)``, which shows what is pending on every instance. An ``Outbox`` is for one process: it keeps the pending writes in memory, and needs fewer commits for each write.
public final class SharedOutbox: Sendable {
    /// Returns where the writes of a partition go.
    public typealias Destinations =
        @Sendable (_ partition: String) async throws(RecordStoreError) -> OutboxDestination

    /// The deliveries of this instance.
    private struct State {
        /// The number of subjects that are being delivered.
        var deliveries = 0
        /// Whether the last search found as many subjects as it asked for, so that there may be more.
        var mayFindMore = false
        /// Whether this instance looks for writes to deliver.
        var isDelivering = false
        var isStopping = false
        /// Wakes the search for subjects.
        var alarm = Promise<Void>()
        /// The attempts under way.
        var attempts: [Int: Task<Result<DataResponse, FetchError>, Never>] = [:]
        var lastAttempt = 0
        var counts = OutboxCounts()
        /// The partitions that are in use on this instance.
        var partitions: [String: WeakPartition] = [:]
    }

    private struct WeakPartition: Sendable {
        weak let partition: OutboxPartition?
    }

    let store: any SharedRecordStore
    let records: SharedOutboxRecords
    let policy: SharedOutboxPolicy
    let timer: TimerService
    let now: @Sendable () -> Date
    let observer: (any RepositoryObserver)?
    let errorHandler: any ErrorHandler
    let destination: Destinations
    private let generator: Mutex<any RandomNumberGenerator & Sendable>
    private let state = Mutex(State())
    /// The locks of the lanes whose writes this instance is accepting, by the keys of their heads, and those of partitions.
    let locks = SubjectLocks()

    /// Creates an outbox. It accepts writes at once, and delivers them while ``run(_:)`` runs.
    ///
    /// - Parameters:
    ///   - store: The store that all instances share.
    ///   - prefix: The key prefix of the outbox's records. Nothing else may store records under it.
    ///   - policy: The limits on concurrency, waits and storage.
    ///   - timer: The timer service that measures waits and leases. Its clock must go on while the machine sleeps, as
    ///     `ContinuousClock` does.
    ///   - now: Returns the current date.
    ///   - generator: The source of randomness for idempotency keys. It must be unpredictable.
    ///   - observer: The observer of deliveries, or `nil` for none.
    ///   - errorHandler: Receives errors that have no caller to throw to. The outbox does not close it.
    ///   - destination: Returns where the writes of a partition go. It is called each time writes are accepted and each
    ///     time a subject is leased, so it should be fast. If it throws, nothing is accepted, and delivery waits.
    public init(
        store: any SharedRecordStore,
        prefix: RecordKey = ["outbox"],
        policy: SharedOutboxPolicy = SharedOutboxPolicy(),
        timer: TimerService = .continuous,
        now: @escaping @Sendable () -> Date = { Date() },
        generator: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator(),
        observer: (any RepositoryObserver)? = nil,
        errorHandler: any ErrorHandler,
        destination: @escaping Destinations
    ) {
        self.store = store
        self.policy = policy
        self.timer = timer
        self.now = now
        self.observer = observer
        self.errorHandler = errorHandler
        self.destination = destination
        records = SharedOutboxRecords(prefix: prefix)
        self.generator = Mutex(generator)
    }

    /// Counts of what this instance has done.
    public var counts: OutboxCounts { state.withLock(\.counts) }

    // MARK: Delivering

    /// Delivers pending writes, those that other instances have accepted among them, until the task is cancelled. Meanwhile,
    /// every ``OutboxPartition`` in use shows what other instances accept and settle.
    ///
    /// When the task is cancelled, attempts that the upstream has not answered are cancelled, answered writes are settled, and
    /// the leases are given back, so that other instances go on at once. Call it once.
    ///
    /// - Parameter pendingWrites: Pass ``PendingWrites/show`` for an instance that only reads. It then delivers nothing until it
    ///   accepts a write itself, or is asked to with ``OutboxPartition/open()`` or ``resend(_:in:)``.
    public func run(_ pendingWrites: PendingWrites = .deliver) async {
        if pendingWrites == .deliver { startDelivering() }
        await withDiscardingTaskGroup { group in
            group.addTask { await self.followAnnouncements() }
            group.addTask { await self.refreshOutdated() }
            await deliverUntilCancelled()
            group.cancelAll()
        }
    }

    private func deliverUntilCancelled() async {
        // Unstructured, because a write that the upstream has answered is settled even if the caller is cancelled. The caller
        // waits for it.
        let work = InteractionID.lifted {
            Deadline.lifted { Task.starting(on: timer.executor) { await self.deliver() } }
        }
        await withTaskCancellationHandler {
            await work.value
        } onCancel: {
            stop()
        }
    }

    private func deliver() async {
        await withDiscardingTaskGroup { group in
            while let alarm = nextAlarm() {
                let limit = state.withLock { $0.isDelivering ? policy.delivery.concurrency - $0.deliveries : 0 }
                let end = timer.now + policy.leaseDuration
                let leased = limit > 0 ? await claim(upTo: limit) : []
                state.withLock { state in
                    state.deliveries += leased.count
                    state.mayFindMore = limit <= 0 || leased.count == limit
                }
                for (lease, head) in leased {
                    group.addTask {
                        await self.deliver(lease, head, until: end)
                        self.endDelivery()
                    }
                }
                _ = await alarm.value(until: Deadline(in: policy.pollInterval, on: timer))
            }
        }
    }

    /// Leases free subjects. Most were never leased (`claim` in the model). The last lease of the others has run out, because its
    /// holder has postponed the subject, has died or is slow (`takeOver`).
    private func claim(upTo limit: Int) async -> [(lease: RecordLease, head: RecordSnapshot)] {
        do throws(RecordStoreError) {
            return try await store.lease(under: records.heads, limit: limit, for: policy.leaseDuration)
                .map { ($0.lease, $0.snapshot) }
        } catch {
            // The next search tries again. The store reports its own errors.
            return []
        }
    }

    private func deliver(_ lease: RecordLease, _ head: RecordSnapshot, until leaseEnd: Duration) async {
        // Without a destination, the lease expires, and another instance tries.
        guard let lane = OutboxLane(head: lease.key, under: records.heads),
            let destination = try? await destination(lane.partition)
        else { return }
        var delivery = LaneDelivery(
            outbox: self,
            lane: lane,
            lease: lease,
            destination: destination.timingOut(after: policy.delivery.attemptLimit, timer: timer),
            leaseEnd: leaseEnd,
            first: (try? LaneHead(head))?.first ?? 1
        )
        await delivery.run()
    }

    /// Returns the promise that wakes the next wait, or `nil` if the outbox stops.
    private func nextAlarm() -> Promise<Void>? {
        state.withLock { state in
            if state.isStopping { return nil }
            state.alarm = Promise()
            return state.alarm
        }
    }

    private func endDelivery() {
        let alarm = state.withLock { state -> Promise<Void>? in
            state.deliveries -= 1
            // Waits until there is room for several, because one search costs as much as the next.
            return state.mayFindMore && state.deliveries <= policy.delivery.concurrency / 2 ? state.alarm : nil
        }
        alarm?.fulfill(())
    }

    /// Looks for subjects now, and from now on.
    func startDelivering() {
        let alarm = state.withLock { state in
            state.isDelivering = true
            return state.alarm
        }
        alarm.fulfill(())
    }

    /// Looks for subjects now, if this instance delivers.
    private func wake() { state.withLock(\.alarm).fulfill(()) }

    private func stop() {
        let (alarm, attempts) = state.withLock { state in
            state.isStopping = true
            return (state.alarm, Array(state.attempts.values))
        }
        alarm.fulfill(())
        for attempt in attempts { attempt.cancel() }
    }

    /// Whether ``run(_:)`` was cancelled, so that nothing more is sent.
    var isStopping: Bool { state.withLock(\.isStopping) }

    /// Sends a request, unless the outbox stops.
    func attempt(
        _ request: DataRequest,
        through dataFetcher: any DataFetcher
    ) async -> Result<DataResponse, FetchError>? {
        let attempt = state.withLock { state -> (Int, Task<Result<DataResponse, FetchError>, Never>)? in
            guard !state.isStopping else { return nil }
            state.lastAttempt += 1
            // Unstructured, so that `stop` can cancel the attempt without the settlement that follows it. The caller waits for it.
            let task = Task.starting(on: timer.executor) {
                await Result { () async throws(FetchError) in try await dataFetcher.fetch(request) }
            }
            state.attempts[state.lastAttempt] = task
            return (state.lastAttempt, task)
        }
        guard let (number, task) = attempt else { return nil }
        let outcome = await task.value
        state.withLock { state in
            state.attempts[number] = nil
            state.counts.attempts += 1
        }
        return outcome
    }

    // MARK: Partitions

    /// Returns the partition with a name, through which repositories write. As long as somebody uses it, each call returns the
    /// same one.
    ///
    /// ```swift
    /// func comments(of user: String, through outbox: SharedOutbox) -> Repository<Comment> {
    ///     Repository(endpoint, upstream: upstream, outbox: outbox.partition(user))
    /// }
    /// ```
    public func partition(_ name: String) -> OutboxPartition {
        state.withLock { state in
            if let partition = state.partitions[name]?.partition { return partition }
            let partition = OutboxPartition(name, of: self)
            state.partitions[name] = WeakPartition(partition: partition)
            return partition
        }
    }

    /// Returns the partition with a name if it is in use.
    func partition(ifUsed name: String) -> OutboxPartition? {
        state.withLock { $0.partitions[name]?.partition }
    }

    /// Forgets a partition that is being released. A new one may already have its name.
    func forget(_ name: String) {
        // Returned, so that it is not released under the lock, which its deinitializer takes.
        let successor = state.withLock { state -> OutboxPartition? in
            let successor = state.partitions[name]?.partition
            if successor == nil { state.partitions[name] = nil }
            return successor
        }
        withExtendedLifetime(successor) {}
    }

    /// Shows what other instances accept and settle, until the task is cancelled.
    private func followAnnouncements() async {
        for await announcement in store.announcements(under: records.heads) {
            let changed: [OutboxPartition] =
                switch announcement {
                case .changed(let key):
                    // A key with more components than the prefix begins with the name of the partition.
                    key.components.dropFirst(records.heads.components.count).first
                        .map { [partition(ifUsed: $0)].compactMap(\.self) } ?? usedPartitions
                case .anythingMayHaveChanged: usedPartitions
                }
            for partition in changed { partition.becomeOutdated() }
            await refresh(changed)
        }
    }

    /// Reads partitions again that could not be read when they should have been, until the task is cancelled.
    private func refreshOutdated() async {
        while !Task.isCancelled {
            await refresh(usedPartitions.filter(\.isOutdated))
            try? await timer.sleep(for: policy.pollInterval)
        }
    }

    /// Reads partitions again, some of them at the same time.
    private func refresh(_ partitions: [OutboxPartition]) async {
        await withTaskGroup(of: Void.self) { group in
            for (number, partition) in partitions.enumerated() {
                if number >= 8 { await group.next() }
                // If the store cannot be read, `refreshOutdated` tries again.
                group.addTask { try? await partition.showPending() }
            }
        }
    }

    /// The partitions that are in use on this instance.
    package var usedPartitions: [OutboxPartition] { state.withLock { $0.partitions.values.compactMap(\.partition) } }

    /// Changes the counts.
    func count(_ change: (inout OutboxCounts) -> Void) { state.withLock { change(&$0.counts) } }

    /// Returns 128 random bits in hexadecimal digits.
    func randomKey() -> String { generator.withLock { OutboxEntry.randomKey(using: &$0) } }
}

/// Where the writes of a partition go.
///
/// ```swift
/// func destination(of user: String, _ comments: Repository<Comment>) -> OutboxDestination {
///     OutboxDestination(upstream: upstream, handlers: [comments.handler])
/// }
/// ```
public struct OutboxDestination: Sendable {
    /// The upstream. Its data fetcher adds the credentials, which must be valid even if the user is not signed in: those of the
    /// service, usually.
    public let upstream: Upstream
    /// The handlers of the writes, one for each endpoint.
    public let handlers: [any OutboxHandler]
    /// The repositories whose handlers these are, if nobody else retains them.
    var repositories: [any Sendable] = []

    /// Creates a destination.
    ///
    /// - Parameters:
    ///   - upstream: The upstream, with credentials that are valid at any time.
    ///   - handlers: The handlers of the writes, one for each endpoint. `nil` is left out: it is the handler of a repository that
    ///     accepts no writes.
    public init(upstream: Upstream, handlers: [(any OutboxHandler)?]) {
        self.upstream = upstream
        self.handlers = handlers.compactMap(\.self)
    }

    /// Returns this destination with a time limit for each attempt.
    func timingOut(after limit: Duration, timer: TimerService) -> Self {
        let fetcher = upstream.dataFetcher.timingOut(after: limit, timer: timer)
        var destination = Self(upstream: upstream.asked(through: fetcher), handlers: handlers)
        destination.repositories = repositories
        return destination
    }

    /// Returns the handler of an endpoint.
    func handler(of endpoint: String) -> (any OutboxHandler)? { handlers.first { $0.endpoint == endpoint } }

    /// Returns how the writes of an endpoint are delivered.
    func terms(of endpoint: String) -> OutboxTerms { handler(of: endpoint)?.terms ?? OutboxTerms() }
}
