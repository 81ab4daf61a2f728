public import Entities
public import InwardCore

/// The port through which the use cases get and publish posts.
///
/// Whoever implements it answers from wherever it keeps posts, as far away as the policy allows, leaves damaged records
/// out of a list and names them in the reading, and ends a wait with `RepositoryError.Reason.cancelled` when the task
/// that asked is cancelled.
public protocol PostRepository: Sendable {
    /// All posts, in the source's order. No two have the same identity.
    ///
    /// - Throws: a `RepositoryError` if there is no list to be had at all.
    func posts(_ policy: ReadPolicy) async throws(RepositoryError) -> Reading<[Post]>

    /// The posts of one author, in the source's order; none if there is no such author.
    ///
    /// - Throws: a `RepositoryError` if there is no list to be had at all.
    func posts(by author: User.ID, _ policy: ReadPolicy) async throws(RepositoryError) -> Reading<[Post]>

    /// Publishes a draft once and gives the post it became; or accepts it, and gives the post that is pending.
    ///
    /// - Throws: a `RepositoryError`, with `RepositoryError.Reason.outcomeUnknown` if the draft was sent and no answer
    ///   tells whether it was published.
    func publish(_ draft: PostDraft) async throws(RepositoryError) -> Reading<Post>
}
