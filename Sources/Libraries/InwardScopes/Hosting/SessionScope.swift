public import InwardCore
import InwardFetching
public import InwardRepositories

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A container of one user's repositories from sign-in to sign-out, and of the objects that your service adds.
///
/// ```swift
/// let session = try await app.signIn(as: "ada", credentials: .fixed(.bearer(token)))
/// let comments = try session.repository(commentsEndpoint)
/// print(try await comments.entity(7).value.body)
/// try await session.close()
/// ```
///
/// A session has one repository for each endpoint. Close the session at sign-out, which discards the memory caches of its
/// repositories. Stored responses and pending writes stay in the app's store for the user's next session.
public struct SessionScope<Own: Sendable>: Container {
    /// The objects of a session.
    public struct Objects: Sendable {
        /// The data fetchers that add the user's credentials and response cache. The standard upstream's is last.
        let dataFetchers: [any DataFetcher]
        let repositories: RepositorySet
        let timer: TimerService
        let own: Own
    }

    /// The scope of the session.
    public let scope: Scope<SessionLifetime, Objects>

    /// The error that prevented reading the user's pending writes when the session opened, or `nil` if there was none. Despite
    /// such an error, the session can read entities, and its next write tries to read the pending writes again.
    public let storeFailure: RecordStoreError?

    /// Your objects, which the closure of `signIn` created.
    ///
    /// - Throws: A ``ScopeError`` if the session is closed.
    public var own: Own {
        get throws(ScopeError) { try scope.objects().own }
    }

    /// The outbox that delivers the user's writes to the standard upstream, or `nil` if the app has no store. Use it to list,
    /// retry or discard writes. The outboxes of other upstreams are in ``repositories``.
    ///
    /// ```swift
    /// for write in try session.outbox?.pending ?? [] { print(write) }
    /// ```
    ///
    /// - Throws: A ``ScopeError`` if the session is closed.
    public var outbox: (any RepositoryOutbox)? {
        get throws(ScopeError) { try repositories.outbox }
    }

    /// The standard upstream with the user's credentials, for requests that you send without a repository. Requests fail after
    /// the session closes. The other upstreams are in ``repositories``.
    ///
    /// - Throws: A ``ScopeError`` if the session is closed.
    public var upstream: Upstream {
        get throws(ScopeError) { try repositories.upstream }
    }

    /// The repositories of the session, with the upstreams and outboxes that they use.
    ///
    /// ```swift
    /// let search = try session.repositories.upstream(UpstreamName("search"))
    /// let comment = try await search.value(CommentDTO.self, at: "newest")
    /// ```
    ///
    /// - Throws: A ``ScopeError`` if the session is closed.
    public var repositories: RepositorySet {
        get throws(ScopeError) { try scope.objects().repositories }
    }

    /// Returns the session's repository of an endpoint. If the endpoint's audience is `everyone`, returns the repository that
    /// all sessions share.
    ///
    /// ```swift
    /// let comments = try session.repository(commentsEndpoint)
    /// try await comments.update(7) { $0.body = "Very well said." }
    /// ```
    ///
    /// Store the repository, and pass it to initializers. Do not use the session as a service locator.
    ///
    /// - Parameter endpoint: The endpoint, which is identified by its name.
    /// - Returns: The repository. Every call with this endpoint returns the same one.
    /// - Throws: A `RepositoryError` with the reason `closed` if the session is closed, or `refused` if
    ///   - another endpoint has the same name,
    ///   - the endpoint is for everyone and has writes,
    ///   - the app does not have the endpoint's upstream, or
    ///   - the app has a store, and the endpoint has writes and is missing in ``AppScopeConfiguration/endpoints``.
    public func repository<Entity>(_ endpoint: Endpoint<Entity>) throws(RepositoryError) -> Repository<Entity> {
        try scope.objects(for: endpoint).repositories.repository(endpoint)
    }

    /// Waits until the pending writes are delivered or refused, up to a time limit. An open session delivers its writes without
    /// this call.
    ///
    /// ```swift
    /// let pendingCount = try await session.deliver(within: .seconds(10))
    /// print("\(pendingCount) writes are still pending.")
    /// ```
    ///
    /// The method does not wait for writes whose next attempt is due after the limit. If another process owns the outbox, the
    /// method waits, within the limit, until that process releases it.
    ///
    /// - Parameter limit: The maximum time to wait.
    /// - Returns: The number of the user's writes that are still pending in the store, no matter which process delivers them.
    /// - Throws: A ``ScopeError`` if the session is closed, or a `RecordStoreError` if the store cannot be read.
    @discardableResult
    public func deliver(within limit: Duration) async throws -> Int {
        try await scope.run { objects async throws(RecordStoreError) in
            let deadline = Deadline(in: limit, on: objects.timer)
            return try await objects.repositories.outboxes.concurrently {
                outbox async throws(RecordStoreError) in try await outbox.deliver(by: deadline)
            }.reduce(0, +)
        }.get()
    }
}

extension AppScope {
    /// Opens a session with objects of your own.
    ///
    /// ```swift
    /// struct CommentBoard: Sendable {
    ///     let comments: Repository<Comment>
    /// }
    ///
    /// let session = try await app.signIn(as: "ada", credentials: .fixed(.bearer(token))) { opening, repositories in
    ///     CommentBoard(comments: try repositories.repository(commentsEndpoint))
    /// }
    /// ```
    ///
    /// If the user has to sign in again, because the credentials for an upstream can no longer be renewed, the session closes
    /// by itself, and the error handler receives a ``SignedOutError``. Pending writes then wait for the user's next session.
    ///
    /// - Parameters:
    ///   - user: The user's identity, which must be the same in all sessions, such as the user name at the upstream. It names
    ///     the user's part of the store, and the session in messages. A session without credentials uses a separate part of the
    ///     store.
    ///   - credentials: The credentials to send.
    ///   - pendingWrites: Whether to deliver or only show the user's pending writes.
    ///   - memory: The size limit of the memory cache of each of the session's repositories, or `nil` for that of
    ///     ``AppScopeConfiguration``.
    ///   - make: Creates your objects, and registers those that need closing. It must not read or write, because the
    ///     repositories work only after the session has opened.
    /// - Returns: The session, which the caller closes. Closing the app closes it too.
    /// - Throws: A ``ScopeError`` if the app is closed or shutting down, or the error that `make` throws.
    public func signIn<SessionOwn: Sendable, Failure: Error>(
        as user: String,
        credentials: SessionCredentials = .none,
        pendingWrites: PendingWrites = .deliver,
        memory: MemoryLimit? = nil,
        making make: (inout ScopeOpening, RepositorySet) async throws(Failure) -> SessionOwn
    ) async throws -> SessionScope<SessionOwn> {
        try await opened(user, credentials, pendingWrites, memory: memory, making: make).get()
    }

    /// Opens a session without objects of your own.
    ///
    /// - Parameters:
    ///   - user: The user's identity, which must be the same in all sessions. It names the user's part of the store, and the
    ///     session in messages.
    ///   - credentials: The credentials to send.
    ///   - pendingWrites: Whether to deliver or only show the user's pending writes.
    /// - Returns: The session, which the caller closes. Closing the app closes it too.
    /// - Throws: A ``ScopeError`` if the app is closed or shutting down.
    public func signIn(
        as user: String,
        credentials: SessionCredentials = .none,
        pendingWrites: PendingWrites = .deliver
    ) async throws(ScopeError) -> SessionScope<Void> {
        try await opened(user, credentials, pendingWrites) { _, _ throws(Never) in }.get()
    }

    func opened<SessionOwn: Sendable, Failure: Error>(
        _ user: String,
        _ credentials: SessionCredentials,
        _ pendingWrites: PendingWrites,
        memory: MemoryLimit? = nil,
        making make: (inout ScopeOpening, RepositorySet) async throws(Failure) -> SessionOwn
    ) async throws(ScopeError) -> Result<SessionScope<SessionOwn>, Failure> {
        let app = try scope.objects()
        let configuration = app.configuration
        let report = configuration.observers.sessions.map { SessionReport(user, observer: $0, at: app.timer.now) }
        let opened = try await Scope<SessionLifetime, SessionScope<SessionOwn>.Objects>.opened(user, in: scope) {
            opening,
            scope throws(Failure) in
            opening.errorHandler = configuration.errorHandler
            // Registered first, so it reports the close after everything else is closed.
            if let report { _ = opening.closing(report, as: "observer") { $0.closed(at: app.timer.now) } }
            // Keeps guests apart, so that a session with credentials neither shows nor delivers the writes of a guest.
            let owner = OutboxOwner(user, isGuest: credentials.areNone)
            var dataFetchers: [any DataFetcher] = []
            func repositories(
                at hosted: HostedUpstream,
                _ place: Int,
                besides others: [RepositorySet]
            ) -> RepositorySet {
                let credentials = credentials.make(for: hosted, configuration, app.timer)
                let partition = opening.closing(
                    app.responseCache.makePartition(),
                    as: hosted.title("cachePartition")
                ) { $0.close() }
                var authorized = configuration.dataFetcher(of: hosted, for: user)
                if let credentials {
                    authorized = authorized.authorizing(
                        with: opening.closing(credentials, as: hosted.title("credentials")) { $0.close() }
                    )
                }
                dataFetchers.append(
                    authorized.caching(in: partition)
                        .observing(with: configuration.observers.fetching, timer: app.timer)
                )
                // Ends requests when the session closes.
                let asked = hosted.upstream.asked(through: ScopedDataFetcher(scope) { $0.dataFetchers[place] })
                let store = configuration.place(of: owner.key, at: hosted, app.sharedOutboxes.peers)
                let share =
                    app.sharedOutboxes.partition(of: owner, at: hosted)
                    .map { SessionOutbox($0, executor: app.timer.executor) }
                    ?? store.map { store in
                        app.outboxes.outbox(
                            of: store,
                            at: asked,
                            policy: configuration.outboxPolicy,
                            timer: app.timer,
                            observer: configuration.observers.repositories,
                            errorHandler: configuration.errorHandler
                        )
                    }
                let repositories = RepositorySet(
                    upstream: asked,
                    named: hosted.name,
                    memory: memory ?? configuration.memory,
                    store: store,
                    outbox: share,
                    declaring: configuration.endpoints,
                    sharing: app.repositories,
                    besides: others,
                    timer: app.timer,
                    observer: configuration.observers.repositories
                )
                credentials?.tell(share?.outbox, configuration.errorHandler, closing: scope)
                return repositories
            }
            let others = configuration.otherUpstreams.enumerated().map { place, hosted in
                repositories(at: hosted, place, besides: [])
            }
            let repositories = repositories(at: configuration.standardUpstream, others.count, besides: others)
            return SessionScope<SessionOwn>.Objects(
                dataFetchers: dataFetchers,
                repositories: opening.closing(repositories, as: "repositories") { await $0.close() },
                timer: app.timer,
                own: try await make(&opening, repositories)
            )
        }
        switch opened {
        case .success(let scope):
            let session = try await read(scope, pendingWrites)
            report?.opened(at: app.timer.now)
            return .success(session)
        case .failure(let error): return .failure(error)
        }
    }

    /// Reads the pending writes of a session.
    private func read<SessionOwn>(
        _ scope: Scope<SessionLifetime, SessionScope<SessionOwn>.Objects>,
        _ pendingWrites: PendingWrites
    ) async throws(ScopeError) -> SessionScope<SessionOwn> {
        let (objects, configuration) = (try scope.objects(), try self.scope.objects().configuration)
        let result = await Deadline(in: configuration.openingLimit, on: objects.timer).carried {
            () async throws(RecordStoreError) in
            try await objects.repositories.open(
                pendingWrites: pendingWrites,
                tellingOwnersTo: configuration.errorHandler
            )
        }
        // The app may have closed in the meantime.
        _ = try scope.objects()
        guard case .failure(let error) = result else { return SessionScope(scope: scope, storeFailure: nil) }
        configuration.errorHandler.handle(error)
        return SessionScope(scope: scope, storeFailure: error)
    }
}
