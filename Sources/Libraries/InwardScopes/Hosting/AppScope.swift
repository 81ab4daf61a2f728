public import InwardCore
import InwardFetching
public import InwardRepositories

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The objects of a service that live as long as the app: what all sessions share, and what the service adds.
///
///     let upstream = Upstream(baseURL: url, dataFetcher: dataFetcher)
///     let store = FileRecordStore(directory: directory)
///     let app = await AppScope("comments", AppScopeConfiguration(upstream, store: store, endpoints: [AnyEndpoint(.comments)]))
///     let session = try await app.signIn(as: "ada", credentials: .fixed(.bearer(token)))
///     let comments = try session.repository(.comments)
///     try await comments.update(7) { $0.body = "Well said." }
///     try await app.close()
///
/// Closing the app closes its sessions, the newest first, and then its own objects in the reverse order of their creation. Pending
/// writes stay in the store.
public struct AppScope<Own: Sendable>: Container {
    /// The objects of the app.
    public struct Objects: Sendable {
        let configuration: AppScopeConfiguration
        let timer: TimerService
        let responseCache: ResponseCache
        let outboxes: SessionOutboxes
        let peers: RepositoryPeers
        /// The repositories of what everyone may see.
        let repositories: RepositorySet
        let own: Own
    }

    /// The scope of the app.
    public let scope: Scope<AppLifetime, Objects>

    /// Opens an app with objects of its own.
    ///
    ///     let app = await AppScope("comments", configuration) { opening in
    ///         AppObjects(mailer: opening.closing(Mailer(), as: "mailer") { await $0.close() })
    ///     }
    ///
    /// - Parameters:
    ///   - name: The name of the app in messages.
    ///   - configuration: What the sessions share.
    ///   - make: Creates the objects of the service, and registers those that need closing. If it throws, the objects registered so
    ///     far are closed.
    /// - Throws: the error that `make` throws.
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
                    store: configuration.place(of: ["everyone"], at: hosted),
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
                peers: RepositoryPeers(),
                repositories: opening.closing(repositories, as: "repositories") { await $0.close() },
                own: try await make(&opening)
            )
        }
    }

    /// Opens an app without objects of its own.
    ///
    /// - Parameters:
    ///   - name: The name of the app in messages.
    ///   - configuration: What the sessions share.
    public init(_ name: String, _ configuration: AppScopeConfiguration) async where Own == Void {
        await self.init(name, configuration) { _ in }
    }

    /// The objects that the service has added.
    ///
    /// - Throws: a ``ScopeError`` if the app is closed.
    public var own: Own {
        get throws(ScopeError) { try scope.objects().own }
    }

    /// Returns the repository of an endpoint that everyone may see. All sessions share it.
    ///
    /// - Parameter endpoint: The endpoint, with the audience `Audience.everyone`.
    /// - Returns: the repository, the same each time.
    /// - Throws: a `RepositoryError`: `closed` if the app is closed; `refused` if the entities are not for everyone, or if another
    ///   endpoint has the same name.
    public func repository<Entity>(_ endpoint: Endpoint<Entity>) throws(RepositoryError) -> Repository<Entity> {
        let repositories = try scope.objects(for: endpoint).repositories
        guard endpoint.audience == .everyone else {
            throw RepositoryError(
                .refused,
                request: "The repository of \(endpoint.name)",
                explanation: "is not available without a session: the audience of the endpoint is not everyone"
            )
        }
        return try repositories.repository(endpoint)
    }
}

/// What the sessions of an ``AppScope`` share.
///
///     var configuration = AppScopeConfiguration(upstream, store: store, endpoints: [AnyEndpoint(.comments)])
///     configuration.errorHandler = IgnoringErrorHandler().logging { print($0) }
///
/// A test changes what it replaces, such as the clock or the store.
///
/// An app with several upstreams adds the others by name. Each has the resilience of its own data fetcher, and an endpoint says which of
/// them has its entities:
///
///     configuration.add(Upstream(baseURL: searchURL, dataFetcher: client.protecting(by: search)), as: .search)
///     let hits = try session.repository(Endpoint(HitDTO.self, at: "hits", upstream: .search))
public struct AppScopeConfiguration: Sendable {
    /// The upstream, without credentials.
    public var upstream: Upstream
    private var others: [UpstreamName: Upstream] = [:]
    /// The store that keeps responses and pending writes across restarts; `nil` to keep none, and to send each write immediately.
    /// The app does not close it.
    public var store: (any RecordStore)?
    /// The endpoints whose entities are created, updated or deleted through the outbox. Only needed with a store.
    public var endpoints: [AnyEndpoint]
    /// The size limit of each repository's memory cache.
    public var memory = MemoryLimit()
    /// How many bytes of fresh responses are cached in memory, for all sessions together.
    public var responseCacheBytes = 16 * 1_024 * 1_024
    /// The limits of each user's outbox.
    public var outboxPolicy = OutboxPolicy.standard
    /// Whether credentials are sent over plain HTTP to another machine, where anyone on the network path can read them.
    public var allowsCredentialsOverPlainHTTP = false
    /// How long opening a session waits for a slow store. The session then opens without its pending writes, and shows them later.
    public var openingLimit = Duration.seconds(10)
    /// How long the work in flight, and each object, may take to end when a scope closes.
    public var closingLimit = Duration.seconds(5)
    /// Receives failures that no caller receives. The app does not close it.
    public var errorHandler: any ErrorHandler = IgnoringErrorHandler()
    /// Who is told what happens, for logs, metrics and traces.
    public var observers = AppObservers()
    /// The clock for deadlines, limits and freshness.
    public var clock: any Clock<Duration> = ContinuousClock()

    /// Creates a configuration.
    ///
    /// - Parameters:
    ///   - upstream: The upstream, without credentials.
    ///   - store: The store that keeps responses and pending writes across restarts; `nil` to keep none, and to send each write
    ///     immediately.
    ///   - endpoints: The endpoints whose entities are created, updated or deleted through the outbox.
    public init(_ upstream: Upstream, store: (any RecordStore)? = nil, endpoints: [AnyEndpoint] = []) {
        self.upstream = upstream
        self.store = store
        self.endpoints = endpoints
    }

    /// Adds an upstream to the one that the app always has, or replaces the one of this name.
    ///
    /// What the store keeps, and the outbox, are apart for each upstream, even if two have the same address.
    ///
    /// - Parameters:
    ///   - upstream: The upstream, without credentials.
    ///   - name: The name, by which endpoints and credentials say that they are for it.
    public mutating func add(_ upstream: Upstream, as name: UpstreamName) {
        if name == .standard { self.upstream = upstream } else { others[name] = upstream }
    }

    var standardUpstream: HostedUpstream { HostedUpstream(name: .standard, upstream: upstream) }

    /// The other upstreams, in the order of their names.
    var otherUpstreams: [HostedUpstream] {
        others.map { HostedUpstream(name: $0.key, upstream: $0.value) }.sorted { $0.name < $1.name }
    }

    /// Returns the part of the store for an owner at an upstream; `nil` if there is no store.
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

    /// Returns the parts of the store for an owner at all upstreams; none if there is no store.
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

    /// Returns what an object that belongs to the upstream is called in messages.
    func title(_ object: String) -> String { name == .standard ? object : "\(object) of \(name)" }
}

extension Scope {
    /// Returns the objects of the scope, for a repository of them.
    ///
    /// - Throws: a `RepositoryError`, `closed`, if the scope is closed.
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

/// The lifetime of the process, or the one that the embedding program chooses.
public enum AppLifetime: OutermostLifetime {
    /// `app`.
    public static let name = "app"
}

/// The lifetime from sign-in to sign-out.
public enum SessionLifetime: InnerLifetime {
    /// Inside an app.
    public typealias Outer = AppLifetime
    /// `session`.
    public static let name = "session"
}

/// The lifetime of a user's work with one feature.
public enum FeatureLifetime: InnerLifetime {
    /// Inside a session.
    public typealias Outer = SessionLifetime
    /// `feature`.
    public static let name = "feature"
}

/// The lifetime of one request or one command.
public enum InteractionLifetime: InnerLifetime {
    /// Inside a feature.
    public typealias Outer = FeatureLifetime
    /// `interaction`.
    public static let name = "interaction"
}
