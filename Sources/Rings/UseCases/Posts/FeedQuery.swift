public import Entities

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
