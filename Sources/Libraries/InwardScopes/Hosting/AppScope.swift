public import InwardCore
public import InwardFetching
public import InwardRepositories

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A container of the objects that live as long as the app: those that all sessions share, and those that your service adds.
///
/// ```swift
/// let app = await AppScope("comments", AppScopeConfiguration(upstream))
/// let session = try await app.signIn(as: "ada", credentials: .fixed(.bearer(token)))
/// let comments = try session.repository(commentsEndpoint)
/// try await comments.update(7) { $0.body = "Well said." }
/// try await app.close()
/// ```
///
/// Closing the app closes its sessions, the newest first, and then its own objects in the reverse order of their creation.
/// Pending writes stay in the store. To finish work and deliver writes first, call ``shutDown(within:)``.
public struct AppScope<Own: Sendable>: Container {
    /// The objects of the app.
    public struct Objects: Sendable {
        let configuration: AppScopeConfiguration
        let timer: TimerService
        let responseCache: ResponseCache
        let outboxes: SessionOutboxes
        let sharedOutboxes: SharedOutboxes
        /// The repositories of entities that everyone may see.
        let repositories: RepositorySet
        let own: Own
    }

    /// The scope of the app.
    public let scope: Scope<AppLifetime, Objects>

    /// Opens an app with objects of your own.
    ///
    /// ```swift
    /// actor Mailer {
    ///     func close() {}
    /// }
    ///
    /// let app = await AppScope("comments", configuration) { opening in
    ///     opening.closing(Mailer(), as: "mailer") { await $0.close() }
    /// }
    /// let mailer = try app.own
    /// ```
    ///
    /// - Parameters:
    ///   - name: The name of the app in messages.
    ///   - configuration: The upstreams, the store and the limits of the app.
    ///   - make: Creates your objects, and registers those that need closing. If it throws, the objects registered so far are
    ///     closed.
    /// - Throws: The error that `make` throws.
    public init<Failure: Error>(
        _ name: String,
        _ configuration: AppScopeConfiguration,
        making make: (inout ScopeOpening) async throws(Failure) -> Own
    ) async throws(Failure) {
        let timer = TimerService(configuration.clock)
        let limit = ClosingLimit(configuration.closingLimit, on: configuration.clock)
        scope = try await Scope.open(name, limit: limit) { opening throws(Failure) in
            opening.errorHandler = configuration.errorHandler
            let cache = ResponseCache(byteLimit: configuration.responseCacheBytes, clock: configuration.clock)
            let shared = SharedOutboxes(configuration, timer: timer)
            if configuration.sharing != nil {
                opening.running("sharedOutboxes", executor: timer.executor) { await shared.run() }
            }
            func repositories(at hosted: HostedUpstream, besides others: [RepositorySet] = []) -> RepositorySet {
                let partition = opening.closing(cache.makePartition(), as: hosted.title("cachePartition")) {
                    $0.close()
                }
                return RepositorySet(
                    upstream: hosted.upstream.asked(
                        through: hosted.upstream.dataFetcher.caching(in: partition)
                            .observing(with: configuration.observers.fetching, timer: timer)
                    ),
                    named: hosted.name,
                    memory: configuration.memory,
                    store: configuration.place(of: ["everyone"], at: hosted, shared.peers),
                    besides: others,
                    timer: timer,
                    observer: configuration.observers.repositories
                )
            }
            let others = configuration.otherUpstreams.map { repositories(at: $0) }
            let repositories = repositories(at: configuration.standardUpstream, besides: others)
            return Objects(
                configuration: configuration,
                timer: timer,
                responseCache: cache,
                outboxes: SessionOutboxes(executor: timer.executor),
                sharedOutboxes: shared,
                repositories: opening.closing(repositories, as: "repositories") { await $0.close() },
                own: try await make(&opening)
            )
        }
    }

    /// Opens an app without objects of your own.
    ///
    /// - Parameters:
    ///   - name: The name of the app in messages.
    ///   - configuration: The upstreams, the store and the limits of the app.
    public init(_ name: String, _ configuration: AppScopeConfiguration) async where Own == Void {
        await self.init(name, configuration) { _ in }
    }

    /// Your objects, which the closure of ``init(_:_:making:)`` created.
    ///
    /// - Throws: A ``ScopeError`` if the app is closed.
    public var own: Own {
        get throws(ScopeError) { try scope.objects().own }
    }

    /// Returns the repository of an endpoint whose entities everyone may see. All sessions share it.
    ///
    /// ```swift
    /// let published = Endpoint(CommentDTO.self, at: "published", audience: .everyone)
    /// let list = try await app.repository(published).entities()
    /// ```
    ///
    /// - Parameter endpoint: The endpoint, with the audience `Audience.everyone`.
    /// - Returns: The repository. Every call with this endpoint returns the same one.
    /// - Throws: A `RepositoryError` with the reason `closed` if the app is closed, or `refused` if
    ///   - the audience is not `everyone`,
    ///   - another endpoint has the same name,
    ///   - the endpoint has writes, or
    ///   - the app does not have the endpoint's upstream.
    public func repository<Entity>(_ endpoint: Endpoint<Entity>) throws(RepositoryError) -> Repository<Entity> {
        let repositories = try scope.objects(for: endpoint).repositories
        guard endpoint.audience == .everyone else {
            throw RepositoryError(
                .refused,
                request: "The repository of \(endpoint.name)",
                explanation: "is available only in a session, because the audience of the endpoint is not `everyone`"
            )
        }
        return try repositories.repository(endpoint)
    }
}

/// The upstreams, the store, the limits and the observers of an ``AppScope``.
///
/// ```swift
/// var configuration = AppScopeConfiguration(upstream, store: store, endpoints: [AnyEndpoint(commentsEndpoint)])
/// configuration.errorHandler = IgnoringErrorHandler().logging { print($0) }
/// configuration.closingLimit = .seconds(2)
/// ```
///
/// A test can replace any part, such as the clock or the store. To add other upstreams, see <doc:UseSeveralUpstreams>.
public struct AppScopeConfiguration: Sendable {
    /// The upstream, without credentials.
    public var upstream: Upstream
    private var others: [UpstreamName: Upstream] = [:]
    /// The store that keeps responses and pending writes across restarts. If it is `nil`, each write is sent immediately. The
    /// app does not close the store.
    public var store: (any RecordStore)?
    /// How several instances share the store, or `nil` if each user's outbox belongs to one process at a time.
    var sharing: StoreSharing?
    /// The endpoints that have writes. Required with a store, because the app delivers the store's pending writes.
    public var endpoints: [AnyEndpoint]
    /// The size limit of each repository's memory cache.
    public var memory = MemoryLimit()
    /// The maximum number of bytes of fresh responses to cache in memory, for all sessions together. The default is 16 MiB.
    public var responseCacheBytes = 16 * 1_024 * 1_024
    /// The limits of each user's outbox.
    public var outboxPolicy = OutboxPolicy.standard
    /// Whether to send credentials over plain HTTP to another machine, although anyone on the network path can read them. The
    /// default is `false`.
    public var allowsCredentialsOverPlainHTTP = false
    /// How long opening a session waits for a slow store. After that, the session opens without its pending writes, and
    /// continues to read them in the background. The default is 10 seconds.
    public var openingLimit = Duration.seconds(10)
    /// How long the work in flight may take to end, and each object to close, when a scope closes. The default is 5 seconds.
    public var closingLimit = Duration.seconds(5)
    /// Wraps the fetcher of a user's requests in a layer of your own, or returns `nil` to add none. By default, no user has one.
    ///
    /// ```swift
    /// struct AuditingDataFetcher: DecoratingDataFetcher {
    ///     var base: any DataFetcher
    ///     let user: String
    ///     var layer: DataFetcherLayer { DataFetcherLayer(.other, "logs the writes of \(user)") }
    ///
    ///     func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse {
    ///         if request.method != .get { print("\(user) sends \(request)") }
    ///         return try await base.fetch(request)
    ///     }
    /// }
    /// configuration.userLayer = { user, base in AuditingDataFetcher(base: base, user: user) }
    /// ```
    ///
    /// The layer sees the requests of the user's sessions, and those with which an outbox delivers the user's writes. They have their
    /// credentials already: those of the session, or those with which a shared outbox delivers. The layer does not see requests that the
    /// response cache of the session answers, or those of endpoints with the audience `Audience.everyone`.
    ///
    /// The closure is called for each session and each upstream, and again for deliveries. A session without credentials has a user
    /// name, too.
    public var userLayer: (@Sendable (_ user: String, _ base: any DataFetcher) -> (any DecoratingDataFetcher)?)?
    /// The handler of failures that no caller receives. The app does not close it.
    public var errorHandler: any ErrorHandler = IgnoringErrorHandler()
    /// The observers of requests, repositories and sessions, for logs, metrics and traces.
    public var observers = AppObservers()
    /// The clock for deadlines, limits and freshness.
    public var clock: any Clock<Duration> = ContinuousClock()

    /// Creates a configuration.
    ///
    /// - Parameters:
    ///   - upstream: The upstream, without credentials.
    ///   - store: The store that keeps responses and pending writes across restarts. If it is `nil`, each write is sent
    ///     immediately.
    ///   - endpoints: The endpoints that have writes. Required with a store.
    public init(_ upstream: Upstream, store: (any RecordStore)? = nil, endpoints: [AnyEndpoint] = []) {
        self.upstream = upstream
        self.store = store
        self.endpoints = endpoints
    }

    /// Adds an upstream, or replaces the one with the same name.
    ///
    /// ```swift
    /// let searchUpstream = Upstream(baseURL: URL(string: "https://search.example.org")!, dataFetcher: URLSessionDataFetcher())
    /// configuration.add(searchUpstream, as: UpstreamName("search"))
    /// ```
    ///
    /// Each upstream has its own stored responses and its own outboxes, even if two upstreams have the same address.
    ///
    /// - Parameters:
    ///   - upstream: The upstream, without credentials.
    ///   - name: The name with which endpoints and credentials refer to the upstream.
    public mutating func add(_ upstream: Upstream, as name: UpstreamName) {
        if name == .standard { self.upstream = upstream } else { others[name] = upstream }
    }

    var standardUpstream: HostedUpstream { HostedUpstream(name: .standard, upstream: upstream) }

    /// The other upstreams, sorted by name.
    var otherUpstreams: [HostedUpstream] {
        others.map { HostedUpstream(name: $0.key, upstream: $0.value) }.sorted { $0.name < $1.name }
    }

    /// Returns the fetcher of an upstream with the layer of a user.
    func dataFetcher(of hosted: HostedUpstream, for user: String) -> any DataFetcher {
        userLayer?(user, hosted.upstream.dataFetcher) ?? hosted.upstream.dataFetcher
    }

    /// Returns an owner's part of the store for an upstream, or `nil` if there is no store.
    func place(of owner: RecordKey, at hosted: HostedUpstream, _ peers: RepositoryPeers? = nil) -> RepositoryStore? {
        store.map { store in
            RepositoryStore(
                store,
                of: owner,
                at: hosted.upstream,
                named: hosted.name,
                peers: peers,
                now: { Date() },
                tellingFailuresTo: errorHandler
            )
        }
    }

    /// Returns the owner's repository store for each upstream. Empty if the app has no store.
    func places(of owner: RecordKey) -> [(upstream: UpstreamName, store: RepositoryStore)] {
        ([standardUpstream] + otherUpstreams).compactMap { hosted in
            place(of: owner, at: hosted).map { (hosted.name, $0) }
        }
    }
}

/// One of the upstreams of an app.
struct HostedUpstream {
    let name: UpstreamName
    let upstream: Upstream

    /// Returns an object's name in messages, which includes the upstream's name unless it is the standard upstream.
    func title(_ object: String) -> String { name == .standard ? object : "\(object) of \(name)" }
}

extension Scope {
    /// Returns the objects of the scope to a caller that asks for a repository.
    ///
    /// - Throws: A `RepositoryError` with the reason `closed` if the scope is closed.
    func objects<Entity>(for endpoint: Endpoint<Entity>) throws(RepositoryError) -> Objects {
        do throws(ScopeError) {
            return try objects()
        } catch {
            throw RepositoryError(
                .closed,
                request: "The repository of \(endpoint.name)",
                explanation: "is not available: \(error)"
            )
        }
    }
}

/// The lifetime of an app, which usually is that of the process.
///
/// ```swift
/// enum JobLifetime: InnerLifetime {
///     typealias Outer = AppLifetime
///     static let name = "job"
/// }
/// let job = try Scope<JobLifetime, Int>("import", in: app.scope, objects: 7)
/// ```
public enum AppLifetime: OutermostLifetime {
    /// The name `app`.
    public static let name = "app"
}

/// The lifetime from sign-in to sign-out.
///
/// ```swift
/// func describe<Objects>(_ scope: Scope<SessionLifetime, Objects>) { print(scope) }
/// describe(session.scope)
/// ```
public enum SessionLifetime: InnerLifetime {
    /// A session is inside an app.
    public typealias Outer = AppLifetime
    /// The name `session`.
    public static let name = "session"
}

/// The lifetime of a user's work with one feature.
///
/// ```swift
/// let draft = CommentDraft(postId: 3, body: "")
/// let editor = try Scope<FeatureLifetime, CommentDraft>("editor", in: session.scope, objects: draft)
/// ```
public enum FeatureLifetime: InnerLifetime {
    /// A feature is inside a session.
    public typealias Outer = SessionLifetime
    /// The name `feature`.
    public static let name = "feature"
}

/// The lifetime of one request or one command.
///
/// ```swift
/// let editor = try Scope<FeatureLifetime, String>("editor", in: session.scope, objects: "draft")
/// let saving = try Scope<InteractionLifetime, Int>("save", in: editor, objects: 1)
/// try await saving.close()
/// ```
public enum InteractionLifetime: InnerLifetime {
    /// An interaction is inside a feature.
    public typealias Outer = FeatureLifetime
    /// The name `interaction`.
    public static let name = "interaction"
}
