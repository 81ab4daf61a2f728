public import Entities
public import InwardCore
public import InwardRepositories
public import UseCases

/// A comment as the upstream sends it.
struct CommentDTO: RecordDTO {
    static let listName = "comments"

    let id: Int
    let postId: Int
    let name: String
    let body: String

    init(_ comment: Comment) {
        id = comment.id
        postId = comment.postID
        name = comment.author
        body = comment.body
    }

    func entity() throws(FieldError) -> Comment {
        guard let comment = Comment(id: id, postID: postId, author: name, body: body) else {
            throw FieldError("body", "must not be empty")
        }
        return comment
    }
}

/// The body of a request that creates a comment.
struct CommentDraft: Codable, Sendable {
    let postId: Int
    let name: String
    let body: String
}

extension Endpoint where Entity == Comment {
    /// The comments of the upstream. If both sides changed a comment, its text becomes both texts.
    public static let comments = Endpoint(
        CommentDTO.self,
        at: "comments",
        creation: Creation(CommentDraft.self, answer: CommentDTO.self) { draft in
            ["posts", draft.postId.description, "comments"]
        } pending: { draft, number in
            Comment(id: -1 - number, postID: draft.postId, author: draft.name, body: draft.body)
        },
        editing: Editing(
            .patch,
            onConflict: .merge { conflict in
                guard let mine = conflict.mine, var theirs = conflict.theirs else { return conflict.theirs }
                theirs.correct(to: "\(theirs.body) / \(mine.body)")
                return theirs
            }
        )
    )
}

/// A repository of comments for the use cases.
public struct UpstreamCommentRepository: CommentRepository {
    private let repository: Repository<Comment>

    /// Wraps the repository of a session.
    public init(_ repository: Repository<Comment>) {
        self.repository = repository
    }

    /// Returns the comments on a post.
    public func comments(on postID: Int) async throws(RepositoryError) -> Reading<[Comment]> {
        let owner: RecordKey = ["posts", postID.description]
        return try await repository.entities(
            EntityFilter(at: "posts/\(postID)/comments", of: owner) { $0.postID == postID }
        )
    }

    /// Returns a comment.
    public func comment(_ id: Comment.ID) async throws(RepositoryError) -> Reading<Comment> {
        try await repository.entity(id)
    }

    /// Creates a comment on a post.
    public func reply(
        to postID: Int,
        by author: String,
        _ body: String
    ) async throws(RepositoryError) -> Reading<Comment> {
        try await repository.create(CommentDraft(postId: postID, name: author, body: body))
    }

    /// Changes a comment.
    public func change(
        _ id: Comment.ID,
        by change: @Sendable (inout Comment) -> Void
    ) async throws(RepositoryError) -> Reading<Comment> {
        do throws(WriteError<Comment>) {
            return try await repository.update(id, change)
        } catch {
            throw error.repositoryError
        }
    }

    /// Deletes a comment.
    public func delete(_ id: Comment.ID) async throws(RepositoryError) {
        do throws(WriteError<Comment>) {
            try await repository.delete(id)
        } catch {
            throw error.repositoryError
        }
    }
}
