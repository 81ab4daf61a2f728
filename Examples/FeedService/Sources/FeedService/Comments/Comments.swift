import Entities
import InwardCore
import InwardFetching
import InwardRepositories
import Synchronization
import UseCases

/// The comments, as one reader sees them.
public struct Comments: Sendable {
    private let comments: Repository<Comment>
    private let showPost: ShowPost

    init(_ comments: Repository<Comment>, showPost: ShowPost) {
        self.comments = comments
        self.showPost = showPost
    }

    /// Returns the comments on a post, from the oldest, and the identity of the post, which is another one if the post was pending.
    ///
    /// - Throws: A `ShowPostError` if the post does not exist, or a `RepositoryError`.
    func list(on post: Post.ID) async throws -> (comments: Reading<[Comment]>, post: Post.ID) {
        let post = post < Self.firstPendingPost ? post : try await showPost(post).value.id
        let reading = try await comments.entities(.on(post.rawValue))
        // A post without comments has an empty list, but a post that does not exist has none.
        if reading.value.isEmpty { _ = try await showPost(post) }
        return (reading, post)
    }

    /// Returns a comment.
    func comment(_ id: Int) async throws(RepositoryError) -> Reading<Comment> { try await comments.entity(id) }

    /// Adds a comment to a post.
    ///
    /// - Throws: A `ShowPostError` if the post does not exist; a `ProblemDetails` if it is pending, because the upstream does not
    ///   know its identity yet; a `RepositoryError`.
    func create(_ draft: CommentDraft) async throws -> Reading<Comment> {
        // The post may have been pending under the identity of the draft.
        let post = try await showPost(Post.ID(draft.postId)).value.id
        guard post < Self.firstPendingPost else {
            throw ProblemDetails(409, detail: "The post is not published yet. Comment on it later.")
        }
        var draft = draft
        draft.postId = post.rawValue
        return try await comments.create(draft)
    }

    /// The first identity that the libraries give to pending posts, so that they sort after all others.
    private static let firstPendingPost = Post.ID(1 << 52)

    /// Changes the text of a comment if the condition holds for its current version.
    ///
    /// - Throws: A `ProblemDetails` with the status 412 if it does not; a `WriteError`; a `RepositoryError`.
    func edit(
        _ id: Int,
        body: String,
        ifCurrent isExpected: @escaping @Sendable (Comment) -> Bool
    ) async throws -> Reading<Comment> {
        try Self.check(try await comments.entity(id, .upstreamFirst).value, isExpected)
        // Another version can appear after the check.
        let wasExpected = Mutex(false)
        let reading = try await comments.update(id) { comment in
            let isExpected = isExpected(comment)
            wasExpected.withLock { $0 = isExpected }
            if isExpected { comment.body = body }
        }
        guard wasExpected.withLock(\.self) else { throw Self.changedElsewhere }
        return reading
    }

    /// Deletes a comment if the condition holds for its current version.
    ///
    /// - Throws: A `ProblemDetails` with the status 412 if it does not; a `WriteError`; a `RepositoryError`.
    func delete(_ id: Int, ifCurrent isExpected: @escaping @Sendable (Comment) -> Bool) async throws {
        try Self.check(try await comments.entity(id, .upstreamFirst).value, isExpected)
        do throws(WriteError<Comment>) {
            try await comments.delete(id, if: isExpected)
        } catch .conflict {
            throw Self.changedElsewhere
        }
    }

    private static func check(_ comment: Comment, _ isExpected: (Comment) -> Bool) throws(ProblemDetails) {
        guard isExpected(comment) else { throw changedElsewhere }
    }

    private static let changedElsewhere = ProblemDetails(
        412,
        detail: "The comment was changed in the meantime. Read it again, and then change it."
    )
}
