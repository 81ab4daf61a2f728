public import InwardCore
public import UseCases

/// Asks for an overview of an upstream and has it presented.
public struct OverviewController: Sendable {
    private let listUsers: ListUsers
    private let readFeed: ReadFeed
    private let source: String
    private let stopwatch: Stopwatch

    /// Makes a controller.
    ///
    /// - Parameters:
    ///   - listUsers: The use case that gives the users.
    ///   - readFeed: The use case that gives the feed.
    ///   - source: What the upstream is called, such as `the built-in sample`.
    ///   - stopwatch: What tells how long it takes.
    public init(listUsers: ListUsers, readFeed: ReadFeed, source: String, stopwatch: Stopwatch) {
        self.listUsers = listUsers
        self.readFeed = readFeed
        self.source = source
        self.stopwatch = stopwatch
    }

    /// The users and the first page of the feed, asked for at the same time.
    ///
    /// An overview is of both: if one cannot be had there is none, even though the feed alone would come without its users.
    ///
    /// - Throws: what to show if one of them cannot be had.
    public func callAsFunction() async throws(FailureViewModel) -> OverviewViewModel {
        let start = stopwatch.elapsed
        async let eventualFeed = presentedFeed()
        let users = try await presentedUsers().get()
        let feed = try await eventualFeed.get()
        let duration = (stopwatch.elapsed - start).spoken
        let provenance = """
            Read \(users.rows.count) users (from \(users.origin)) and \(feed.postsRead) posts (from \(feed.origin)) \
            of \(source) in \(duration).
            """
        return OverviewViewModel(generator: "inward", users: users, feed: feed, provenance: provenance)
    }

    private func presentedUsers() async -> Result<UserListViewModel, FailureViewModel> {
        let presenter = UserListPresenter()
        do {
            return .success(presenter.present(try await listUsers()))
        } catch {
            return .failure(presenter.present(error))
        }
    }

    private func presentedFeed() async -> Result<FeedViewModel, FailureViewModel> {
        let presenter = FeedPresenter()
        do {
            return .success(presenter.present(try await readFeed()))
        } catch {
            return .failure(presenter.present(error))
        }
    }
}

/// What a view shows of an upstream at one look: its users and the first page of its feed.
public struct OverviewViewModel: ViewModel, Hashable {
    /// Which program made this.
    public let generator: String
    /// The users.
    public let users: UserListViewModel
    /// The first page of the feed.
    public let feed: FeedViewModel
    /// What came from where, and how long that took, as a sentence.
    public let provenance: String

    /// The name of the program comes first, so that a file is known by how it begins.
    enum CodingKeys: String, CodingKey {
        case generator = "_generator"
        case users
        case feed
        case provenance
    }

    /// The users, the feed, what was left out of either, and the sentence.
    public var document: Document {
        // The feed names the users that were left out too.
        let notes = users.notes + feed.notes.filter { !users.notes.contains($0) }
        let blocks = users.blocks + feed.blocks + notes.block + [.paragraph(provenance)]
        return Document(title: "Users and posts", blocks: blocks)
    }
}

extension OverviewViewModel {
    /// The overview as a page, `index.html`, and as JSON, `index.json`.
    ///
    /// - Throws: an `EncodingError` if it has what JSON cannot say.
    public func renderedFiles() throws(EncodingError) -> [RenderedFile] {
        [
            RenderedFile(
                name: "index.html",
                contents: HTMLRenderer(generator: generator).render(document),
                mark: HTMLRenderer(generator: generator).beginning
            ),
            RenderedFile(
                name: "index.json",
                contents: try JSONRenderer().render(self),
                mark: "{\n  \"_generator\" : \"\(generator)\","
            ),
        ]
    }
}
