import Entities
public import InwardCore

/// Reads the feed: the newest posts, each joined with its author, page by page.
public struct ReadFeed: Sendable {
    private let posts: any PostRepository
    private let users: any UserRepository

    /// Makes the use case over the repositories that have the posts and their authors.
    public init(posts: any PostRepository, users: any UserRepository) {
        self.posts = posts
        self.users = users
    }

    /// The page of the feed that a query asks for. Posts and users are asked for at the same time.
    ///
    /// A post whose author is unknown stays, and says so. If the users cannot be had, the feed comes without them, and
    /// says why. Pages are stable: what is published while somebody turns the pages never shifts an entry from one to the
    /// next.
    ///
    /// - Complexity: O(n log n) in the number of posts, and O(m) in the number of users.
    /// - Throws: a ``ReadFeedError`` if the query is not valid or there are no posts to be had.
    public func callAsFunction(
        _ query: FeedQuery = FeedQuery(),
        _ policy: ReadPolicy = .cacheFirst
    ) async throws(ReadFeedError) -> FeedPage {
        guard FeedQuery.pageSizes.contains(query.pageSize) else { throw .pageSizeOutOfRange(query.pageSize) }
        async let authors = Result(awaiting: { () async throws(RepositoryError) in try await users.users(policy) })
        let written: Reading<[Post]>
        do {
            written =
                if let author = query.author {
                    try await posts.posts(by: author, policy)
                } else {
                    try await posts.posts(policy)
                }
        } catch {
            throw ReadFeedError(error)
        }
        let known = await authors
        if case .failure(let error) = known, error.reason == .cancelled { throw .cancelled }
        return page(of: written, by: known, for: query)
    }

    private func page(
        of written: Reading<[Post]>,
        by known: Result<Reading<[User]>, RepositoryError>,
        for query: FeedQuery
    ) -> FeedPage {
        let matching = query.matching(written.value).sorted { $0.id > $1.id }
        let following = matching.drop { post in query.cursor.map { post.id >= $0.last } ?? false }
        let shown = following.prefix(query.pageSize)
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

/// Why the feed could not be read.
public enum ReadFeedError: Error, Hashable, Sendable {
    /// The caller gave up.
    case cancelled
    /// The page size asked for, given here, is outside ``FeedQuery/pageSizes``.
    case pageSizeOutOfRange(Int)
    /// The posts cannot be had now; the cause says whether asking again can help.
    case unavailable(RepositoryError)
    /// Whoever has the posts does not give them to this caller.
    case denied(RepositoryError)
    /// What came is no list of posts.
    case unreadable(RepositoryError)

    init(_ error: RepositoryError) {
        self =
            switch error.reason.code {
            case .cancelled: .cancelled
            case .denied: .denied(error)
            case .unreadable: .unreadable(error)
            case .closed, .notFound, .unavailable, .refused, .outcomeUnknown: .unavailable(error)
            }
    }
}

extension ReadFeedError {
    /// The error of a feed that did not come in time.
    public init(late error: DeadlinePassedError) {
        self = .unavailable(
            RepositoryError(.unavailable, request: "The feed", explanation: "did not come: \(error)", canRetry: true)
        )
    }

    /// The error of a feed whose session or container is closed.
    public init(closed error: any Error) {
        self = .unavailable(RepositoryError(.closed, request: "The feed", explanation: "did not come: \(error)"))
    }
}

extension ReadFeedError: CustomStringConvertible {
    /// What could not be done and why, as a sentence without its full stop.
    public var description: String {
        switch self {
        case .cancelled: "Reading the feed was cancelled"
        case .pageSizeOutOfRange(let size): "A page of the feed cannot have \(size) entries"
        case .unavailable(let cause), .denied(let cause), .unreadable(let cause): "The feed could not be read: \(cause)"
        }
    }
}
