public import InwardCore
public import InwardFetching
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
        let dataFetcher: any DataFetcher
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

    /// The outbox that delivers the user's writes, for example to list or discard them; `nil` without a store.
    ///
    /// - Throws: a ``ScopeError`` if the session is closed.
    public var outbox: Outbox? {
        get throws(ScopeError) { try scope.objects().repositories.outbox }
    }

    /// The upstream with the user's credentials, for what is no entity. It answers as long as the session is open.
    ///
    /// - Throws: a ``ScopeError`` if the session is closed.
    public var upstream: Upstream {
        get throws(ScopeError) { try scope.objects().repositories.upstream }
    }

    /// Returns the session's repository of an endpoint, and creates it if this is the first call. What is for everyone has one
    /// repository in the app.
    ///
    /// Pass the repository on by initializers, and keep it: this is no place to look things up in.
    ///
    /// - Parameter endpoint: The endpoint. It is identified by its name.
    /// - Returns: the repository, the same each time.
    /// - Throws: a `RepositoryError`: `closed` if the session is closed; `refused` if another endpoint has the same name, if the
    ///   endpoint is for everyone and has writes, or if there is a store, and the endpoint has writes and is not among those of the
    ///   ``AppScopeConfiguration``.
    public func repository<Entity>(_ endpoint: Endpoint<Entity>) throws(RepositoryError) -> Repository<Entity> {
        try scope.objects(for: endpoint).repositories.repository(endpoint)
    }

    /// Waits until the pending writes are delivered or refused, up to a time limit. An open session delivers its writes without
    /// this call.
    ///
    /// If writes are pending, this method opens the outbox, and waits for another process that owns it to release it.
    ///
    /// - Parameter limit: How long to wait at most.
    /// - Returns: the number of writes in the store that are still pending, whoever delivers them.
    /// - Throws: a ``ScopeError`` if the session is closed; a `RecordStoreError` if the store cannot be read.
    @discardableResult
    public func deliver(within limit: Duration) async throws -> Int {
        try await scope.run { objects async throws(RecordStoreError) in
            guard let outbox = objects.repositories.outbox else { return 0 }
            // A failure to open it shows in the number of writes.
            _ = await Deadline(in: limit, on: objects.timer).bound { () async throws(RecordStoreError) in
                if try await outbox.hasPendingRecords() { try await outbox.open() }
                await outbox.drain()
            }
            return try await outbox.contents().pending.count
        }.get()
    }
}

extension AppScope {
    /// Opens a session with objects of the service's own.
    ///
    ///     let session = try await app.signIn(as: "ada", credentials: credentials) { opening, repositories throws(ScopeError) in
    ///         SessionObjects(drafts: Drafts())
    ///     }
    ///
    /// - Parameters:
    ///   - user: What identifies the user across sessions, such as the identity at the upstream. It names the user's part of the
    ///     store, and the session in messages.
    ///   - credentials: The credentials to send.
    ///   - pendingWrites: How to treat writes that an earlier process left.
    ///   - make: Creates the objects of the service, and registers those that need closing. The repositories answer once the
    ///     session is open, so do not read or write here.
    /// - Returns: the session, which the caller closes. Closing the app closes it too.
    /// - Throws: a ``ScopeError`` if the app is closed.
    public func signIn<SessionOwn: Sendable>(
        as user: String,
        credentials: SessionCredentials = .none,
        pendingWrites: PendingWrites = .deliver,
        making make: (inout ScopeOpening, RepositorySet) async throws(ScopeError) -> SessionOwn
    ) async throws(ScopeError) -> SessionScope<SessionOwn> {
        let app = try scope.objects()
        let configuration = app.configuration
        let credentials = credentials.make(configuration, app.timer)
        let scope = try await Scope<SessionLifetime, SessionScope<SessionOwn>.Objects>.open(user, in: scope) {
            opening,
            scope throws(ScopeError) in
            opening.errorHandler = configuration.errorHandler
            let partition = opening.closing(app.responseCache.makePartition(), as: "cachePartition") { $0.close() }
            let upstream = configuration.upstream
            let authorized: any DataFetcher =
                if let credentials { upstream.dataFetcher.authorizing(with: credentials) } else { upstream.dataFetcher }
            // Requests do not outlive the session.
            let asked = upstream.asked(through: ScopedDataFetcher(scope) { $0.dataFetcher })
            let place = configuration.place(of: ["users", user])
            let repositories = RepositorySet(
                upstream: asked,
                memory: configuration.memory,
                store: place,
                outbox: place.map { app.outboxes.outbox(of: $0, asking: asked, configuration, timer: app.timer) },
                declaring: configuration.endpoints,
                sharing: app.repositories,
                timer: app.timer
            )
            if let outbox = repositories.outbox { credentials?.whenRenewed { [weak outbox] in outbox?.retryDenied() } }
            return SessionScope<SessionOwn>.Objects(
                dataFetcher: authorized.caching(in: partition),
                repositories: opening.closing(repositories, as: "repositories") { await $0.close() },
                timer: app.timer,
                own: try await make(&opening, repositories)
            )
        }
        let objects = try scope.objects()
        let opened = await Deadline(in: configuration.openingLimit, on: app.timer).carried {
            () async throws(RecordStoreError) in
            try await objects.repositories.open(
                pendingWrites: pendingWrites,
                tellingOwnersTo: configuration.errorHandler
            )
        }
        // The app may have closed in the meantime.
        _ = try scope.objects()
        guard case .failure(let error) = opened else { return SessionScope(scope: scope, storeFailure: nil) }
        configuration.errorHandler.handle(error)
        return SessionScope(scope: scope, storeFailure: error)
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
        try await signIn(as: user, credentials: credentials, pendingWrites: pendingWrites) { _, _ in }
    }
}

extension SessionOutboxes {
    /// Returns a session's share of the outbox for a user's part of the store.
    fileprivate func outbox(
        of place: RepositoryStore,
        asking upstream: Upstream,
        _ configuration: AppScopeConfiguration,
        timer: TimerService
    ) -> SessionOutbox {
        outbox(of: place.partition, asking: upstream.dataFetcher) { dataFetcher in
            Outbox(
                upstream: upstream.asked(through: dataFetcher),
                store: place.records,
                // Outside of the repositories' partition, so that clearing their cached data keeps pending writes.
                prefix: RecordKey(["outboxes"] + place.partition.components),
                policy: configuration.outboxPolicy,
                timer: timer,
                errorHandler: configuration.errorHandler
            )
        }
    }
}

/// The credentials that a session sends to the upstream of its app, and nowhere else.
///
///     let credentials = SessionCredentials.refreshing { .bearer(try await tokens.current()) }
///     let session = try await app.signIn(as: "ada", credentials: credentials)
public struct SessionCredentials: Sendable {
    let make: @Sendable (AppScopeConfiguration, TimerService) -> Credentials?

    /// Sends no credentials.
    public static let none = Self { _, _ in nil }

    /// Sends a header field that does not change, such as `HeaderField.bearer(token)`.
    public static func fixed(_ field: HeaderField) -> Self {
        Self { configuration, _ in
            Credentials(
                field,
                for: configuration.upstream.baseURL,
                allowingPlainHTTP: configuration.allowsCredentialsOverPlainHTTP
            )
        }
    }

    /// Obtains a header field before the first request, and another one when the upstream no longer accepts it (401).
    ///
    /// However many requests wait for it, it is renewed once. Writes that wait in the outbox because the upstream rejected the
    /// credentials are sent when it accepts the new ones.
    ///
    /// - Parameters:
    ///   - interval: The minimum time from the end of a renewal to the next one, whether or not it succeeded.
    ///   - renew: Returns new credentials, for example from a token endpoint. Callers' deadlines do not apply to it, so give it its
    ///     own. If it fails, the requests that wait for it are not sent, and their errors tell why.
    /// - Returns: the credentials.
    public static func refreshing(
        atMostEvery interval: Duration = Credentials.standardRenewalInterval,
        _ renew: @escaping @Sendable () async throws -> HeaderField
    ) -> Self {
        Self { configuration, timer in
            let url = configuration.upstream.baseURL
            return Credentials(
                for: url,
                allowingPlainHTTP: configuration.allowsCredentialsOverPlainHTTP,
                renewingAtMostEvery: interval,
                timer: timer,
                executor: timer.executor
            ) { () async throws(FetchError) in
                do {
                    return try await renew()
                } catch let error as FetchError {
                    throw error
                } catch {
                    let explanation = "was not sent: its credentials could not be renewed: \(error)"
                    let request = DataRequest(url: url)
                    throw FetchError(.unreachable, request: request, explanation: explanation, wasSent: false)
                }
            }
        }
    }
}
