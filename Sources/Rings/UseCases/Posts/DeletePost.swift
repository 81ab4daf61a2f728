public import Entities
import InwardCore

/// A use case that deletes a post.
///
/// ```swift
/// let deletePost = DeletePost(posts: posts)
/// try await deletePost(Post.ID(1))
/// ```
public struct DeletePost: Sendable {
    private let posts: any EditablePostRepository

    /// Creates the use case with the repository of the posts.
    public init(posts: any EditablePostRepository) {
        self.posts = posts
    }

    /// Deletes a post, or accepts the deletion for later delivery.
    ///
    /// The post is read from the source before it is deleted, or from cached data if the source cannot be reached.
    ///
    /// - Parameters:
    ///   - id: The identity of the post.
    ///   - isExpected: Returns whether a version of the post is the one that the caller wants to delete. If it is not, nothing
    ///     is deleted.
    /// - Throws: A ``ChangePostError``. Nothing was deleted, unless the error is ``ChangePostError/cancelled`` or
    ///   ``ChangePostError/outcomeUnknown(_:)``.
    public func callAsFunction(
        _ id: Post.ID,
        ifCurrent isExpected: @escaping @Sendable (Post) -> Bool = { _ in true }
    ) async throws(ChangePostError) {
        _ = try await posts.current(id, ifCurrent: isExpected)
        do throws(RepositoryError) {
            // The repository may have a later version than the one that was checked.
            try await posts.delete(id, if: isExpected)
        } catch {
            throw await posts.changeError(error, of: id)
        }
    }
}
