public import Entities
public import InwardCore

/// A page of the feed.
///
/// ```swift
/// let page = try await ReadFeed(posts: posts, users: users)()
/// print("\(page.entries.count) of \(page.total) posts")
/// if case .failure(let error) = page.usersRead {
///     print("The authors are not available: \(error)")
/// }
/// ```
public struct FeedPage: Equatable, Sendable {
    /// The entries of this page, newest first.
    public let entries: [FeedEntry]
    /// The number of entries on all pages that match the query.
    public let total: Int
    /// The cursor to pass in the query for the next page; `nil` on the last page.
    public let next: FeedCursor?
    /// The number of posts that were read to find the entries, with their origin and the damaged records.
    public let postsRead: Reading<Int>
    /// The number of users that were read to find the authors, or the error that occurred, in which case the authors are
    /// ``FeedEntry/Author/unavailable(_:)``.
    public let usersRead: Result<Reading<Int>, RepositoryError>

    /// Creates a page.
    public init(
        entries: [FeedEntry],
        total: Int,
        next: FeedCursor?,
        postsRead: Reading<Int>,
        usersRead: Result<Reading<Int>, RepositoryError>
    ) {
        self.entries = entries
        self.total = total
        self.next = next
        self.postsRead = postsRead
        self.usersRead = usersRead
    }
}

/// A post in the feed, joined with its author.
///
/// ```swift
/// func byline(of entry: FeedEntry) -> String {
///     switch entry.author {
///     case .known(let user): user.name
///     case .unknown(let id), .unavailable(let id): "user \(id)"
///     }
/// }
/// ```
public struct FeedEntry: Hashable, Sendable {
    /// The author of a post, or the reason it is not known.
    public enum Author: Hashable, Sendable {
        /// The author is this user.
        case known(User)
        /// No user has the identity that the post names.
        case unknown(User.ID)
        /// The users could not be read, so the author is not known.
        case unavailable(User.ID)
    }

    /// The post.
    public let post: Post
    /// The author of the post.
    public let author: Author

    /// Creates an entry from a post and its author.
    public init(post: Post, author: Author) {
        self.post = post
        self.author = author
    }
}

/// A query for a page of the feed.
///
/// ```swift
/// var query = FeedQuery(text: "engine", pageSize: 10)
/// let readFeed = ReadFeed(posts: posts, users: users)
/// query.cursor = try await readFeed(query).next  // The next page.
/// ```
public struct FeedQuery: Hashable, Sendable {
    /// The allowed number of entries per page.
    public static let pageSizes = 1...100

    /// The author whose posts to include; `nil` for all authors.
    public var author: User.ID?
    /// The text that posts must contain in their title or body, ignoring case; `nil` for all posts.
    public var text: String?
    /// The position after which the page starts; `nil` to start with the newest entry.
    public var cursor: FeedCursor?
    /// The maximum number of entries on the page, within ``pageSizes``.
    public var pageSize: Int

    /// Creates a query. Without arguments, it asks for the first page of the whole feed.
    public init(author: User.ID? = nil, text: String? = nil, cursor: FeedCursor? = nil, pageSize: Int = 20) {
        self.author = author
        self.text = text
        self.cursor = cursor
        self.pageSize = pageSize
    }
}

extension FeedQuery {
    /// Returns the posts that contain the query's text, in the given order.
    func matching(_ posts: [Post]) -> [Post] {
        guard let text = text?.lowercased(), !text.isEmpty else { return posts }
        return posts.filter { $0.title.lowercased().contains(text) || $0.body.lowercased().contains(text) }
    }
}

/// A position in the feed, immediately after a post.
///
/// ```swift
/// let link = "/posts/after/\(FeedCursor(after: Post.ID(61)))"  // /posts/after/61
/// let query = FeedQuery(cursor: FeedCursor("61"))
/// ```
///
/// A cursor stays valid when posts are published or deleted. It can be converted to text, for example for a link, and back.
public struct FeedCursor: Hashable, Sendable, LosslessStringConvertible {
    /// The last post of a page. The posts that follow are older.
    let last: Post.ID

    /// Creates a cursor to the position immediately after a post.
    public init(after last: Post.ID) {
        self.last = last
    }

    /// Creates a cursor from its text form; returns `nil` if the text is not a cursor.
    public init?(_ description: String) {
        guard let rawValue = Int(description), String(rawValue) == description else { return nil }
        last = Post.ID(rawValue)
    }

    /// The cursor in its text form, which ``init(_:)`` reads.
    public var description: String { last.description }
}
