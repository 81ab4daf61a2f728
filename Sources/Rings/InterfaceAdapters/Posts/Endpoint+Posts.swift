public import Entities
public import InwardRepositories

extension Endpoint<Post> {
    /// The posts of an upstream that keeps them as JSON, a list at `posts`, and each by its identity at `posts/12`. A post belongs
    /// to its author, such as `["users", "7"]`.
    ///
    /// - Parameter lifetimes: How long its answers are fresh, and how long they are kept.
    /// - Returns: the endpoint.
    public static func posts(lifetimes: Lifetimes = Lifetimes()) -> Self {
        Self(
            PostDTO.self,
            at: "posts",
            subjects: { [$0.authorID.key] },
            lifetimes: lifetimes,
            creation: Creation(PostDraftDTO.self, answer: PublishedPostDTO.self) { draft, number in
                try? draft.published(as: Post.ID(firstPendingID + number))
            } created: { draft, published throws(FieldError) in
                try draft.published(as: Post.ID(published.id.value))
            }
        )
    }

    /// What is pending is later than all that an upstream has numbered, and yet a whole number in JSON (RFC 8259 section 6).
    private static var firstPendingID: Int { 1 << 52 }
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
