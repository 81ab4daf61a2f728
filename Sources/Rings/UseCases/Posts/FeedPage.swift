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
