public import InwardCore
import InwardFetching
public import InwardRepositories

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A user of an app from sign-in to sign-out: the user's repositories, and what the service adds.
///
///     let session = try await app.signIn(as: "ada", credentials: .fixed(.bearer(token)))
///     let comments = try session.repository(.comments)
///     try await session.close()
///
/// Each endpoint has one repository, which lives as long as the session. Close the session at sign-out. What its repositories have
/// in memory is then discarded, and what the store keeps for the user is there for the user's next session.
public struct SessionScope<Own: Sendable>: Container {
    /// The objects of a session.
    public struct Objects: Sendable {
        /// With the user's credentials and cache: those of the other upstreams, and then that of the standard one.
        let dataFetchers: [any DataFetcher]
        let repositories: RepositorySet
        let timer: TimerService
        let own: Own
    }

    /// The scope of the session.
    public let scope: Scope<SessionLifetime, Objects>

    /// Why the user's pending writes could not be read when the session was opened; `nil` if they were, or if there is no store.
    /// Reads work, and the next write tries again.
    public let storeFailure: RecordStoreError?

    /// The objects that the service has added.
    ///
    /// - Throws: a ``ScopeError`` if the session is closed.
    public var own: Own {
        get throws(ScopeError) { try scope.objects().own }
    }

    /// The outbox that delivers the user's writes to the standard upstream, for example to list or discard them; `nil` without a
    /// store. For that of another upstream, ask ``repositories``.
    ///
    /// - Throws: a ``ScopeError`` if the session is closed.
    public var outbox: Outbox? {
        get throws(ScopeError) { try repositories.outbox }
    }

    /// The standard upstream with the user's credentials, for what is no entity. It answers as long as the session is open. For another
    /// upstream, ask ``repositories``.
    ///
    /// - Throws: a ``ScopeError`` if the session is closed.
    public var upstream: Upstream {
        get throws(ScopeError) { try repositories.upstream }
    }

    /// The repositories of the session, with the upstreams and outboxes that they use.
    ///
    ///     let report = try await session.repositories.upstream(.search).value(ReportDTO.self, at: "report")
    ///
    /// - Throws: a ``ScopeError`` if the session is closed.
    public var repositories: RepositorySet {
        get throws(ScopeError) { try scope.objects().repositories }
    }

    /// Returns the session's repository of an endpoint, and creates it if this is the first call. What is for everyone has one
    /// repository in the app.
    ///
    /// Pass the repository on by initializers, and keep it: this is no place to look things up in.
    ///
    /// - Parameter endpoint: The endpoint. It is identified by its name.
    /// - Returns: the repository, the same each time.
    /// - Throws: a `RepositoryError`: `closed` if the session is closed; `refused` if another endpoint has the same name, if the
    ///   endpoint is for everyone and has writes, if the app does not have its upstream, or if there is a store, and the endpoint has
    ///   writes and is not among those of the ``AppScopeConfiguration``.
    public func repository<Entity>(_ endpoint: Endpoint<Entity>) throws(RepositoryError) -> Repository<Entity> {
        try scope.objects(for: endpoint).repositories.repository(endpoint)
    }

    /// Waits until the pending writes are delivered or refused, up to a time limit. It does not wait for writes whose next attempt is
    /// later than that. An open session delivers its writes without this call.
    ///
    /// If writes are pending, this method opens the outbox, and waits for another process that owns it to release it.
    ///
    /// - Parameter limit: How long to wait at most.
    /// - Returns: the number of writes in the store that are still pending, whoever delivers them.
    /// - Throws: a ``ScopeError`` if the session is closed; a `RecordStoreError` if the store cannot be read.
    @discardableResult
    public func deliver(within limit: Duration) async throws -> Int {
        try await scope.run { objects async throws(RecordStoreError) in
            let deadline = Deadline(in: limit, on: objects.timer)
            return try await objects.repositories.outboxes.concurrently { outbox async throws(RecordStoreError) in
                try await outbox.deliver(by: deadline)
            }.reduce(0, +)
        }.get()
    }
}

extension AppScope {
    /// Opens a session with objects of the service's own.
    ///
    ///     let session = try await app.signIn(as: "ada", credentials: credentials) { opening, repositories in
    ///         SessionObjects(comments: CommentBoard(try repositories.repository(.comments)))
    ///     }
    ///
    /// If the credentials for an upstream are refused for good, the session closes by itself, and the error handler receives a
    /// ``SignedOutError``. The writes that are pending then wait for the user's next session.
    ///
    /// - Parameters:
    ///   - user: What identifies the user across sessions, such as the identity at the upstream. It names the user's part of the
    ///     store, and the session in messages. A session without credentials has a part of its own.
    ///   - credentials: The credentials to send.
    ///   - pendingWrites: How to treat writes that an earlier process left.
    ///   - memory: The size limit of the memory cache of each of the session's repositories; `nil` for that of the app's
    ///     ``AppScopeConfiguration``.
    ///   - make: Creates the objects of the service, and registers those that need closing. The repositories answer once the
    ///     session is open, so do not read or write here.
    /// - Returns: the session, which the caller closes. Closing the app closes it too.
    /// - Throws: a ``ScopeError`` if the app is closed, or the error that `make` throws.
    public func signIn<SessionOwn: Sendable, Failure: Error>(
        as user: String,
        credentials: SessionCredentials = .none,
        pendingWrites: PendingWrites = .deliver,
        memory: MemoryLimit? = nil,
        making make: (inout ScopeOpening, RepositorySet) async throws(Failure) -> SessionOwn
    ) async throws -> SessionScope<SessionOwn> {
        try await opened(user, credentials, pendingWrites, memory: memory, making: make).get()
    }

    /// Opens a session without objects of the service's own.
    ///
    /// - Parameters:
    ///   - user: What identifies the user across sessions. It names the user's part of the store, and the session in messages.
    ///   - credentials: The credentials to send.
    ///   - pendingWrites: How to treat writes that an earlier process left.
    /// - Returns: the session, which the caller closes. Closing the app closes it too.
    /// - Throws: a ``ScopeError`` if the app is closed.
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
            // Registered first, and so told when everything else is closed.
            if let report { _ = opening.closing(report, as: "observer") { $0.closed(at: app.timer.now) } }
            // A session with credentials neither shows nor delivers the writes of a guest.
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
                var authorized = hosted.upstream.dataFetcher
                if let credentials {
                    authorized = authorized.authorizing(
                        with: opening.closing(credentials, as: hosted.title("credentials")) { $0.close() }
                    )
                }
                dataFetchers.append(
                    authorized.caching(in: partition)
                        .observing(with: configuration.observers.fetching, timer: app.timer)
                )
                // Requests do not outlive the session.
                let asked = hosted.upstream.asked(through: ScopedDataFetcher(scope) { $0.dataFetchers[place] })
                let store = configuration.place(of: owner.key, at: hosted, app.peers)
                let share = store.map { store in
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
                credentials?.tell(repositories.outbox, configuration.errorHandler, closing: scope)
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
