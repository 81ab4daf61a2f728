import Entities
public import InwardCore

/// A use case that reads the feed page by page: the newest posts, each joined with its author.
///
/// ```swift
/// let readFeed = ReadFeed(posts: posts, users: users)
/// let first = try await readFeed(FeedQuery(pageSize: 10))
/// if let next = first.next {
///     let second = try await readFeed(FeedQuery(cursor: next, pageSize: 10))
/// }
/// ```
public struct ReadFeed: Sendable {
    private let posts: any PostRepository
    private let users: any UserRepository

    /// Creates the use case with the repositories of the posts and their authors.
    public init(posts: any PostRepository, users: any UserRepository) {
        self.posts = posts
        self.users = users
    }

    /// Returns the page of the feed that a query asks for. Posts and users are requested concurrently.
    ///
    /// A post with an unknown author stays in the feed and is marked as such. If the users are unavailable, the page contains
    /// the error instead of authors. Pages are stable: posts published during paging never move an entry from one page to the
    /// next.
    ///
    /// - Complexity: O(n log n) in the number of posts, and O(m) in the number of users.
    /// - Throws: A ``ReadFeedError`` if the query is invalid, the posts cannot be read, or the task is cancelled.
    public func callAsFunction(
        _ query: FeedQuery = FeedQuery(),
        _ policy: ReadPolicy = .cacheFirst
    ) async throws(ReadFeedError) -> FeedPage {
        guard FeedQuery.pageSizes.contains(query.pageSize) else { throw .pageSizeOutOfRange(query.pageSize) }
        let known: Result<Reading<[User]>, RepositoryError>
        let written: Reading<[Post]>
        do throws(RepositoryError) {
            (known, written) = try await concurrently(
                { [users] () async throws(RepositoryError) in try await users.users(policy) },
                { () async throws(RepositoryError) in
                    if let author = query.author { return try await posts.posts(by: author, policy) }
                    return try await posts.posts(policy)
                }
            )
        } catch {
            throw ReadFeedError(error)
        }
        if case .failure(let error) = known, error.reason == .cancelled { throw .cancelled }
        return page(of: written, by: known, for: query)
    }

    private func page(
        of written: Reading<[Post]>,
        by known: Result<Reading<[User]>, RepositoryError>,
        for query: FeedQuery
    ) -> FeedPage {
        let matching = query.matching(written.value)
        // Sorts positions, because a position is copied faster than a post.
        let following = matching.indices
            .filter { place in query.cursor.map { matching[place].id < $0.last } ?? true }
            .sorted { matching[$0].id > matching[$1].id }
        let shown = following.prefix(query.pageSize).map { matching[$0] }
        let authors = known.map { reading in
            Dictionary(reading.value.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        }
        return FeedPage(
            entries: shown.map { FeedEntry(post: $0, author: .init($0.authorID, among: authors)) },
            total: matching.count,
            next: shown.count < following.count ? shown.last.map { FeedCursor(after: $0.id) } : nil,
            postsRead: written.map(\.count),
            usersRead: known.map { $0.map(\.count) }
        )
    }
}

extension FeedEntry.Author {
    fileprivate init(_ id: User.ID, among users: Result<[User.ID: User], RepositoryError>) {
        self =
            switch users {
            case .success(let users): users[id].map(Self.known) ?? .unknown(id)
            case .failure: .unavailable(id)
            }
    }
}

/// An error that occurs while reading the feed.
///
/// ```swift
/// do {
///     print(try await ReadFeed(posts: posts, users: users)(FeedQuery(pageSize: 500)).total)
/// } catch .pageSizeOutOfRange {
///     print("Ask for at most \(FeedQuery.pageSizes.upperBound) posts.")
/// } catch {
///     print(error)
/// }
/// ```
public enum ReadFeedError: Error, Hashable, Sendable {
    /// The calling task was cancelled.
    case cancelled
    /// The given page size is outside ``FeedQuery/pageSizes``.
    case pageSizeOutOfRange(Int)
    /// The posts are not available now. The cause says whether a retry can help.
    case unavailable(RepositoryError)
    /// The source denies this caller access to the posts.
    case denied(RepositoryError)
    /// The answer is not a list of posts.
    case unreadable(RepositoryError)

    init(_ error: RepositoryError) {
        self =
            switch error.reason.code {
            case .cancelled: .cancelled
            case .denied: .denied(error)
            case .unreadable: .unreadable(error)
            case .closed, .notFound, .unavailable, .refused, .conflict, .outcomeUnknown: .unavailable(error)
            }
    }
}

extension ReadFeedError {
    /// Creates the error for a feed that was not read before its deadline.
    public init(late error: DeadlinePassedError) {
        self = .unavailable(
            RepositoryError(.unavailable, request: "The feed", explanation: "was not loaded: \(error)", canRetry: true)
        )
    }

    /// Creates the error for a feed whose session or container is closed.
    public init(closed error: any Error) {
        self = .unavailable(RepositoryError(.closed, request: "The feed", explanation: "was not loaded: \(error)"))
    }
}

extension ReadFeedError: CustomStringConvertible {
    /// The failure and its cause, as a sentence without its final period.
    public var description: String {
        switch self {
        case .cancelled: "Reading the feed was cancelled"
        case .pageSizeOutOfRange(let size): "A page of the feed cannot have \(size) entries"
        case .unavailable(let cause), .denied(let cause), .unreadable(let cause): "The feed could not be read: \(cause)"
        }
    }
}
