public import Entities

extension Endpoint<Post> {
    /// The posts of an upstream that keeps them as JSON, a list at `posts`, and each by its identity at `posts/12`. A post belongs
    /// to its author, such as `["users", "7"]`.
    ///
    /// - Parameter lifetimes: How long its answers are fresh, and how long they are kept.
    /// - Returns: the endpoint.
    public static func posts(lifetimes: Lifetimes = Lifetimes()) -> Self {
        Self(PostDTO.self, at: "posts", subjects: { [$0.authorID.key] }, lifetimes: lifetimes)
    }
}

extension EntityFilter<Post> {
    /// The posts of one author, at `posts?userId=7`.
    static func author(_ author: User.ID) -> Self {
        Self("userId", author.description, of: author.key) { $0.authorID == author }
    }
}

extension User.ID {
    /// What a user is called in keys.
    fileprivate var key: RecordKey { ["users", description] }
}
