import Entities
public import InwardCore
public import UseCases

/// A controller that loads an overview of an upstream and presents it.
///
/// ```swift
/// let controller = OverviewController(
///     listUsers: listUsers,
///     readFeed: readFeed,
///     source: "the built-in sample",
///     stopwatch: Stopwatch(ContinuousClock())
/// )
/// let overview = try await controller()
/// print(overview.provenance)
/// ```
public struct OverviewController: Sendable {
    private let listUsers: ListUsers
    private let readFeed: ReadFeed
    private let source: String
    private let stopwatch: Stopwatch

    /// Creates a controller.
    ///
    /// - Parameters:
    ///   - listUsers: The use case that lists the users.
    ///   - readFeed: The use case that reads the feed.
    ///   - source: The name of the upstream, such as `the built-in sample`.
    ///   - stopwatch: Measures how long loading takes.
    public init(listUsers: ListUsers, readFeed: ReadFeed, source: String, stopwatch: Stopwatch) {
        self.listUsers = listUsers
        self.readFeed = readFeed
        self.source = source
        self.stopwatch = stopwatch
    }

    /// Loads the users and the first page of the feed concurrently. Without the users, there is no overview, although the feed
    /// alone could be shown.
    ///
    /// - Throws: The failure to show if either cannot be loaded.
    public func callAsFunction() async throws(FailureViewModel) -> OverviewViewModel {
        let start = stopwatch.elapsed
        let (eventualFeed, users) = try await concurrently(
            { [self] () async throws(FailureViewModel) in try await feedRead() },
            { () async throws(FailureViewModel) in try await usersRead() }
        )
        let page = try eventualFeed.get()
        let duration = (stopwatch.elapsed - start).spoken
        // The list and the feed read the users concurrently and share one request, so the origin of one of the readings is
        // memory. The overview names the other origin, from which the users really came.
        let usersOrigin = max(users.origin, (try? page.usersRead.get().origin) ?? users.origin)
        let list = UserListPresenter().present(users, from: usersOrigin)
        let feed = FeedPresenter().present(page)
        let provenance = """
            Read \(list.rows.count) users (from \(list.origin)) and \(feed.postsRead) posts (from \(feed.origin)) \
            of \(source) in \(duration).
            """
        return OverviewViewModel(generator: "inward", users: list, feed: feed, provenance: provenance)
    }

    private func usersRead() async throws(FailureViewModel) -> Reading<[User]> {
        do {
            return try await listUsers()
        } catch {
            throw UserListPresenter().present(error)
        }
    }

    private func feedRead() async throws(FailureViewModel) -> FeedPage {
        do {
            return try await readFeed()
        } catch {
            throw FeedPresenter().present(error)
        }
    }
}

/// The view model of an upstream's overview: its users and the first page of its feed.
///
/// ```swift
/// func write(_ overview: OverviewViewModel) throws {
///     let page = RenderedFile.page("index.html", of: overview.document, by: overview.generator)
///     let json = try RenderedFile.json("index.json", of: overview, by: overview.generator)
///     try OutputDirectory(path: "site").write([page, json])
/// }
/// ```
public struct OverviewViewModel: ViewModel, Hashable {
    /// The name of the program that generated the overview.
    public let generator: String
    /// The users.
    public let users: UserListViewModel
    /// The first page of the feed.
    public let feed: FeedViewModel
    /// A sentence that says what was read, from where, and how long it took.
    public let provenance: String

    /// The key of `generator` sorts first, so that the beginning of a JSON file identifies the program that wrote it.
    enum CodingKeys: String, CodingKey {
        case generator = "_generator"
        case users
        case feed
        case provenance
    }

    /// The users, the feed, the notes of both, and the provenance.
    public var document: Document {
        // Both lists of notes name the rejected users. Show each note once.
        let notes = users.notes + feed.notes.filter { !users.notes.contains($0) }
        let blocks = users.blocks + feed.blocks + notes.block + [.paragraph(provenance)]
        return Document(title: "Users and posts", blocks: blocks)
    }
}
