import Entities
import Foundation
public import InterfaceAdapters
public import InwardCore
import InwardFetching
import InwardImageServing
public import InwardImages
public import InwardRepositories
public import InwardScopes
import UseCases

/// The objects that live from sign-in to sign-out.
///
/// ```swift
/// let ada = UserSession(name: "Ada", credentials: .bearer("token"), storeKey: "user-7")
/// let user = try await UserContainer(ada, in: app)
/// try await user.close()  // At sign-out.
/// ```
///
/// The session is fixed when the container is created, so no object inside needs to check who is signed in. Close the container
/// at sign-out. Closing discards everything cached for the session, except what the app's store keeps for the user's next
/// session.
public struct UserContainer: Container {
    /// The objects of a user container. Interactions share one reference to them, because an interaction is copied often.
    public final class Objects: Sendable {
        let session: UserSession
        let cachePartition: ResponseCache.Partition
        let upstream: Upstream
        let repositories: RepositorySet
        let outbox: (any RepositoryOutbox)?
        let users: Result<UpstreamUserRepository, RepositoryError>
        let posts: Result<UpstreamPostRepository, RepositoryError>
        let images: OnFirstUse<ImageLoader>
        let userOrder = UserOrder()
        /// What interactions need of the app.
        let interactionParts: InteractionParts

        init(
            session: UserSession,
            cachePartition: ResponseCache.Partition,
            upstream: Upstream,
            repositories: RepositorySet,
            outbox: (any RepositoryOutbox)?,
            users: Result<UpstreamUserRepository, RepositoryError>,
            posts: Result<UpstreamPostRepository, RepositoryError>,
            images: OnFirstUse<ImageLoader>,
            interactionParts: InteractionParts
        ) {
            self.session = session
            self.cachePartition = cachePartition
            self.upstream = upstream
            self.repositories = repositories
            self.outbox = outbox
            self.users = users
            self.posts = posts
            self.images = images
            self.interactionParts = interactionParts
        }
    }

    /// The scope of the session.
    public let scope: Scope<SessionLifetime, Objects>
    /// The error that occurred while the user's part of the app's store was opened; `nil` if it is open, or if there is no
    /// store. Reads still work, and each write tries to open it again.
    public let storeFailure: RecordStoreError?
    let app: AppContainer
    private let pendingWrites: PendingWrites

    /// Opens a session of an app.
    ///
    /// - Parameters:
    ///   - session: The user, and the credentials to send.
    ///   - app: The app.
    ///   - pendingWrites: How to treat writes that an earlier process left. Pass `PendingWrites.show` in processes of a service
    ///     that only answer reads.
    /// - Throws: A `ScopeError` if the app is closed.
    public init(
        _ session: UserSession,
        in app: AppContainer,
        pendingWrites: PendingWrites = .deliver
    ) async throws(ScopeError) {
        self.app = app
        self.pendingWrites = pendingWrites
        let shared = try app.scope.objects()
        let report = shared.sessionObserver.map {
            SessionReport(session.name, observer: $0, at: shared.timer.now)
        }
        scope = try await Scope.open(session.name, in: app.scope) { opening, scope throws(ScopeError) in
            let app = try app.scope.objects()
            // Registered first, so it closes last and reports when everything else is closed.
            if let report { _ = opening.closing(report, as: "observer") { $0.closed(at: app.timer.now) } }
            let partition = opening.closing(app.responseCache.makePartition(.session), as: "cachePartition") {
                $0.close()
            }
            let upstream = app.upstream.upstream(sending: session.credentials, cachingIn: partition)
            // Addresses of images come from strangers, so no response to a request with credentials may answer them.
            let imagePartition = opening.closing(app.responseCache.makePartition(.session), as: "imagePartition") {
                $0.close()
            }
            let imageSource = FetchingImageSource(
                app.upstream.fetcher(
                    over: app.imageFetcher,
                    sending: app.configuration.sendsCredentialsForImages ? session.credentials : nil,
                    cachingIn: imagePartition
                ),
                relativeTo: upstream.baseURL
            )
            // Repository requests do not outlive the session.
            let asked = upstream.asked(through: ScopedDataFetcher(scope) { $0.upstream.dataFetcher })
            let kept = session.storeOwner.flatMap { app.store?.parts(of: $0, asking: asked) }
            let lifetimes = app.configuration.lifetimes
            let repositories = RepositorySet(
                upstream: asked,
                memory: app.configuration.memoryLimit,
                store: kept?.place,
                outbox: kept?.outbox,
                declaring: app.endpoints,
                timer: app.timer,
                observer: app.repositoryObserver
            )
            // Each session has its own loader, so that no user sees another user's images. All loaders share the capacity of
            // the cache and the decoding budget.
            let images = opening.onFirstUse(as: "images") { () throws(ScopeError) in
                ImageLoader(
                    source: imageSource,
                    codec: try app.imageCodec.object(),
                    limits: app.configuration.imageLimits,
                    cache: try app.imageCache.object(),
                    budget: try app.decodingBudget.object(),
                    timer: app.timer,
                    observer: app.imageObserver
                )
            }
            return Objects(
                session: session,
                cachePartition: partition,
                upstream: upstream,
                repositories: opening.closing(repositories, as: "repositories") { await $0.close() },
                outbox: kept?.outbox.outbox,
                users: Result { () throws(RepositoryError) in
                    UpstreamUserRepository(try repositories.repository(.users(lifetimes: lifetimes)))
                },
                posts: Result { () throws(RepositoryError) in
                    UpstreamPostRepository(try repositories.repository(.posts(lifetimes: lifetimes)))
                },
                images: images,
                interactionParts: InteractionParts(app)
            )
        }
        let objects = try scope.objects()
        storeFailure = await Deadline(in: shared.configuration.timeLimit, on: shared.timer).carried {
            await Self.openOutbox(of: objects, pendingWrites, tellingFailuresTo: shared.errorHandler)
        }.get()
        report?.opened(at: shared.timer.now)
    }

    /// Resumes the delivery of writes that an earlier process left in the store.
    ///
    /// Until they have been read, no new write is accepted. Each new write tries to read them again.
    ///
    /// - Parameters:
    ///   - objects: The objects of the session.
    ///   - pendingWrites: How to treat the writes.
    ///   - errorHandler: Receives the error if the writes cannot be read.
    /// - Returns: The error; `nil` if the writes were read, or if the session has no store.
    private static func openOutbox(
        of objects: Objects,
        _ pendingWrites: PendingWrites,
        tellingFailuresTo errorHandler: any ErrorHandler
    ) async -> RecordStoreError? {
        do {
            try await objects.repositories.open(pendingWrites: pendingWrites, tellingOwnersTo: errorHandler)
            return nil
        } catch {
            errorHandler.handle(error)
            return error
        }
    }

    /// Rereads the pending writes, if the session shows them but does not deliver them.
    func refreshPendingWrites() async {
        guard pendingWrites == .show else { return }
        do {
            try await scope.objects().outbox?.showPending()
        } catch {
            // The feed is shown without the pending writes.
            try? app.errorHandler.handle(error)
        }
    }

    /// Returns the session's repository for an endpoint. Every call returns the same one.
    ///
    /// ```swift
    /// let posts = try user.repository(.posts())
    /// let reading = try await posts.entities(.all, .cacheFirst)
    /// ```
    ///
    /// - Throws: A `RepositoryError`: `closed` if the session is closed; `refused` if the endpoint allows writes, but was not
    ///   passed to the app.
    public func repository<Entity>(_ endpoint: Endpoint<Entity>) throws(RepositoryError) -> Repository<Entity> {
        let repositories: RepositorySet
        do throws(ScopeError) {
            repositories = try scope.objects().repositories
        } catch {
            throw RepositoryError(error, endpoint)
        }
        return try repositories.repository(endpoint)
    }

    /// Opens the scope of a feature over the session's repository of an endpoint. The scope is named after the endpoint.
    ///
    /// ```swift
    /// struct Objects: Sendable { let posts: UpstreamPostRepository }
    /// let scope = try user.openFeature(over: .posts()) { Objects(posts: UpstreamPostRepository($0)) }
    /// ```
    ///
    /// - Parameters:
    ///   - endpoint: The endpoint of the feature's entities.
    ///   - make: Creates the feature's objects from the repository. They need no closing.
    /// - Returns: The scope. Closing the session closes it.
    /// - Throws: A `RepositoryError`, as ``repository(_:)`` does.
    public func openFeature<Entity, Others: Sendable>(
        over endpoint: Endpoint<Entity>,
        making make: (Repository<Entity>) -> Others
    ) throws(RepositoryError) -> Scope<FeatureLifetime, Others> {
        let objects = make(try repository(endpoint))
        do throws(ScopeError) {
            return try Scope(endpoint.name, in: scope, objects: objects)
        } catch {
            throw RepositoryError(error, endpoint)
        }
    }

    /// A loader of images. Its only plugin turns images upright. Addresses are relative to the address of the upstream.
    ///
    /// It loads images from the upstream's origin, and from addresses that ``AppConfiguration/imageAddressPolicy`` allows. Requests
    /// carry no credentials, unless ``AppConfiguration/sendsCredentialsForImages`` is set.
    ///
    /// - Throws: A `ScopeError` if the session is closed.
    public var images: ImageLoader {
        get throws(ScopeError) { try scope.objects().images.object() }
    }

    /// Opens the scope of an interaction of this user.
    ///
    /// - Parameters:
    ///   - feature: The scope of the feature that the interaction belongs to.
    ///   - id: The identifier of the request; `nil` for a sequential number.
    ///   - limit: The time limit, from now on; `nil` for the configured limit.
    /// - Returns: The scope, which the caller closes.
    /// - Throws: A `ScopeError` if the feature or a scope around it is closed.
    public func openInteraction<Others: Sendable>(
        in feature: Scope<FeatureLifetime, Others>,
        id: InteractionID?,
        within limit: Duration?
    ) throws(ScopeError) -> Scope<InteractionLifetime, Interaction> {
        // An app that closes its sessions one after the other opens no interactions, not even in those that are still open. This
        // throws its error. Copying all objects of an open app would take longer than the rest.
        if !app.isOpen { _ = try app.scope.objects() }
        let user = try scope.objects()
        let parts = user.interactionParts
        let deadline = Deadline(in: limit ?? parts.timeLimit, on: parts.timer)
        let name = (id ?? parts.numbers.next()).description
        return try Scope(name, in: feature, objects: Interaction(session: user, deadline: deadline))
    }
}

extension RepositoryError {
    /// Creates the error of a request for a repository of a closed session.
    fileprivate init<Entity>(_ error: ScopeError, _ endpoint: Endpoint<Entity>) {
        self.init(
            .closed,
            request: "The repository of \(endpoint.name)",
            explanation: "is not available: \(error)"
        )
    }
}

/// An error handler that describes refused posts in terms that people recognize, and passes all errors on.
struct RefusalNamingErrorHandler: ErrorHandler {
    private let base: any ErrorHandler

    init(_ base: any ErrorHandler) {
        self.base = base
    }

    func handle(_ error: any Error) {
        base.handle((error as? RefusedWriteError).map { RefusedPostError($0) } ?? error)
    }

    func close() async { await base.close() }

    var description: String { "names refused posts → \(base)" }
}

extension UserContainer {
    /// Waits until this user's accepted writes are delivered to the upstream or refused by it, up to a time limit.
    ///
    /// If writes are pending, this method opens the user's outbox. If another process owns the outbox, the method waits until
    /// that process releases it. An open session delivers its own writes without this call. Call it before you close the
    /// session.
    ///
    /// - Parameter limit: The maximum time to wait; `nil` for the configured time limit of interactions.
    /// - Returns: The result to show; `nil` if this user has no outbox: without one, every write completes before it returns.
    /// - Throws: A `ScopeError` if the session is closed.
    public func deliver(within limit: Duration? = nil) async throws(ScopeError) -> DeliveryViewModel? {
        try await withOutbox(within: limit) { outbox async throws(Never) in await outbox.deliver() }.get() ?? nil
    }

    /// Calls a closure with the user's outbox, for example to list, retry or discard its writes.
    ///
    /// ```swift
    /// let outbox = try await user.withOutbox { try await $0.list() }
    /// print(outbox?.pendingCount ?? 0)
    /// ```
    ///
    /// - Returns: The value that `body` returns; `nil` if this user has no outbox.
    /// - Throws: A `ScopeError` if the session is closed, or the error that `body` throws.
    public func withOutbox<Value: Sendable>(
        _ body: @escaping @Sendable (OutboxController) async throws -> Value
    ) async throws -> Value? {
        try await withOutbox(within: nil, body).get() ?? nil
    }

    private func withOutbox<Value: Sendable, Failure: Error>(
        within limit: Duration?,
        _ body: @escaping @Sendable (OutboxController) async throws(Failure) -> Value
    ) async throws(ScopeError) -> Result<Value?, Failure> {
        let app = try app.scope.objects()
        return try await scope.run { user async throws(Failure) -> Value? in
            guard let outbox = user.outbox else { return nil }
            let timeLimit = limit ?? app.configuration.timeLimit
            return try await body(OutboxController(outbox, timeLimit: timeLimit, timer: app.timer))
        }
    }
}
