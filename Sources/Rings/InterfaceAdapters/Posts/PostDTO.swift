import Entities
import InwardRepositories

/// A post in the upstream's format.
struct PostDTO: RecordDTO {
    static let listName = "posts"

    let userId: Int
    let id: Int
    let title: String
    let body: String

    init(_ post: Post) {
        userId = post.authorID.rawValue
        id = post.id.rawValue
        title = post.title
        body = post.body
    }

    func entity() throws(FieldError) -> Post {
        do {
            return try Post(
                id: Post.ID(id),
                authorID: User.ID(userId),
                title: title,
                body: body
            )
        } catch {
            throw FieldError(Self.field(of: error), "breaks a rule: \(error)")
        }
    }

    private static func field(of error: PostError) -> String {
        switch error {
        case .blankTitle: "title"
        case .blankBody: "body"
        }
    }
}

/// A draft in the upstream's format.
struct PostDraftDTO: Codable {
    let userId: Int
    let title: String
    let body: String

    init(_ draft: PostDraft) {
        userId = draft.authorID.rawValue
        title = draft.title
        body = draft.body
    }

    /// Returns the post that this draft becomes.
    ///
    /// - Throws: A `FieldError` if the draft violates a rule that was added after it was accepted.
    func published(as id: Post.ID) throws(FieldError) -> Post {
        do {
            return try PostDraft(authorID: User.ID(userId), title: title, body: body).published(as: id)
        } catch {
            throw FieldError(nil, "breaks a rule: \(error)")
        }
    }
}

/// The upstream's answer to a publication. Only the new identity is required.
struct PublishedPostDTO: Decodable {
    let id: Int
}
