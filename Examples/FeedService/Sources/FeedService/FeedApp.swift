import Entities
import Foundation
import Infrastructure
import InterfaceAdapters
public import InwardAsyncHTTPClient
public import InwardCore
public import InwardFetching
import InwardFileStores
import InwardImageServing
import InwardPostgreSQL
public import InwardRepositories
public import InwardScopes
public import UseCases

/// The objects of the service: the app, and a session for each reader, with the use cases over the session's repositories.
///
/// ```swift
/// let app = try await FeedApp(ServiceSettings())
/// print(app.isReady)
/// try await app.scope.close()
/// ```
public final class FeedApp: Sendable {
    /// The app's scope, with the client of the upstream.
    public let scope: AppScope<AsyncHTTPClientDataFetcher?>
    private let sessions: SessionRegistry<Reader>
    /// The responses to requests with an `Idempotency-Key`.
    let idempotency: IdempotencyRegistry
    /// The tokens of the users who have signed in.
    let signIns: SignIns
    /// How many requests each user may send.
    let quotas: Quotas
    /// The images of users.
    let images: FeedImages
    private let tokens: UpstreamTokens?
    /// Whether any user of the upstream may sign in, because the upstream has no secrets.
    private let isSample: Bool
    /// The store that keeps writes and responses, if there is one.
    private let store: (any SharedRecordStore)?
    /// The name of the upstream in messages for operators.
    let upstreamTitle: String
    private let timeLimit: Duration
    let timer: TimerService

    /// Opens the app.
    ///
    /// - Parameters:
    ///   - settings: The settings of the service.
    ///   - dataFetcher: Replaces the upstream of the settings, for example with a test double.
    ///   - pendingWrites: Whether to deliver the writes that are pending in the store, or only to show them.
    ///   - errorHandler: Receives failures that no caller receives.
    ///   - observers: Observe requests to the upstream, repositories and sessions.
    ///   - clock: The clock for limits and freshness.
    /// - Throws: A `ScopeError` if the app is closed while it opens.
    public init(
        _ settings: ServiceSettings,
        dataFetcher: (any DataFetcher)? = nil,
        pendingWrites: PendingWrites = .deliver,
        errorHandler: any ErrorHandler = IgnoringErrorHandler(),
        observers: AppObservers = AppObservers(),
        clock: any Clock<Duration> = ContinuousClock()
    ) async throws(ScopeError) {
        let timer = TimerService(clock)
        let policy = Self.upstreamPolicy(timeLimit: settings.timeLimit)
        // Requests that wait for a connection would count as slow ones, and open the circuit.
        let client = settings.upstream.map { _ in AsyncHTTPClientDataFetcher(connectionsPerHost: policy.concurrency) }
        let source = dataFetcher ?? client?.protecting(by: policy, timer: timer) ?? SampleDataFetcher()
        let baseURL = settings.upstream ?? SampleDataFetcher.baseURL
        let relay = WriteRelay(errorHandler: errorHandler)
        let lifetimes = Lifetimes(staleAfter: settings.staleAfter)
        let (users, posts) = (Endpoint.users(lifetimes: lifetimes), Endpoint.posts(lifetimes: lifetimes))
        let comments = Endpoint.comments(lifetimes)
        var configuration = AppScopeConfiguration(
            Upstream(baseURL: baseURL, dataFetcher: source),
            endpoints: [AnyEndpoint(users), AnyEndpoint(posts), AnyEndpoint(comments)]
        )
        let store = settings.store?.store { errorHandler.handle($0) }
        let tokens = settings.tokenEndpoint.map { UpstreamTokens(endpoint: $0, dataFetcher: source) }
        if let store {
            configuration.share(store, pendingWrites: pendingWrites) { tokens?.credentials(of: $0) ?? .none }
        }
        configuration.userLayer = { user, base in
            user == Self.guests ? nil : relay.relaying(base, below: baseURL)
        }
        configuration.errorHandler = errorHandler
        configuration.observers = observers
        configuration.clock = clock
        scope = await AppScope("feed-service", configuration) { opening in
            client.map { opening.closing($0, as: "client") { try await $0.close() } }
        }
        let titles = TitleReservations()
        sessions = try await scope.sessionRegistry { user, _, repositories in
            let users = UpstreamUserRepository(try repositories.repository(users))
            let reader = Reader(
                users: users,
                posts: try repositories.repository(posts),
                comments: try repositories.repository(comments),
                titlesUnderWay: titles
            )
            if user == Self.guests { relay.guestsHave(reader) }
            return reader
        }
        await relay.begin(to: sessions)
        idempotency = IdempotencyRegistry(
            store: store ?? InMemoryRecordStore(byteLimit: Self.memoryForRecords),
            // Without a store, the responses take up memory, and do not outlive the process.
            lifetime: store == nil ? .seconds(600) : .seconds(86_400),
            requestLimit: settings.timeLimit + .seconds(5),
            now: { Date() },
            errorHandler: errorHandler
        )
        signIns = SignIns(
            store: store ?? InMemoryRecordStore(byteLimit: Self.memoryForRecords),
            lifetime: settings.signInLifetime,
            now: { Date() }
        )
        images = FeedImages(
            settings,
            source: FetchingImageSource(of: settings.upstream, by: source, errorHandler: errorHandler),
            store: store.map { RecordImageStore(records: $0) },
            timer: timer,
            errorHandler: errorHandler
        )
        quotas = Quotas(rate: settings.requestsPerSecond, timer: timer)
        self.tokens = tokens
        isSample = settings.upstream == nil && dataFetcher == nil
        self.store = store
        upstreamTitle = settings.upstreamTitle
        timeLimit = settings.timeLimit
        self.timer = timer
    }

    /// Returns the policy for the upstream. If the upstream hangs, its requests fail before those of visitors, so that there is time
    /// to answer with what is cached.
    private static func upstreamPolicy(timeLimit: Duration) -> UpstreamPolicy {
        let standard = UpstreamPolicy.standard
        let policy = try? UpstreamPolicy(
            attemptTimeLimit: min(standard.attemptTimeLimit, timeLimit * 0.4),
            requestTimeLimit: min(standard.requestTimeLimit, timeLimit * 0.8)
        )
        return policy ?? standard
    }

    /// Whether the service answers requests. It does not while it shuts down.
    public var isReady: Bool { scope.isAcceptingWork }

    /// Whether writes are accepted before the upstream has answered them.
    var keepsWrites: Bool { store != nil }

    /// Reads a record of the store, so that a store that cannot be used is noticed before requests need it.
    ///
    /// - Throws: A `RecordStoreError` if the store cannot be read, or does not answer within the time limit of requests.
    func checkStore() async throws(RecordStoreError) {
        guard let store else { return }
        let answer = await deadline.bound { () async throws(RecordStoreError) in
            try await store.record(for: ["feed-service"])
        }
        guard let answer else {
            throw RecordStoreError(.unavailable, explanation: "The store did not answer within \(timeLimit).")
        }
        _ = try answer.get()
    }

    /// When a request that begins now must be answered.
    var deadline: Deadline { Deadline(in: timeLimit, on: timer) }

    /// Runs work with the use cases of a visitor, within the time limit.
    ///
    /// - Parameters:
    ///   - visitor: The visitor, whose session is opened on first use.
    ///   - lateness: The error after the time limit. For a change, that is `outcomeUnknown`.
    ///   - work: The work.
    /// - Returns: The value that the work returns.
    /// - Throws: The error that the work throws; a `SessionRegistryError` if no session is available; `lateness`.
    func withReader<Value: Sendable>(
        for visitor: Visitor,
        orThrowWhenLate lateness: ProblemDetails = .unavailable,
        _ work: @escaping @Sendable (Reader) async throws -> Value
    ) async throws -> Value {
        let answer = await deadline.bound { [self] in try await withSession(of: visitor, work) }
        guard let answer else { throw lateness }
        return try answer.get()
    }

    /// Runs work with the use cases of a visitor for as long as it takes.
    ///
    /// - Throws: The error that the work throws; a `SessionRegistryError` if no session is available.
    func withSession<Value: Sendable>(
        of visitor: Visitor,
        _ work: (Reader) async throws -> Value
    ) async throws -> Value {
        switch visitor {
        case .guest: try await sessions.withSession(of: Self.guests) { try await work($0.own) }
        case .user(let user, let signIn):
            try await sessions.withSession(
                of: user,
                key: signIn,
                credentials: tokens?.credentials(of: user) ?? .none
            ) { try await work($0.own) }
        }
    }

    /// Without a store, the maximum memory for kept responses, and for sign-ins, in bytes each.
    private static let memoryForRecords = 64 * 1_024 * 1_024

    /// The name of the session of all guests. It has a space, so no user has it.
    static let guests = "all guests"

    /// Signs a user in whom the upstream accepts.
    ///
    /// The service does not authenticate: the token endpoint, or a proxy in front of the service, decides who may sign in.
    ///
    /// - Parameter user: The name of the user.
    /// - Returns: The token for the requests of the user.
    /// - Throws: A `ProblemDetails` if the user may not sign in; a `FetchError` if the upstream cannot tell.
    func signIn(as user: String) async throws -> String {
        // Names that look alike, or that are spelled in two ways, must not be one user here and another one at the upstream.
        guard (1...64).contains(user.utf8.count), user.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw ProblemDetails(422, detail: "A user name must have 1 to 64 ASCII characters, without spaces.")
        }
        let isAccepted: Bool
        if let tokens {
            isAccepted = try await tokens.accepts(user)
        } else if isSample {
            let users = try await withReader(for: .guest) { try await $0.listUsers() }
            isAccepted = users.value.contains { $0.username == user }
        } else {
            throw ProblemDetails(.notFound, detail: "Nobody can sign in here: the service has no token endpoint.")
        }
        guard isAccepted else { throw ProblemDetails(403, detail: "This user may not sign in.") }
        return try await signIns.issue(to: user)
    }

    /// Signs a user out where the token was issued, or everywhere.
    ///
    /// - Throws: A `RecordStoreError` if the store cannot be changed.
    func signOut(_ user: String, _ signIn: String?) async throws {
        try await signIns.end(signIn, of: user)
        if signIn == nil { tokens?.forget(user) }
        if let signIn { await sessions.signOut(user, key: signIn) } else { await sessions.signOut(user) }
    }
}

/// The use cases of a reader.
public final class Reader: Sendable {
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
    private let repositories: (posts: Repository<Post>, comments: Repository<Comment>)

    /// The list of posts, and then the list after each change.
    var postChanges: ReadingChanges<[Post]> { repositories.posts.changes(in: .all) }

    /// Makes the next reads of what is under a key ask the upstream.
    func forget(_ key: RecordKey) {
        if key.components.first == "posts" { repositories.posts.invalidate(under: key) }
        // A new post has no comments.
        if key.components.count > 1 { repositories.comments.invalidate(under: key) }
    }

    init(
        users: any UserRepository,
        posts repository: Repository<Post>,
        comments: Repository<Comment>,
        titlesUnderWay: TitleReservations
    ) {
        let posts = UpstreamPostRepository(repository)
        repositories = (repository, comments)
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
    /// Returns the store at the location, which opens it on first use.
    ///
    /// - Parameter report: Receives damaged records.
    /// - Returns: The store.
    fileprivate func store(_ report: @escaping @Sendable (RecordDamage) -> Void) -> any SharedRecordStore {
        switch self {
        case .directory(let path): FileRecordStore(directory: URL(filePath: path), reportDamage: report)
        case .postgreSQL(let address): PostgreSQLRecordStore(address)
        }
    }
}
