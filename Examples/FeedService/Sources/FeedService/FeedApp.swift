import Foundation
import Infrastructure
import InterfaceAdapters
public import InwardAsyncHTTPClient
public import InwardCore
public import InwardFetching
import InwardFileStores
import InwardPostgreSQL
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
    /// The responses to requests with an `Idempotency-Key`.
    let idempotency: IdempotencyRegistry
    /// Whether writes are accepted before the upstream has answered them.
    let keepsWrites: Bool
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
        let comments = Endpoint.comments(lifetimes)
        var configuration = AppScopeConfiguration(
            Upstream(baseURL: settings.upstream ?? SampleDataFetcher.baseURL, dataFetcher: source),
            endpoints: [AnyEndpoint(users), AnyEndpoint(posts), AnyEndpoint(comments)]
        )
        let store = settings.store?.store { errorHandler.handle($0) }
        if let store { configuration.share(store) { _ in .none } }
        configuration.errorHandler = errorHandler
        configuration.clock = clock
        scope = await AppScope("feed-service", configuration) { opening in
            client.map { opening.closing($0, as: "client") { try await $0.close() } }
        }
        let titles = TitleReservations()
        sessions = try await scope.sessionRegistry { _, _, repositories in
            let users = UpstreamUserRepository(try repositories.repository(users))
            let posts = UpstreamPostRepository(try repositories.repository(posts))
            let comments = try repositories.repository(comments)
            return Reader(users: users, posts: posts, comments: comments, titlesUnderWay: titles)
        }
        idempotency = IdempotencyRegistry(
            store: store ?? InMemoryRecordStore(),
            // Without a store, the responses take up memory, and do not outlive the process.
            lifetime: store == nil ? .seconds(600) : .seconds(86_400),
            requestLimit: settings.timeLimit + .seconds(5),
            now: { Date() },
            errorHandler: errorHandler
        )
        keepsWrites = store != nil
        timeLimit = settings.timeLimit
        self.timer = timer
    }

    /// Whether the service answers requests. It does not while it shuts down.
    public var isReady: Bool { scope.isAcceptingWork }

    /// Runs work with the use cases of a reader who has not signed in, within the time limit.
    ///
    /// - Parameters:
    ///   - lateness: The error after the time limit. For a change, that is `outcomeUnknown`.
    ///   - work: The work.
    /// - Returns: The value that the work returns.
    /// - Throws: The error that the work throws; a `SessionRegistryError` if no session is available; `lateness`.
    public func withReader<Value: Sendable>(
        orThrowWhenLate lateness: ProblemDetails = .unavailable,
        _ work: @escaping @Sendable (Reader) async throws -> Value
    ) async throws -> Value {
        let answer = await Deadline(in: timeLimit, on: timer).bound {
            try await sessions.withSession(of: "guest") { session in try await work(session.own) }
        }
        guard let answer else { throw lateness }
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
    /// Shows a post.
    public let showPost: ShowPost
    /// Publishes a post.
    public let publishPost: PublishPost
    /// Edits a post.
    public let editPost: EditPost
    /// Deletes a post.
    public let deletePost: DeletePost
    /// Shows and changes comments.
    public let comments: Comments

    init(
        users: any UserRepository,
        posts: any EditablePostRepository,
        comments: Repository<Comment>,
        titlesUnderWay: TitleReservations
    ) {
        listUsers = ListUsers(users: users)
        showUser = ShowUser(users: users, posts: posts)
        readFeed = ReadFeed(posts: posts, users: users)
        showPost = ShowPost(posts: posts)
        publishPost = PublishPost(posts: posts, users: users, titlesUnderWay: titlesUnderWay)
        editPost = EditPost(posts: posts, titlesUnderWay: titlesUnderWay)
        deletePost = DeletePost(posts: posts)
        self.comments = Comments(comments, showPost: showPost)
    }
}

extension StoreLocation {
    /// Opens the store.
    ///
    /// - Parameter report: Receives damaged records.
    fileprivate func store(_ report: @escaping @Sendable (RecordDamage) -> Void) -> any SharedRecordStore {
        switch self {
        case .directory(let path): FileRecordStore(directory: URL(filePath: path), reportDamage: report)
        case .postgreSQL(let address): PostgreSQLRecordStore(address)
        }
    }
}
