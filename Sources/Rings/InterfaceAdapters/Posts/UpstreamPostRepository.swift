public import Entities
public import InwardCore
public import InwardRepositories
public import UseCases

/// Gets posts from an upstream, and from what is kept of its answers, and publishes them there.
public struct UpstreamPostRepository: PostRepository {
    private let repository: Repository<Post>

    /// Makes a repository of the posts that an upstream has, with a memory of its own.
    public init(upstream: Upstream) {
        self.init(Repository(.posts(), upstream: upstream))
    }

    /// Makes a repository of the posts that another keeps.
    public init(_ repository: Repository<Post>) {
        self.repository = repository
    }

    /// All posts in the upstream's order, without the damaged records, which the reading names.
    ///
    /// - Complexity: O(1) if they are in memory, otherwise O(n) in the size of the answer.
    /// - Throws: a `RepositoryError` if there is no list to be had.
    public func posts(_ policy: ReadPolicy) async throws(RepositoryError) -> Reading<[Post]> {
        try await repository.entities(.all, policy)
    }

    /// The posts of one author in the upstream's order, without the damaged records, which the reading names.
    ///
    /// - Complexity: O(1) if they are in memory, otherwise O(n) in the size of the answer.
    /// - Throws: a `RepositoryError` if there is no list to be had.
    public func posts(by author: User.ID, _ policy: ReadPolicy) async throws(RepositoryError) -> Reading<[Post]> {
        try await repository.entities(.author(author), policy)
    }

    /// Publishes a draft, which is in every list from then on.
    ///
    /// With an outbox it is accepted, and pending under an identity that only this program knows. Without one it is sent once, and
    /// published under the identity that the upstream gives.
    ///
    /// - Throws: a `RepositoryError`, with `outcomeUnknown` if the draft was sent and no answer tells what became of it.
    public func publish(_ draft: PostDraft) async throws(RepositoryError) -> Reading<Post> {
        try await repository.create(PostDraftDTO(draft))
    }

    /// Prepares the publication of a draft, for a unit of work over the outbox of the repository.
    ///
    /// - Returns: the change; `nil` if the repository has no outbox.
    /// - Throws: a `RepositoryError` if the repository is closed.
    public func prepareToPublish(_ draft: PostDraft) throws(RepositoryError) -> (any PreparedChange)? {
        try repository.prepareCreation(of: PostDraftDTO(draft), "the publication of “\(draft.title)”")
    }
}

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
