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
