public import Entities
public import InwardCore
import InwardTesting
import Synchronization
public import UseCases

/// A repository of posts that are kept in memory, for the tests of whatever uses one. What is published is there at once.
public final class InMemoryPostRepository: PostRepository {
    private struct State {
        var posts: [Post]
        var failure: RepositoryError?
    }

    private let state: Mutex<State>
    private let rejected: [RejectedRecord]

    /// Makes a repository of these posts.
    ///
    /// - Parameters:
    ///   - posts: What it has, in this order.
    ///   - rejected: What it is to name as left out of every list.
    ///   - failure: What it throws instead of an answer; `nil` if it is to answer.
    public init(_ posts: [Post] = [], rejected: [RejectedRecord] = [], failure: RepositoryError? = nil) {
        state = Mutex(State(posts: posts, failure: failure))
        self.rejected = rejected
    }

    /// Throws this from now on instead of answering; `nil` to answer again.
    public func fail(with error: RepositoryError?) {
        state.withLock { $0.failure = error }
    }

    /// All posts, in the order they were given or published.
    ///
    /// - Throws: the `RepositoryError` that it is to fail with, or `cancelled`.
    public func posts(_ policy: ReadPolicy) async throws(RepositoryError) -> Reading<[Post]> {
        try RepositoryError.throwIfCancelled(asking: "All posts")
        let (posts, failure) = state.withLock { ($0.posts, $0.failure) }
        if let failure { throw failure }
        return Reading(posts, origin: .memory, rejected: rejected)
    }

    /// The posts of one author, in the order they were given or published.
    ///
    /// - Throws: the `RepositoryError` that it is to fail with, or `cancelled`.
    public func posts(by author: User.ID, _ policy: ReadPolicy) async throws(RepositoryError) -> Reading<[Post]> {
        try await posts(policy).map { posts in posts.filter { $0.authorID == author } }
    }

    /// Keeps the post that a draft becomes, under an identity one greater than the greatest there is.
    ///
    /// - Throws: the `RepositoryError` that it is to fail with, or `cancelled`; nothing is kept then.
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
    /// A valid post of which nothing matters but what is given.
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
