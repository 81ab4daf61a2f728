import InwardFetching
import InwardRepositories

/// A comment on a post: an entity of the service's own, which the libraries read and write like those of the rings.
struct Comment: RecordDTO, Identifiable, Hashable, Sendable {
    static let listName = "comments"

    let id: Int
    let postId: Int
    let name, email: String
    var body: String
}

/// A comment that has not been sent yet.
struct CommentDraft: Codable {
    /// The allowed numbers of Unicode code points, as JSON Schema counts them.
    static let (nameLengths, emailLengths, bodyLengths) = (1...100, 3...254, 1...4_000)

    var postId: Int
    let name, email, body: String

    /// Creates a draft.
    ///
    /// - Throws: A `ProblemDetails` with the status 422 that names the first member with an invalid value.
    init(on post: Int, name: String, email: String, body: String) throws(ProblemDetails) {
        postId = post
        self.name = try Self.checked(name, "name", Self.nameLengths)
        self.email = try Self.checked(email, "email", Self.emailLengths)
        self.body = try Self.checked(body, "body", Self.bodyLengths)
    }

    /// Returns a text whose length is allowed, and which is not blank.
    static func checked(
        _ text: String,
        _ member: String,
        _ lengths: ClosedRange<Int>
    ) throws(ProblemDetails) -> String {
        guard lengths.contains(text.unicodeScalars.count), !text.allSatisfy(\.isWhitespace) else {
            let range = "\(lengths.lowerBound) to \(lengths.upperBound) characters"
            throw ProblemDetails(422, detail: "The member “\(member)” must have \(range), and not only spaces.")
        }
        return text
    }
}

extension Endpoint<Comment> {
    /// The comments at `comments`. Those on a post are at `comments?postId=7`, and new ones go to `posts/7/comments`.
    static func comments(_ lifetimes: Lifetimes) -> Self {
        Self(
            Comment.self,
            at: "comments",
            subjects: { [["posts", $0.postId.description]] },
            lifetimes: lifetimes,
            creation: Creation(CommentDraft.self, answer: Comment.self) { draft in
                ["posts", draft.postId.description, "comments"]
            } pending: { draft, number in
                // Sorts after all others, and is still an exact integer in JSON.
                Comment(
                    id: (1 << 52) + number,
                    postId: draft.postId,
                    name: draft.name,
                    email: draft.email,
                    body: draft.body
                )
            },
            editing: Editing(.patch)
        )
    }
}

extension EntityFilter<Comment> {
    /// Returns the filter for the comments on a post.
    static func on(_ post: Int) -> Self {
        Self("postId", post.description, of: ["posts", post.description]) { $0.postId == post }
    }
}
