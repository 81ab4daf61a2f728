/// What somebody says about a post.
public struct Comment: Identifiable, Hashable, Sendable {
    /// The number of the comment.
    public let id: Int
    /// The number of the post.
    public let postID: Int
    /// Who says it.
    public let author: String
    /// What is said, which is never empty.
    public private(set) var body: String

    /// Creates a comment; `nil` if it says nothing.
    public init?(id: Int, postID: Int, author: String, body: String) {
        guard !body.isEmpty else { return nil }
        (self.id, self.postID, self.author, self.body) = (id, postID, author, body)
    }

    /// Says something else. Saying nothing is no correction, and changes nothing.
    public mutating func correct(to body: String) {
        if !body.isEmpty { self.body = body }
    }
}
