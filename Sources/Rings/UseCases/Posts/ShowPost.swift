public import Entities
public import InwardCore

/// A use case that shows one post.
///
/// ```swift
/// let showPost = ShowPost(posts: posts)
/// let reading = try await showPost(Post.ID(1))
/// print(reading.value.title, reading.isPending)
/// ```
public struct ShowPost: Sendable {
    private let posts: any EditablePostRepository

    /// Creates the use case with the repository of the posts.
    public init(posts: any EditablePostRepository) {
        self.posts = posts
    }

    /// Returns a post, marked as pending while a change of it is accepted but not delivered yet.
    ///
    /// A post that is pending has a temporary identity. When it is published, both identities name it.
    ///
    /// - Throws: A ``ShowPostError``.
    public func callAsFunction(
        _ id: Post.ID,
        _ policy: ReadPolicy = .cacheFirst
    ) async throws(ShowPostError) -> Reading<Post> {
        do throws(RepositoryError) {
            return try await posts.post(id, policy)
        } catch {
            throw ShowPostError(error, of: id)
        }
    }
}

/// An error that occurs while reading a post.
///
/// ```swift
/// func message(for error: ShowPostError) -> String {
///     if case .notFound(let id) = error { "There is no post \(id)." } else { "The post cannot be shown now." }
/// }
/// ```
public enum ShowPostError: Error, Hashable, Sendable {
    /// The calling task was cancelled.
    case cancelled
    /// The post does not exist.
    case notFound(Post.ID)
    /// The post cannot be read now.
    case unavailable(RepositoryError)
    /// The source denies this caller permission to read the post.
    case denied(RepositoryError)
    /// The source's answer cannot be read.
    case unreadable(RepositoryError)

    init(_ error: RepositoryError, of id: Post.ID) {
        self =
            switch error.reason.code {
            case .cancelled: .cancelled
            case .notFound: .notFound(id)
            case .denied: .denied(error)
            case .unreadable: .unreadable(error)
            case .closed, .unavailable, .refused, .conflict, .outcomeUnknown: .unavailable(error)
            }
    }
}
