/// A comment on a post.
public struct Comment: Identifiable, Hashable, Sendable {
    /// The number of the comment.
    public let id: Int
    /// The number of the post.
    public let postID: Int
    /// The name of the author.
    public let author: String
    /// The text, which is never empty.
    public private(set) var body: String

    /// Creates a comment, or returns `nil` if the text is empty.
    public init?(id: Int, postID: Int, author: String, body: String) {
        guard !body.isEmpty else { return nil }
        (self.id, self.postID, self.author, self.body) = (id, postID, author, body)
    }

    /// Replaces the text. An empty text changes nothing.
    public mutating func correct(to body: String) {
        if !body.isEmpty { self.body = body }
    }
}
