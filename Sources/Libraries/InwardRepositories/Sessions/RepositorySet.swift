public import InwardCore
import Synchronization

/// The repositories of a session, or those that all sessions share: one for each endpoint, created on first use.
///
/// ```swift
/// let repositories = RepositorySet(upstream: upstream)
/// let comments = try repositories.repository(endpoint)
/// print(try await comments.entities().value.count)
/// await repositories.close()
/// ```
///
/// The repositories share an upstream, a part of a store, and an outbox. All callers get the same repository of an endpoint,
/// with the same memory cache. Keep the repository instead of asking for it before each read.
///
/// In an app with several upstreams, the set of the standard upstream contains a set for each of the others, and closes them.
public final class RepositorySet: Sendable {
    private struct State {
        var repositories: [String: any HostedRepository] = [:]
        var isClosed = false
    }

    /// The upstream of the repositories.
    public let upstream: Upstream
    /// The name of the upstream.
    public let name: UpstreamName
    private let others: [RepositorySet]
    private let share: SessionOutbox?
    private let shared: RepositorySet?
    private let memory: MemoryLimit
    private let store: RepositoryStore?
    private let timer: TimerService
    private let observer: (any RepositoryObserver)?
    private let state = Mutex(State())

    /// The outbox that delivers the writes, or `nil` if each write is sent immediately.
    public var outbox: (any RepositoryOutbox)? { share?.outbox }

    /// Creates a set of repositories.
    ///
    /// - Parameters:
    ///   - upstream: The upstream, with the credentials to send.
    ///   - name: The name of the upstream.
    ///   - limit: The size limit of each repository's memory cache.
    ///   - store: The store that caches responses across restarts, or `nil` for none.
    ///   - outbox: The session's share of the outbox that delivers the writes, or `nil` to send each write immediately. The set
    ///     closes it.
    ///   - endpoints: The endpoints that write through the outbox. The set ignores endpoints of other upstreams.
    ///   - shared: The repositories of endpoints with the audience ``Audience/everyone``, or `nil` if this set has them.
    ///   - others: The repositories of other upstreams.
    ///   - timer: The timer service that measures ages.
    ///   - observer: The observer of the repositories, or `nil` for none.
    public init(
        upstream: Upstream,
        named name: UpstreamName = .standard,
        memory limit: MemoryLimit = MemoryLimit(),
        store: RepositoryStore? = nil,
        outbox: SessionOutbox? = nil,
        declaring endpoints: [AnyEndpoint] = [],
        sharing shared: RepositorySet? = nil,
        besides others: [RepositorySet] = [],
        timer: TimerService = .continuous,
        observer: (any RepositoryObserver)? = nil
    ) {
        self.upstream = upstream
        self.name = name
        self.others = others
        self.observer = observer
        self.memory = limit
        self.store = store
        self.timer = timer
        share = outbox
        self.shared = shared
        guard outbox != nil else { return }
        // Created now, because the outbox needs a handler for each of its writes before it delivers any.
        let repositories = endpoints.filter { $0.upstream == name }.map { ($0.name, $0.make(self)) }
        state.withLock { $0.repositories = Dictionary(repositories) { first, _ in first } }
    }

    /// Returns the repository of an endpoint, and creates it if this is the first call.
    ///
    /// - Parameter endpoint: The endpoint. It is identified by its name.
    /// - Returns: the repository. Each call returns the same one, and the set closes it.
    /// - Throws: a `RepositoryError`: `closed` if the set is closed. It is `refused` if the app has no upstream with the name
    ///   in ``Endpoint/upstream``, another endpoint has the same name, the endpoint is for everyone but accepts writes, or it
    ///   accepts writes through the outbox but is not declared.
    /// - Complexity: O(1).
    public func repository<Entity>(_ endpoint: Endpoint<Entity>) throws(RepositoryError) -> Repository<Entity> {
        if endpoint.audience == .everyone {
            guard !endpoint.isWritable else {
                throw error(
                    .refused,
                    endpoint.name,
                    "is not available: writes need a session, and the endpoint is for everyone"
                )
            }
            if let shared { return try shared.repository(endpoint) }
        }
        guard endpoint.upstream == name else {
            return try set(for: endpoint.upstream, asking: "The repository of \(endpoint.name)").repository(endpoint)
        }
        return try state.withLock { state throws(RepositoryError) in
            if state.isClosed { throw error(.closed, endpoint.name, "is not available: the session is closed") }
            if let hosted = state.repositories[endpoint.name] {
                if let repository = hosted as? Repository<Entity>, repository.endpoint.path == endpoint.path {
                    return repository
                }
                throw error(.refused, endpoint.name, "is not available: another endpoint has this name")
            }
            guard outbox == nil || !endpoint.isWritable else {
                throw error(
                    .refused,
                    endpoint.name,
                    "is not available: declare the endpoint when the app is opened, so that its writes are delivered after a restart"
                )
            }
            let repository = make(endpoint)
            state.repositories[endpoint.name] = repository
            return repository
        }
    }

    /// Returns one of the upstreams.
    ///
    /// - Throws: a `RepositoryError`, `refused`, if the app has no upstream of this name.
    public func upstream(_ name: UpstreamName) throws(RepositoryError) -> Upstream {
        try set(for: name, asking: "The upstream \(name)").upstream
    }

    /// Returns the outbox that delivers the writes to one of the upstreams, or `nil` if each write is sent immediately.
    ///
    /// - Throws: a `RepositoryError`, `refused`, if the app has no upstream of this name.
    public func outbox(of name: UpstreamName) throws(RepositoryError) -> (any RepositoryOutbox)? {
        try set(for: name, asking: "The outbox of \(name)").outbox
    }

    /// The outboxes of all upstreams.
    package var outboxes: [any RepositoryOutbox] { ([self] + others).compactMap(\.outbox) }

    private func set(for name: UpstreamName, asking request: String) throws(RepositoryError) -> RepositorySet {
        if name == self.name { return self }
        guard let other = others.first(where: { $0.name == name }) else {
            throw RepositoryError(
                .refused,
                request: request,
                explanation: "is not available: the app has no upstream named \(name); add it to the configuration"
            )
        }
        return other
    }

    /// Opens the outboxes of the set with the handlers of its repositories, and delivers or shows the pending writes. Does
    /// nothing without an outbox.
    ///
    /// - Parameters:
    ///   - pendingWrites: Whether to deliver the pending writes or only show them.
    ///   - errorHandler: Receives an error that names the owner, if another process owns an outbox.
    /// - Throws: a `RecordStoreError` if the store cannot be read. The next write tries again to open the outbox.
    public func open(
        pendingWrites: PendingWrites = .deliver,
        tellingOwnersTo errorHandler: any ErrorHandler = IgnoringErrorHandler()
    ) async throws(RecordStoreError) {
        // Open all shares even if one fails, because a repository learns of pending writes only from an open share.
        var failure: RecordStoreError?
        for set in [self] + others {
            do throws(RecordStoreError) {
                try await set.openShare(pendingWrites, errorHandler)
            } catch {
                failure = failure ?? error
            }
        }
        if let failure { throw failure }
    }

    private func openShare(
        _ pendingWrites: PendingWrites,
        _ errorHandler: any ErrorHandler
    ) async throws(RecordStoreError) {
        let handlers = state.withLock { $0.repositories.values.compactMap(\.handler) }
        try await share?.open(handlers: handlers, pendingWrites: pendingWrites, tellingOwnersTo: errorHandler)
    }

    /// Closes the repositories and the share of the outbox, including those of other upstreams. Pending writes wait for the
    /// next session.
    public func close() async {
        // Concurrently, so that an upstream that does not answer does not delay the others.
        await withDiscardingTaskGroup { group in
            for other in others { group.addTask { await other.close() } }
            await closeOwn()
        }
    }

    private func closeOwn() async {
        let repositories = state.withLock { state in
            state.isClosed = true
            return Array(state.repositories.values)
        }
        // Closed first, because answered writes are settled while the repositories are open.
        await share?.close()
        for repository in repositories { await repository.close() }
        // Released outside of the lock, because their deinitializers can run any code.
        _ = state.withLock { state in
            defer { state.repositories = [:] }
            return state.repositories
        }
    }

    fileprivate func make<Entity>(_ endpoint: Endpoint<Entity>) -> Repository<Entity> {
        Repository(
            endpoint,
            upstream: upstream,
            memory: memory,
            store: store,
            outbox: outbox,
            timer: timer,
            observer: observer
        )
    }

    private func error(_ reason: RepositoryError.Reason, _ name: String, _ explanation: String) -> RepositoryError {
        RepositoryError(reason, request: "The repository of \(name)", explanation: explanation)
    }
}

/// A type-erased endpoint, for a list of the endpoints that write through an outbox.
///
/// ```swift
/// let endpoints = [AnyEndpoint(endpoint)]
/// ```
public struct AnyEndpoint: Sendable {
    /// The name of the endpoint.
    public let name: String
    /// The name of the upstream that has the entities.
    public let upstream: UpstreamName
    let make: @Sendable (RepositorySet) -> any HostedRepository

    /// Wraps an endpoint.
    public init<Entity>(_ endpoint: Endpoint<Entity>) {
        name = endpoint.name
        upstream = endpoint.upstream
        make = { $0.make(endpoint) }
    }
}

/// A type-erased repository in a set.
protocol HostedRepository: Sendable {
    var handler: (any OutboxHandler)? { get }
    func close() async
}

extension Repository: HostedRepository {}
