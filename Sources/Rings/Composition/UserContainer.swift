import Entities
public import InterfaceAdapters
import InwardCore
import InwardFetching
import InwardImageServing
public import InwardImages
public import InwardRepositories
public import InwardScopes

/// The objects that live from signing in to signing out.
///
/// It captures its session when it is made, so nothing inside asks who is signed in, or whether. Closing it signs the user
/// out: what was cached for the session is forgotten, but for what the app's store keeps for its next session.
public struct UserContainer: Container {
    /// What a user container holds.
    public struct Objects: Sendable {
        let session: UserSession
        let cachePartition: ResponseCache.Partition
        let upstream: Upstream
        let users: Repository<User>
        let posts: Repository<Post>
        let outbox: SessionOutbox?
        let images: ImageLoader
    }

    /// The scope of the session.
    public let scope: Scope<UserLifetime, Objects>
    /// Why nothing that is written is accepted, because the user's part of the app's store could not be opened; `nil` if it is
    /// open, or there is none. What is read is given all the same.
    public let storeFailure: RecordStoreError?
    let app: AppContainer
    private let pendingWrites: PendingWrites

    /// Opens a session of an app.
    ///
    /// - Parameters:
    ///   - session: The user, and the credentials to send.
    ///   - app: The app.
    ///   - pendingWrites: What to do with the writes that an earlier process left. A service that only answers reads in some of its
    ///     processes says `PendingWrites.show` there.
    /// - Throws: a `ScopeError` if the app is closed.
    public init(
        _ session: UserSession,
        in app: AppContainer,
        pendingWrites: PendingWrites = .deliver
    ) async throws(ScopeError) {
        self.app = app
        self.pendingWrites = pendingWrites
        scope = try await Scope.open(session.name, in: app.scope) { opening, scope throws(ScopeError) in
            let app = try app.scope.objects()
            let partition = opening.closing(app.responseCache.makePartition(), as: "cachePartition") { $0.close() }
            let authorized: any DataFetcher =
                if let credentials = session.credentials {
                    app.dataFetcher.authorizing(
                        with: credentials,
                        for: app.configuration.baseURL,
                        allowingPlainHTTP: app.configuration.allowsCredentialsOverPlainHTTP
                    )
                } else {
                    app.dataFetcher
                }
            let upstream = Upstream(
                baseURL: app.configuration.baseURL,
                dataFetcher: authorized.caching(in: partition).observing(with: app.observer, timer: app.timer)
            )
            // Repository requests do not outlive the session.
            let asked = upstream.asked(
                through: ScopedDataFetcher(scope: scope, deadline: nil) { $0.upstream.dataFetcher }
            )
            let place = app.recordStore.flatMap { records in
                session.place(in: records, of: app.configuration.baseURL, tellingFailuresTo: app.errorHandler)
            }
            let outbox = place.map { place in
                app.outboxes.outbox(of: place.partition, asking: asked.dataFetcher) { dataFetcher in
                    Outbox(
                        upstream: asked.asked(through: dataFetcher),
                        store: place.records,
                        // Beside what the repositories keep, so that what they forget is none of it.
                        prefix: RecordKey(["outboxes"] + place.partition.components),
                        timer: app.timer,
                        errorHandler: RefusalNamingErrorHandler(app.errorHandler)
                    )
                }
            }
            let (lifetimes, limit) = (app.configuration.lifetimes, app.configuration.memoryLimit)
            let users = Repository(
                .users(lifetimes: lifetimes),
                upstream: asked,
                memory: limit,
                store: place,
                timer: app.timer
            )
            let posts = Repository(
                .posts(lifetimes: lifetimes),
                upstream: asked,
                memory: limit,
                store: place,
                outbox: outbox?.outbox,
                timer: app.timer
            )
            // Each session has its own, so that no user is shown another's images; they share room and budget.
            let images = ImageLoader(
                source: FetchingImageSource(upstream.dataFetcher, relativeTo: upstream.baseURL),
                codec: app.imageCodec,
                limits: app.configuration.imageLimits,
                cache: app.imageCache,
                budget: app.decodingBudget,
                timer: app.timer
            )
            return Objects(
                session: session,
                cachePartition: partition,
                upstream: upstream,
                users: opening.closing(users, as: "users") { await $0.close() },
                posts: opening.closing(posts, as: "posts") { await $0.close() },
                outbox: outbox.map { opening.closing($0, as: "outbox") { await $0.close() } },
                images: images
            )
        }
        let (objects, shared) = (try scope.objects(), try app.scope.objects())
        storeFailure = await Deadline(in: shared.configuration.timeLimit, on: shared.timer).carried {
            await Self.openOutbox(of: objects, pendingWrites, tellingFailuresTo: shared.errorHandler)
        }.get()
    }

    /// Goes on with what an earlier process was to deliver. Where that cannot be read, it is tried again with each write, and none
    /// is accepted until then.
    ///
    /// - Parameters:
    ///   - objects: What the session holds.
    ///   - pendingWrites: What to do with them.
    ///   - errorHandler: Receives the error if it cannot be read.
    /// - Returns: the error; `nil` if it was read, or if nothing is kept.
    private static func openOutbox(
        of objects: Objects,
        _ pendingWrites: PendingWrites,
        tellingFailuresTo errorHandler: any ErrorHandler
    ) async -> RecordStoreError? {
        guard let outbox = objects.outbox, let handler = objects.posts.handler else { return nil }
        do {
            try await outbox.open(settling: handler, pendingWrites: pendingWrites, tellingOwnersTo: errorHandler)
            return nil
        } catch {
            errorHandler.handle(error)
            return error
        }
    }

    /// Has readers find what is pending now, if the session only shows it.
    func refreshPendingWrites() async {
        guard pendingWrites == .show else { return }
        do {
            try await scope.objects().outbox?.outbox.showPending()
        } catch {
            // The feed is shown without.
            try? app.errorHandler.handle(error)
        }
    }

    /// Loads images as this user may see them, with no plugin but the one that turns them upright. An address is relative to
    /// the upstream's.
    ///
    /// - Throws: a `ScopeError` if the session is closed.
    public var images: ImageLoader {
        get throws(ScopeError) { try scope.objects().images }
    }

    /// Opens the scope of an interaction of this user.
    ///
    /// - Parameters:
    ///   - feature: The scope of the feature that the interaction is for.
    ///   - id: The identifier that came with the request; `nil` for a number.
    ///   - limit: How much time there is for it from now on; `nil` for as much as the configuration says.
    /// - Returns: the scope, which the caller closes.
    /// - Throws: a `ScopeError` if the feature or what is around it is closed.
    public func openInteraction<Others: Sendable>(
        in feature: Scope<FeatureLifetime, Others>,
        id: InteractionID?,
        within limit: Duration?
    ) throws(ScopeError) -> Scope<InteractionLifetime, Interaction> {
        let app = try app.scope.objects()
        let user = try scope.objects()
        let interaction = Interaction(
            upstream: user.upstream,
            users: UpstreamUserRepository(user.users),
            posts: UpstreamPostRepository(user.posts),
            titlesUnderWay: app.titlesUnderWay,
            errorHandler: app.errorHandler,
            deadline: Deadline(in: limit ?? app.configuration.timeLimit, on: app.timer)
        )
        return try Scope((id ?? app.interactionNumbers.next()).description, in: feature, objects: interaction)
    }
}

/// Passes errors on, and names refused posts as a person recognises them.
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
    /// It opens the user's outbox if something is pending, and waits its turn if another process owns it. Writes of this session are
    /// delivered anyway, as long as it is open. Call this before you close it.
    ///
    /// - Parameter limit: How long to wait; `nil` for as long as the configuration says that an interaction may take.
    /// - Returns: what to show; `nil` if nothing of this user outlives the process, so that nothing is accepted before it is done.
    /// - Throws: a `ScopeError` if the session is closed.
    public func deliver(within limit: Duration? = nil) async throws(ScopeError) -> DeliveryViewModel? {
        try await withOutbox(within: limit) { outbox async throws(Never) in await outbox.deliver() }.get() ?? nil
    }

    /// Does something with the user's outbox, such as listing, retrying or discarding its writes.
    ///
    ///     let outbox = try await user.withOutbox { try await $0.list() }
    ///
    /// - Returns: what `body` returns; `nil` if nothing of this user outlives the process.
    /// - Throws: a `ScopeError` if the session is closed, or what `body` throws.
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
            guard let outbox = user.outbox?.outbox else { return nil }
            let timeLimit = limit ?? app.configuration.timeLimit
            return try await body(OutboxController(outbox, timeLimit: timeLimit, timer: app.timer))
        }
    }
}
