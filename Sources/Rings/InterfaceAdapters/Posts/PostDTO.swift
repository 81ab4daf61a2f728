import Entities
import InwardRepositories

/// A post in the upstream's format.
struct PostDTO: RecordDTO {
    static let listName = "posts"

    let userId: FieldDTO<Int>
    let id: FieldDTO<Int>
    let title: FieldDTO<String>
    let body: FieldDTO<String>

    init(_ post: Post) {
        userId = FieldDTO(post.authorID.rawValue)
        id = FieldDTO(post.id.rawValue)
        title = FieldDTO(post.title)
        body = FieldDTO(post.body)
    }

    func entity() throws(FieldError) -> Post {
        do {
            return try Post(
                id: Post.ID(id.value),
                authorID: User.ID(userId.value),
                title: title.value,
                body: body.value
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
    let id: FieldDTO<Int>
}
