public import Entities
public import InwardCore

/// The port through which use cases read and publish posts.
///
/// An outer ring implements it, for example over HTTP. A test passes a repository in memory:
///
/// ```swift
/// let repository: any PostRepository = try InMemoryPostRepository([.example(1), .example(2)])
/// let reading = try await repository.posts(.cacheFirst)
/// ```
///
/// Implementations read only from the sources that the read policy allows. They skip damaged records in lists and report them
/// in the reading. When the calling task is cancelled, they throw `RepositoryError.Reason.cancelled`.
public protocol PostRepository: Sendable {
    /// Returns all posts in the order of the source. Identities are unique.
    ///
    /// - Throws: A `RepositoryError` if the list cannot be read at all.
    func posts(_ policy: ReadPolicy) async throws(RepositoryError) -> Reading<[Post]>

    /// Returns the posts of an author in the order of the source; an empty list if the author does not exist.
    ///
    /// - Throws: A `RepositoryError` if the list cannot be read at all.
    func posts(by author: User.ID, _ policy: ReadPolicy) async throws(RepositoryError) -> Reading<[Post]>

    /// Publishes a draft once and returns the published post, or accepts it for later delivery and returns the pending post.
    ///
    /// - Throws: A `RepositoryError`, with `RepositoryError.Reason.outcomeUnknown` if the draft was sent and no answer
    ///   tells whether it was published.
    func publish(_ draft: PostDraft) async throws(RepositoryError) -> Reading<Post>

    /// Prepares the publication of a draft. Nothing is published until a unit of work commits it.
    ///
    /// - Throws: A `RepositoryError` if the draft cannot be published together with other changes.
    func prepareToPublish(_ draft: PostDraft) async throws(RepositoryError) -> any PreparedChange
}

/// The port through which use cases read, publish, edit and delete posts. Use cases that do not change published posts take a
/// ``PostRepository``.
///
/// ```swift
/// let editable: any EditablePostRepository = posts
/// let draft = try PostDraft(authorID: User.ID(7), title: "Notes", body: "On the engine, and on its inventor.")
/// let reading = try await editable.update(Post.ID(1)) { $0 = draft.published(as: $0.id) }
/// print(reading.value.body)
/// ```
public protocol EditablePostRepository: PostRepository {
    /// Returns the post with the given identity.
    ///
    /// - Throws: A `RepositoryError`, with `RepositoryError.Reason.notFound` if the post does not exist.
    func post(_ id: Post.ID, _ policy: ReadPolicy) async throws(RepositoryError) -> Reading<Post>

    /// Changes a post, or accepts the change for later delivery and returns the pending post.
    ///
    /// - Parameters:
    ///   - id: The identity of the post.
    ///   - change: Changes the post, but not the identity. It may be called several times, and with a later version than the
    ///     caller has read. If it leaves the post as it is, nothing is changed.
    /// - Returns: The changed post.
    /// - Throws: A `RepositoryError`, with `RepositoryError.Reason.notFound` if the post does not exist, or
    ///   `RepositoryError.Reason.conflict` if the source has a later version than the repository.
    func update(
        _ id: Post.ID,
        _ change: @escaping @Sendable (inout Post) -> Void
    ) async throws(RepositoryError) -> Reading<Post>

    /// Deletes a post if a condition holds for its current version, or accepts the deletion for later delivery.
    ///
    /// - Parameters:
    ///   - id: The identity of the post.
    ///   - condition: Returns whether this version may be deleted. It may be called several times, and with a later version than the
    ///     caller has read.
    /// - Throws: A `RepositoryError`, with `RepositoryError.Reason.notFound` if the post does not exist, or
    ///   `RepositoryError.Reason.conflict` if the condition does not hold, or the source has a later version than the repository.
    func delete(_ id: Post.ID, if condition: @escaping @Sendable (Post) -> Bool) async throws(RepositoryError)
}
