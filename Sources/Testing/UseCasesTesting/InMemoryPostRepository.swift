public import Entities
public import InwardCore
import InwardTesting
public import UseCases

/// An in-memory post repository for tests. Published posts are available immediately.
///
/// ```swift
/// import Entities
///
/// let posts = InMemoryPostRepository([try .example(1), try .example(2)])
/// let published = try await posts.publish(PostDraft(authorID: User.ID(1), title: "Notes", body: "First draft"))
/// print(published.value.id)  // 3
/// ```
public final class InMemoryPostRepository: EditablePostRepository {
    private let posts: InMemoryRepository<Post>

    /// Creates a repository.
    ///
    /// - Parameters:
    ///   - posts: The posts, in order.
    ///   - rejected: The damaged records that every list reports as omitted.
    ///   - failure: The error that calls throw, or `nil` if they succeed.
    public init(_ posts: [Post] = [], rejected: [RejectedRecord] = [], failure: RepositoryError? = nil) {
        self.posts = InMemoryRepository(posts, rejected: rejected, failure: failure)
    }

    /// Makes calls throw an error from now on, or succeed again if the error is `nil`.
    public func fail(with error: RepositoryError?) { posts.fail(with: error) }

    /// Shows later changes as pending, as a repository with an outbox does.
    public func holdWrites() { posts.holdWrites() }

    /// Adds a post, or replaces the one with its identity, as if another user had written it.
    public func put(_ post: Post) { posts.put(post) }

    /// Returns all posts, in the order in which they were added.
    ///
    /// - Throws: The prescribed `RepositoryError`, or `cancelled`.
    public func posts(_ policy: ReadPolicy) async throws(RepositoryError) -> Reading<[Post]> {
        try await posts.entities(policy)
    }

    /// Returns the posts of an author, in the order in which they were added.
    ///
    /// - Throws: The prescribed `RepositoryError`, or `cancelled`.
    public func posts(by author: User.ID, _ policy: ReadPolicy) async throws(RepositoryError) -> Reading<[Post]> {
        try await posts.entities(policy) { $0.authorID == author }
    }

    /// Returns the post with an ID.
    ///
    /// - Throws: The prescribed `RepositoryError`, `cancelled`, or `notFound`.
    public func post(_ id: Post.ID, _ policy: ReadPolicy) async throws(RepositoryError) -> Reading<Post> {
        try await posts.entity(id, policy)
    }

    /// Publishes a draft with an ID one greater than the largest existing ID.
    ///
    /// - Throws: The prescribed `RepositoryError`, or `cancelled`. In both cases, nothing is published.
    public func publish(_ draft: PostDraft) async throws(RepositoryError) -> Reading<Post> {
        try await posts.create { draft.published(as: Post.ID($0)) }
    }

    /// Prepares the publication of a draft, to be committed by an ``InMemoryUnitOfWork``.
    ///
    /// - Throws: The prescribed `RepositoryError`, or `cancelled`.
    public func prepareToPublish(_ draft: PostDraft) async throws(RepositoryError) -> any PreparedChange {
        _ = try await posts.entities(.cacheFirst)
        return InMemoryChange("the publication of “\(draft.title)”") { [posts] in
            let last = posts.contents.map(\.id.rawValue).max() ?? 0
            posts.put(draft.published(as: Post.ID(last + 1)))
        }
    }

    /// Changes a post immediately.
    ///
    /// - Throws: The prescribed `RepositoryError`, `cancelled`, or `notFound`; `conflict` after ``conflictOnNextEdit(with:)``.
    public func update(
        _ id: Post.ID,
        _ change: @escaping @Sendable (inout Post) -> Void
    ) async throws(RepositoryError) -> Reading<Post> {
        try await posts.update(id, throwing: RepositoryError.self, change)
    }

    /// Deletes a post immediately if a condition holds for it.
    ///
    /// - Throws: The prescribed `RepositoryError`, `cancelled`, or `notFound`; `conflict` if the condition does not hold, or after
    ///   ``conflictOnNextEdit(with:)``.
    public func delete(
        _ id: Post.ID,
        if condition: @escaping @Sendable (Post) -> Bool
    ) async throws(RepositoryError) {
        try await posts.delete(id, throwing: RepositoryError.self, if: condition)
    }

    /// Makes the next change or deletion throw a conflict, as if another user had changed the post in the meantime. Later reads
    /// return the other version.
    ///
    /// - Parameter theirs: The other version, or `nil` if the post was deleted in the meantime.
    public func conflictOnNextEdit(with theirs: Post?) { posts.conflictOnNextEdit(with: theirs) }
}

extension Post {
    /// Creates a valid post, with example values for omitted arguments.
    ///
    /// - Throws: A `PostError` if the title or the body is blank.
    public static func example(
        _ id: Int = 1,
        by author: Int = 1,
        title: String? = nil,
        body: String = "Body"
    ) throws -> Post {
        try Post(id: Post.ID(id), authorID: User.ID(author), title: title ?? "Title \(id)", body: body)
    }
}
