public import Infrastructure
public import InterfaceAdapters
public import UseCases

/// The objects that live as long as the app, wired by a configuration.
///
/// The one place that chooses implementations. Use cases know them by their ports alone; what a program needs of ring 4
/// itself, its output and its files, is handed out as it is.
public struct AppContainer: Sendable {
    /// Where the repositories of all subjects ask. A subject's extension of this container makes its own over it.
    let upstream: Upstream
    private let configuration: AppConfiguration
    private let users: any UserRepository
    private let posts: any PostRepository

    /// Publishes posts. Shared by all, because it keeps apart those who publish the same title at the same moment.
    public let publishPost: PublishPost

    /// Wires an app for a configuration.
    ///
    /// - Throws: an ``AppConfigurationError`` if the upstream is a directory that cannot be read.
    public init(_ configuration: AppConfiguration) throws(AppConfigurationError) {
        self.init(configuration, dataFetcher: try configuration.makeDataFetcher())
    }

    /// Wires an app for a configuration over a data fetcher of the caller's, such as a double.
    public init(_ configuration: AppConfiguration, dataFetcher: any DataFetcher) {
        let upstream = Upstream(baseURL: configuration.baseURL, dataFetcher: dataFetcher)
        let users = UpstreamUserRepository(upstream: upstream)
        let posts = UpstreamPostRepository(upstream: upstream)
        self.upstream = upstream
        self.configuration = configuration
        self.users = users
        self.posts = posts
        publishPost = PublishPost(posts: posts, users: users)
    }

    /// Lists all users.
    public var listUsers: ListUsers { ListUsers(users: users) }

    /// Shows one user with the user's posts.
    public var showUser: ShowUser { ShowUser(users: users, posts: posts) }

    /// Reads the feed.
    public var readFeed: ReadFeed { ReadFeed(posts: posts, users: users) }

    /// What the upstream is called in messages.
    public var upstreamName: String { configuration.upstreamName }

    /// Asks for an overview of the upstream and has it presented.
    public var overview: OverviewController<ContinuousClock> {
        OverviewController(
            listUsers: listUsers,
            readFeed: readFeed,
            source: configuration.upstreamName,
            clock: ContinuousClock()
        )
    }

    /// A directory to write rendered files into, named by its path.
    public func outputDirectory(at path: String) -> OutputDirectory { OutputDirectory(path: path) }

    /// Where the process writes what it was asked for. It is there before any app is.
    public static let standardOutput = StandardOutput()

    /// What the process says beside its output. It is there before any app is.
    public static let standardError = StandardError()
}
