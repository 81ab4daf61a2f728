public import Entities

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
