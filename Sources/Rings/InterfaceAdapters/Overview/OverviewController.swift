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
