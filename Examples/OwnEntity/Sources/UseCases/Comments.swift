public import Entities
public import InwardCore

/// Where comments come from and go to.
public protocol CommentRepository: Sendable {
    /// Returns the comments on a post.
    func comments(on postID: Int) async throws(RepositoryError) -> Reading<[Comment]>
    /// Returns a comment.
    func comment(_ id: Comment.ID) async throws(RepositoryError) -> Reading<Comment>
    /// Writes a comment on a post.
    func reply(to postID: Int, by author: String, _ body: String) async throws(RepositoryError) -> Reading<Comment>
    /// Changes a comment.
    func change(
        _ id: Comment.ID,
        by change: @Sendable (inout Comment) -> Void
    ) async throws(RepositoryError) -> Reading<Comment>
    /// Deletes a comment.
    func delete(_ id: Comment.ID) async throws(RepositoryError)
}

/// Reads what is said about a post, the newest first.
public struct ReadDiscussion: Sendable {
    private let comments: any CommentRepository

    /// Creates the use case.
    public init(comments: any CommentRepository) {
        self.comments = comments
    }

    /// Returns the comments on a post.
    public func callAsFunction(_ postID: Int) async throws(RepositoryError) -> Reading<[Comment]> {
        try await comments.comments(on: postID).map { $0.reversed() }
    }
}

/// Replies to a post, and corrects what was replied.
public struct Reply: Sendable {
    private let comments: any CommentRepository

    /// Creates the use case.
    public init(comments: any CommentRepository) {
        self.comments = comments
    }

    /// Replies to a post, which may be done later.
    public func callAsFunction(
        to postID: Int,
        by author: String,
        _ body: String
    ) async throws(RepositoryError) -> Reading<Comment> {
        try await comments.reply(to: postID, by: author, body)
    }

    /// Corrects a comment, even one that is not sent yet.
    @discardableResult
    public func correct(_ id: Comment.ID, to body: String) async throws(RepositoryError) -> Reading<Comment> {
        try await comments.change(id) { $0.correct(to: body) }
    }

    /// Takes a comment back.
    public func takeBack(_ id: Comment.ID) async throws(RepositoryError) { try await comments.delete(id) }
}
