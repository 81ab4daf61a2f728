public import Entities
public import InwardCore
import InwardTesting
import Synchronization
public import UseCases

/// An in-memory post repository for tests. Published posts are available immediately.
///
///     let posts = try InMemoryPostRepository([.example(1), .example(2)])
public final class InMemoryPostRepository: PostRepository {
    private struct State {
        var posts: [Post]
        var failure: RepositoryError?
    }

    private let state: Mutex<State>
    private let rejected: [RejectedRecord]

    /// Creates a repository.
    ///
    /// - Parameters:
    ///   - posts: The posts, in order.
    ///   - rejected: The records to report as left out of every list.
    ///   - failure: The error that calls throw, or `nil` to answer.
    public init(_ posts: [Post] = [], rejected: [RejectedRecord] = [], failure: RepositoryError? = nil) {
        state = Mutex(State(posts: posts, failure: failure))
        self.rejected = rejected
    }

    /// Makes calls throw an error from now on, or succeed again if the error is `nil`.
    public func fail(with error: RepositoryError?) {
        state.withLock { $0.failure = error }
    }

    /// Returns all posts, in the order in which they were added.
    ///
    /// - Throws: The prescribed `RepositoryError`, or `cancelled`.
    public func posts(_ policy: ReadPolicy) async throws(RepositoryError) -> Reading<[Post]> {
        try RepositoryError.throwIfCancelled(asking: "All posts")
        let (posts, failure) = state.withLock { ($0.posts, $0.failure) }
        if let failure { throw failure }
        return Reading(posts, origin: .memory, rejected: rejected)
    }

    /// Returns the posts of an author, in the order in which they were added.
    ///
    /// - Throws: The prescribed `RepositoryError`, or `cancelled`.
    public func posts(by author: User.ID, _ policy: ReadPolicy) async throws(RepositoryError) -> Reading<[Post]> {
        try await posts(policy).map { posts in posts.filter { $0.authorID == author } }
    }

    /// Publishes a draft with an ID one greater than the largest existing ID.
    ///
    /// - Throws: The prescribed `RepositoryError`, or `cancelled`. In that case, nothing is published.
    public func publish(_ draft: PostDraft) async throws(RepositoryError) -> Reading<Post> {
        try RepositoryError.throwIfCancelled(asking: "A new post")
        let result = state.withLock { state -> Result<Post, RepositoryError> in
            if let failure = state.failure { return .failure(failure) }
            let post = draft.published(as: Post.ID((state.posts.map(\.id.rawValue).max() ?? 0) + 1))
            state.posts.append(post)
            return .success(post)
        }
        return Reading(try result.get(), origin: .memory)
    }
}

extension Post {
    /// Creates a valid post with example values for everything that is not given.
    ///
    /// - Throws: a `PostError` if the title or the body is blank.
    public static func example(
        _ id: Int = 1,
        by author: Int = 1,
        title: String? = nil,
        body: String = "Body"
    ) throws -> Post {
        try Post(id: Post.ID(id), authorID: User.ID(author), title: title ?? "Title \(id)", body: body)
    }
}
