public import Entities
public import InwardCore

/// One page of the feed.
public struct FeedPage: Equatable, Sendable {
    /// The entries of this page, the newest first.
    public let entries: [FeedEntry]
    /// How many entries the query matches on all pages.
    public let total: Int
    /// Where the next page begins; `nil` if this is the last.
    public let next: FeedCursor?
    /// How many posts there were to choose from, where they came from, and which were damaged.
    public let postsRead: Reading<Int>
    /// How many users there were to join them with, likewise; or why none could be had, and the page is degraded.
    public let usersRead: Result<Reading<Int>, RepositoryError>

    /// Makes a page of entries with what was read to make it.
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

/// A post in the feed, joined with who wrote it.
public struct FeedEntry: Hashable, Sendable {
    /// What is known of the author of a post.
    public enum Author: Hashable, Sendable {
        /// The author is this user.
        case known(User)
        /// There is no user of the identity that the post names.
        case unknown(User.ID)
        /// The users could not be had, so nobody can say who this is.
        case unavailable(User.ID)
    }

    /// The post.
    public let post: Post
    /// Who wrote it.
    public let author: Author

    /// Joins a post with its author.
    public init(post: Post, author: Author) {
        self.post = post
        self.author = author
    }
}

/// Which part of the feed to read.
public struct FeedQuery: Hashable, Sendable {
    /// How many entries a page may have.
    public static let pageSizes = 1...100

    /// Only what this author wrote; `nil` for all authors.
    public var author: User.ID?
    /// Only posts with this text in their title or body, whatever its case; `nil` for all posts.
    public var text: String?
    /// Where the page begins: behind the entry that ended the page before; `nil` for the newest entry.
    public var cursor: FeedCursor?
    /// How many entries the page has at most, within ``pageSizes``.
    public var pageSize: Int

    /// Makes a query; without arguments, for the first page of the whole feed.
    public init(author: User.ID? = nil, text: String? = nil, cursor: FeedCursor? = nil, pageSize: Int = 20) {
        self.author = author
        self.text = text
        self.cursor = cursor
        self.pageSize = pageSize
    }
}

extension FeedQuery {
    /// The posts that have the text asked for, in the order given.
    func matching(_ posts: [Post]) -> [Post] {
        guard let text = text?.lowercased(), !text.isEmpty else { return posts }
        return posts.filter { $0.title.lowercased().contains(text) || $0.body.lowercased().contains(text) }
    }
}

/// A place in the feed: right behind one post, whatever is published before it or deleted around it.
///
/// It can be handed out as text, in a link for instance, and read back.
public struct FeedCursor: Hashable, Sendable, LosslessStringConvertible {
    /// The post that ended a page. What follows is older.
    let last: Post.ID

    /// The place right behind a post.
    public init(after last: Post.ID) {
        self.last = last
    }

    /// Reads a cursor from the text that an earlier one was handed out as; `nil` if it is no such text.
    public init?(_ description: String) {
        guard let rawValue = Int(description), String(rawValue) == description else { return nil }
        last = Post.ID(rawValue)
    }

    /// The cursor as text, to be read back by ``init(_:)``.
    public var description: String { last.description }
}
