public import Entities

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
