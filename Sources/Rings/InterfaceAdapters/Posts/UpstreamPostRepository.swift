public import Entities
public import InwardCore
public import InwardRepositories
public import UseCases

/// A post repository that reads posts from an upstream and its cache, and publishes, changes and deletes posts at the upstream.
///
/// ```swift
/// let posts = UpstreamPostRepository(upstream: upstream)
/// let reading = try await posts.posts(by: User.ID(7), .cacheFirst)
/// ```
public struct UpstreamPostRepository: EditablePostRepository {
    private let repository: Repository<Post>

    /// Creates a repository of an upstream's posts, with a cache of its own.
    public init(upstream: Upstream) {
        self.init(Repository(.posts(), upstream: upstream))
    }

    /// Creates a post repository on top of an existing repository.
    public init(_ repository: Repository<Post>) {
        self.repository = repository
    }

    /// Returns all posts in the order of the upstream. Damaged records are left out and reported in the reading.
    ///
    /// - Complexity: O(1) if the posts are in memory, otherwise O(n) in the size of the answer.
    /// - Throws: A `RepositoryError` if the list cannot be read.
    public func posts(_ policy: ReadPolicy) async throws(RepositoryError) -> Reading<[Post]> {
        try await repository.entities(.all, policy)
    }

    /// Returns an author's posts in the order of the upstream. Damaged records are left out and reported in the reading.
    ///
    /// If the upstream is unavailable and these posts are not cached, they are those of the cached list of all posts, if the policy
    /// permits cached copies.
    ///
    /// - Complexity: O(1) if the posts are in memory, otherwise O(n) in the size of the answer.
    /// - Throws: A `RepositoryError` if the list cannot be read.
    public func posts(by author: User.ID, _ policy: ReadPolicy) async throws(RepositoryError) -> Reading<[Post]> {
        do {
            return try await repository.entities(.author(author), policy)
        } catch {
            guard error.reason == .unavailable, policy.allowsCopies || policy.fallsBackToCache,
                let all = try? await repository.entities(.all, policy.copies)
            else { throw error }
            return all.map { posts in posts.filter { $0.authorID == author } }
        }
    }

    /// Returns the post with the given identity.
    ///
    /// - Throws: A `RepositoryError` if the post cannot be read, or if the record is damaged or belongs to another post.
    public func post(_ id: Post.ID, _ policy: ReadPolicy) async throws(RepositoryError) -> Reading<Post> {
        try await repository.entity(id, policy)
    }

    /// Publishes a draft, which then appears in every list.
    ///
    /// With an outbox, the draft is accepted, and the returned post is pending, with a temporary identity. Without an outbox,
    /// the draft is sent once, and the returned post has the identity that the upstream assigned.
    ///
    /// - Throws: A `RepositoryError`, with `outcomeUnknown` if the draft was sent and no answer tells whether it was published.
    public func publish(_ draft: PostDraft) async throws(RepositoryError) -> Reading<Post> {
        try await repository.create(PostDraftDTO(draft))
    }

    /// Prepares the publication of a draft, which a unit of work of the repository's outbox commits.
    ///
    /// - Throws: A `RepositoryError` if the repository is closed, or has no outbox.
    public func prepareToPublish(_ draft: PostDraft) async throws(RepositoryError) -> any PreparedChange {
        let publication = "the publication of “\(draft.title)”"
        if let change = try repository.prepareCreation(of: PostDraftDTO(draft), publication) { return change }
        throw RepositoryError(.refused, request: publication, explanation: "cannot be prepared: there is no outbox")
    }

    /// Changes a post at the upstream. With an outbox, the change is accepted, and the returned post is pending.
    ///
    /// The upstream refuses the change if it has a later version than this repository, and gives its posts entity tags.
    ///
    /// - Throws: A `RepositoryError`, with `conflict` if the upstream has a later version.
    public func update(
        _ id: Post.ID,
        _ change: @escaping @Sendable (inout Post) -> Void
    ) async throws(RepositoryError) -> Reading<Post> {
        do throws(WriteError<Post>) {
            return try await repository.update(id, change)
        } catch {
            throw error.repositoryError
        }
    }

    /// Deletes a post at the upstream if a condition holds for its current version. With an outbox, the deletion is accepted.
    ///
    /// - Throws: A `RepositoryError`, with `conflict` if the condition does not hold, or the upstream has a later version.
    public func delete(
        _ id: Post.ID,
        if condition: @escaping @Sendable (Post) -> Bool
    ) async throws(RepositoryError) {
        do throws(WriteError<Post>) {
            try await repository.delete(id, if: condition)
        } catch {
            throw error.repositoryError
        }
    }
}

extension ReadPolicy {
    /// The policy that reads only cached copies, of the same age.
    fileprivate var copies: Self { maximumAge.map { .cacheOnly.notOlder(than: $0) } ?? .cacheOnly }
}

extension Endpoint<Post> {
    /// Returns the endpoint of the posts of an upstream that serves them as JSON: the list at `posts`, and each post at its
    /// identity, such as `posts/12`. Invalidating a user, such as `["users", "7"]`, also invalidates the user's posts. Changes
    /// are sent as patches. If the upstream has a later version, the caller decides.
    ///
    /// - Parameter lifetimes: How long cached posts stay fresh, and how long they are kept.
    /// - Returns: The endpoint.
    public static func posts(lifetimes: Lifetimes = Lifetimes()) -> Self {
        Self(
            PostDTO.self,
            at: "posts",
            subjects: { [$0.authorID.key] },
            lifetimes: lifetimes,
            creation: Creation(PostDraftDTO.self, answer: PublishedPostDTO.self) { draft, number in
                try? draft.published(as: Post.ID(firstPendingID + number))
            } created: { draft, published throws(FieldError) in
                try draft.published(as: Post.ID(published.id))
            },
            editing: Editing(.patch)
        )
    }

    /// Large enough that pending posts sort after all published ones, and still an exact integer in JSON (RFC 8259 section 6).
    private static var firstPendingID: Int { 1 << 52 }
}

extension EntityFilter<Post> {
    /// Returns the filter for an author's posts, at `posts?userId=7`.
    static func author(_ author: User.ID) -> Self {
        Self("userId", author.description, of: author.key) { $0.authorID == author }
    }
}

extension User.ID {
    /// The record key of the user.
    fileprivate var key: RecordKey { ["users", description] }
}
