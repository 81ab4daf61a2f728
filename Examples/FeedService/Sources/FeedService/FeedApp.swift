import Foundation
import Infrastructure
import InterfaceAdapters
public import InwardAsyncHTTPClient
public import InwardCore
public import InwardFetching
import InwardRepositories
public import InwardScopes
public import UseCases

/// The objects of the service: the app, and a session for each reader, with the use cases over the session's repositories.
///
/// ```swift
/// let app = try await FeedApp(ServiceSettings())
/// let page = try await app.withReader { try await $0.readFeed(FeedQuery()) }
/// try await app.scope.close()
/// ```
public struct FeedApp: Sendable {
    /// The app's scope, with the client of the upstream.
    public let scope: AppScope<AsyncHTTPClientDataFetcher?>
    private let sessions: SessionRegistry<Reader>
    private let timeLimit: Duration
    private let timer: TimerService

    /// Opens the app.
    ///
    /// - Parameters:
    ///   - settings: The settings of the service.
    ///   - dataFetcher: Replaces the upstream of the settings, for example with a test double.
    ///   - errorHandler: Receives failures that no caller receives.
    ///   - clock: The clock for limits and freshness.
    /// - Throws: A `ScopeError` if the app is closed while it opens.
    public init(
        _ settings: ServiceSettings,
        dataFetcher: (any DataFetcher)? = nil,
        errorHandler: any ErrorHandler = IgnoringErrorHandler(),
        clock: any Clock<Duration> = ContinuousClock()
    ) async throws(ScopeError) {
        let timer = TimerService(clock)
        let client = settings.upstream.map { _ in AsyncHTTPClientDataFetcher() }
        let source = dataFetcher ?? client?.protecting(by: .standard, timer: timer) ?? SampleDataFetcher()
        let lifetimes = Lifetimes(staleAfter: settings.staleAfter)
        let (users, posts) = (Endpoint.users(lifetimes: lifetimes), Endpoint.posts(lifetimes: lifetimes))
        var configuration = AppScopeConfiguration(
            Upstream(baseURL: settings.upstream ?? SampleDataFetcher.baseURL, dataFetcher: source),
            endpoints: [AnyEndpoint(users), AnyEndpoint(posts)]
        )
        configuration.errorHandler = errorHandler
        configuration.clock = clock
        scope = await AppScope("feed-service", configuration) { opening in
            client.map { opening.closing($0, as: "client") { try await $0.close() } }
        }
        sessions = try await scope.sessionRegistry { _, _, repositories in
            let users = UpstreamUserRepository(try repositories.repository(users))
            let posts = UpstreamPostRepository(try repositories.repository(posts))
            return Reader(
                listUsers: ListUsers(users: users),
                showUser: ShowUser(users: users, posts: posts),
                readFeed: ReadFeed(posts: posts, users: users)
            )
        }
        timeLimit = settings.timeLimit
        self.timer = timer
    }

    /// Whether the service answers requests. It does not while it shuts down.
    public var isReady: Bool { scope.isAcceptingWork }

    /// Runs work with the use cases of a reader who has not signed in, within the time limit.
    ///
    /// - Throws: The error that the work throws; a `SessionRegistryError` if no session is available; a `ProblemDetails` with the
    ///   status 503 after the time limit.
    public func withReader<Value: Sendable>(
        _ work: @escaping @Sendable (Reader) async throws -> Value
    ) async throws -> Value {
        let answer = await Deadline(in: timeLimit, on: timer).bound {
            try await sessions.withSession(of: "guest") { session in try await work(session.own) }
        }
        guard let answer else { throw ProblemDetails.unavailable }
        return try answer.get()
    }
}

/// The use cases of a reader.
public struct Reader: Sendable {
    /// Lists the users.
    public let listUsers: ListUsers
    /// Shows a user with the user's posts.
    public let showUser: ShowUser
    /// Reads the feed page by page.
    public let readFeed: ReadFeed
}
