public import Entities
public import InwardCore

/// The port through which the use cases read and write comments.
public protocol CommentRepository: Sendable {
    /// Returns the comments on a post.
    func comments(on postID: Int) async throws(RepositoryError) -> Reading<[Comment]>
    /// Returns a comment.
    func comment(_ id: Comment.ID) async throws(RepositoryError) -> Reading<Comment>
    /// Creates a comment on a post.
    func reply(to postID: Int, by author: String, _ body: String) async throws(RepositoryError) -> Reading<Comment>
    /// Changes a comment.
    func change(
        _ id: Comment.ID,
        by change: @Sendable (inout Comment) -> Void
    ) async throws(RepositoryError) -> Reading<Comment>
    /// Deletes a comment.
    func delete(_ id: Comment.ID) async throws(RepositoryError)
}

/// A use case that reads the comments on a post, the newest first.
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

/// A use case that replies to a post, and corrects or deletes the reply.
public struct Reply: Sendable {
    private let comments: any CommentRepository

    /// Creates the use case.
    public init(comments: any CommentRepository) {
        self.comments = comments
    }

    /// Replies to a post. The reply is pending until it is delivered.
    public func callAsFunction(
        to postID: Int,
        by author: String,
        _ body: String
    ) async throws(RepositoryError) -> Reading<Comment> {
        try await comments.reply(to: postID, by: author, body)
    }

    /// Corrects a comment, even a pending one.
    @discardableResult
    public func correct(_ id: Comment.ID, to body: String) async throws(RepositoryError) -> Reading<Comment> {
        try await comments.change(id) { $0.correct(to: body) }
    }

    /// Deletes a comment.
    public func takeBack(_ id: Comment.ID) async throws(RepositoryError) { try await comments.delete(id) }
}
