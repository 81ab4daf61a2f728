public import Infrastructure
import InterfaceAdapters
public import InwardCore
public import InwardFetching
public import InwardImages
public import InwardRepositories
public import InwardScopes
import Synchronization
import UseCases

/// The objects that live as long as the app, wired from a configuration.
///
/// ```swift
/// let app = try await AppContainer(AppConfiguration(upstream: "https://example.org/api"))
/// let user = try await UserContainer(.guest, in: app)
/// let feed = try await FeedContainer(in: user)
/// let page = try await feed.withInteraction { try await $0.readFeed(FeedQuery()) }
/// try await app.close()
/// ```
///
/// Only this container, and the containers created from it, choose implementations. Use cases know only their ports. A program
/// also gets its standard streams, its interruptions and its output directories here.
public struct AppContainer: Container {
    /// The objects of an app container.
    public struct Objects: Sendable {
        let configuration: AppConfiguration
        let timer: TimerService
        let errorHandler: ReplaceableErrorHandler
        let protection: UpstreamProtection
        let dataFetcher: any DataFetcher
        let upstream: SessionUpstream
        let imageOrigins: OriginProtections
        /// Fetches images from the addresses that the configuration allows, with circuit breakers and limits that are independent
        /// of `dataFetcher`.
        let imageFetcher: any DataFetcher
        let repositoryObserver: (any RepositoryObserver)?
        let imageObserver: (any ImageObserver)?
        let sessionObserver: (any SessionObserver)?
        let responseCache: ResponseCache
        let store: AppStore?
        let endpoints: [AnyEndpoint]
        let imageCodec: OnFirstUse<any ImageCodec>
        let imageCache: OnFirstUse<ImageCache>
        let decodingBudget: OnFirstUse<DecodingBudget>
        let titlesUnderWay: TitleReservations
        let interactionNumbers: InteractionNumbers
    }

    /// The scope of the app.
    public let scope: Scope<AppLifetime, Objects>

    /// The upstream's name in messages.
    public let upstreamName: String

    /// Creates an app.
    ///
    /// - Parameters:
    ///   - configuration: The app's settings.
    ///   - dataFetcher: Replaces the configured upstream, for example with a test double. The app uses it without the
    ///     decorators of the configured policy, and does not close it. If the configured upstream is on the web, the fetcher or
    ///     the client inside it must conform to `AddressGuardable`, because the app guards requests for images.
    ///   - recordStore: Replaces the configured store, for example with a database. The app does not close it.
    ///   - sharedStore: Replaces the configured store with one that several instances of the app share. The app does not close it.
    ///   - pendingWrites: Whether to deliver the pending writes of all users in a shared store, even if they have no session here.
    ///     Pass `PendingWrites.show` in processes that only read.
    ///   - endpoints: The endpoints of further entities that sessions create, update or delete. Declare them here, so that
    ///     their pending writes are delivered after a restart.
    ///   - observer: Observes requests; `nil` for no observer.
    ///   - repositoryObserver: Observes repositories, their store, and outboxes; `nil` for no observer.
    ///   - imageObserver: Observes image loads and their memory; `nil` for no observer.
    ///   - sessionObserver: Observes sessions, identified by the user name that messages show; `nil` for no observer.
    ///   - clock: The clock for deadlines, limits and freshness.
    ///   - writeError: Receives a line about each failure that no caller receives; `nil` to write none.
    ///   - isWritten: Returns whether such a failure is written.
    ///   - credentials: Returns the credentials with which the app delivers the writes of a user in a shared store, given the
    ///     user's store key. They must be valid although the user is not signed in. If it returns `nil`, the user's writes are
    ///     refused. It is not called for guests.
    /// - Throws: An ``AppConfigurationError`` if the upstream is a directory that cannot be read, or if the HTTP client cannot check
    ///   the addresses of images as the configuration requires. All objects created so far are closed.
    public init(
        _ configuration: AppConfiguration = .sample,
        dataFetcher: (any DataFetcher)? = nil,
        recordStore: (any RecordStore)? = nil,
        sharedStore: (any SharedRecordStore)? = nil,
        pendingWrites: PendingWrites = .deliver,
        endpoints: [AnyEndpoint] = [],
        observer: (any FetchObserver)? = nil,
        repositoryObserver: (any RepositoryObserver)? = nil,
        imageObserver: (any ImageObserver)? = nil,
        sessionObserver: (any SessionObserver)? = nil,
        clock: any Clock<Duration> = ContinuousClock(),
        writeError: (@Sendable (String) -> Void)? = nil,
        writingErrorsWhere isWritten: @escaping @Sendable (any Error) -> Bool = { _ in true },
        deliveringAs credentials: @escaping @Sendable (_ storeKey: String) -> HeaderField? = { _ in nil }
    ) async throws(AppConfigurationError) {
        upstreamName = configuration.upstreamName
        let timer = TimerService(clock)
        let limit = ClosingLimit(configuration.closingLimit, on: clock)
        scope = try await Scope.open(upstreamName, limit: limit) { opening throws(AppConfigurationError) in
            // Registered first, so closed last: images may be decoded until everything else is closed.
            let imageCodec = configuration.makeImageCodec(for: &opening)
            // Created before the error handler, so closed after it: it sends the error handler's last reports.
            let web = dataFetcher ?? configuration.makeWebDataFetcher(for: &opening)
            let errorHandler = opening.closing(
                ReplaceableErrorHandler(
                    configuration.makeErrorHandler(
                        writeError: writeError,
                        where: isWritten,
                        dataFetcher: web,
                        clock: clock
                    )
                ),
                as: "errorHandler"
            ) { await $0.close() }
            opening.errorHandler = errorHandler
            let policy = configuration.policy
            let protection = UpstreamProtection(configuration.upstreamName, by: policy, timer: timer)
            let imageOrigins = OriginProtections("images", by: policy, timer: timer)
            let source: any DataFetcher =
                if let dataFetcher {
                    dataFetcher
                } else {
                    try configuration.makeDataFetcher(web: web.protecting(by: protection))
                }
            let isOnWeb = dataFetcher == nil && configuration.isUpstreamOnWeb
            let upstream = SessionUpstream(
                configuration: configuration,
                dataFetcher: source,
                observer: observer,
                timer: timer
            )
            let endpoints =
                [
                    AnyEndpoint(.users(lifetimes: configuration.lifetimes)),
                    AnyEndpoint(.posts(lifetimes: configuration.lifetimes)),
                ] + endpoints
            let records =
                sharedStore.map { AppRecords.shared($0, credentials) } ?? recordStore.map { .own($0) }
                ?? configuration.makeRecords(deliveringAs: credentials, tellingDamageTo: errorHandler)
            let store = records.map { records in
                AppStore(
                    records,
                    upstream: upstream,
                    endpoints: endpoints,
                    timer: timer,
                    observer: repositoryObserver,
                    errorHandler: errorHandler
                )
            }
            if let store {
                opening.running("store", executor: timer.executor) { await store.run(pendingWrites) }
            }
            return Objects(
                configuration: configuration,
                timer: timer,
                errorHandler: errorHandler,
                protection: protection,
                dataFetcher: source,
                upstream: upstream,
                imageOrigins: imageOrigins,
                imageFetcher: try configuration.makeImageFetcher(
                    over: isOnWeb ? web.protecting(by: imageOrigins) : source
                ),
                repositoryObserver: repositoryObserver,
                imageObserver: imageObserver,
                sessionObserver: sessionObserver,
                responseCache: ResponseCache(byteLimit: configuration.cacheLimit, clock: clock),
                store: store,
                endpoints: endpoints,
                imageCodec: imageCodec,
                imageCache: opening.onFirstUse(as: "imageCache") {
                    ImageCache(bytes: configuration.imageCacheLimit, timer: timer)
                },
                decodingBudget: opening.onFirstUse(as: "decodingBudget") {
                    DecodingBudget(bytes: configuration.decodingLimit, observer: imageObserver)
                },
                titlesUnderWay: TitleReservations(),
                interactionNumbers: InteractionNumbers()
            )
        }
    }

    /// The error handler for failures that no caller receives. Its description lists its stages, outermost first. It can be
    /// replaced while the app is running.
    ///
    /// - Throws: A `ScopeError` if the app is closed.
    public var errorHandler: ReplaceableErrorHandler {
        get throws(ScopeError) { try scope.objects().errorHandler }
    }

    /// The circuit breaker, which stops requests while the upstream fails. You can read its state, and open and close it
    /// manually.
    ///
    /// ``replacePolicy(_:)`` replaces it if the new policy has other circuit breaker settings. Image hosts have their own.
    ///
    /// - Throws: A `ScopeError` if the app is closed.
    public var circuitBreaker: CircuitBreaker {
        get throws(ScopeError) { try scope.objects().protection.circuitBreaker }
    }

    /// Replaces the policy for the upstream on the web and for each host of images. Requests in flight keep the old policy.
    ///
    /// ```swift
    /// try app.replacePolicy(UpstreamPolicy(attemptTimeLimit: .seconds(1), requestsPerSecond: 20))
    /// ```
    ///
    /// - Throws: A `ScopeError` if the app is closed.
    public func replacePolicy(_ policy: UpstreamPolicy) throws(ScopeError) {
        let objects = try scope.objects()
        objects.protection.replacePolicy(policy)
        objects.imageOrigins.replacePolicy(policy)
    }

    /// The decorators that requests to the upstream pass through, with warnings about their configuration. Print it when a
    /// service starts.
    ///
    /// - Throws: A `ScopeError` if the app is closed.
    public var pipeline: DataFetcherPipeline {
        get throws(ScopeError) { try scope.objects().dataFetcher.pipeline }
    }

    /// The decorators that requests for images pass through, with the policy for their addresses.
    ///
    /// - Throws: A `ScopeError` if the app is closed.
    public var imagePipeline: DataFetcherPipeline {
        get throws(ScopeError) { try scope.objects().imageFetcher.pipeline }
    }

    /// The codec that decodes and encodes images.
    ///
    /// - Throws: A `ScopeError` if the app is closed.
    public var imageCodec: any ImageCodec {
        get throws(ScopeError) { try scope.objects().imageCodec.object() }
    }

    /// The in-memory image cache, with a partition for each session.
    ///
    /// - Throws: A `ScopeError` if the app is closed.
    public var imageCache: ImageCache {
        get throws(ScopeError) { try scope.objects().imageCache.object() }
    }

    /// Returns a directory to write rendered files into, given its path.
    public func outputDirectory(at path: String) -> OutputDirectory { OutputDirectory(path: path) }

    /// The standard input of the process, available without an app.
    public static let standardInput = StandardInput()

    /// The standard output of the process, available without an app.
    public static let standardOutput = StandardOutput()

    /// Returns the interruptions of the process from now on. They no longer terminate it.
    public static func interruptions() -> AsyncStream<Void> { Interruptions.arriving() }

    /// The standard error of the process, available without an app.
    public static let standardError = StandardError()
}

/// Numbers the interactions of an app that were created without an identifier.
final class InteractionNumbers: Sendable {
    private let last = Atomic(0)

    /// Returns the next number as an identifier.
    func next() -> InteractionID {
        InteractionID("\(last.add(1, ordering: .relaxed).newValue)")
    }
}
