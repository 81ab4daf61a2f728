import Entities
import InwardRepositories

/// A post as an upstream writes it.
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

/// A draft as it is sent to an upstream.
struct PostDraftDTO: Codable {
    let userId: Int
    let title: String
    let body: String

    init(_ draft: PostDraft) {
        userId = draft.authorID.rawValue
        title = draft.title
        body = draft.body
    }

    /// The post that it becomes.
    ///
    /// - Throws: a `FieldError` if it is no draft any more, because the rules are others than when it was written.
    func published(as id: Post.ID) throws(FieldError) -> Post {
        do {
            return try PostDraft(authorID: User.ID(userId), title: title, body: body).published(as: id)
        } catch {
            throw FieldError(nil, "breaks a rule: \(error)")
        }
    }
}

/// What an upstream must say of a post it has published: the identity it gave.
struct PublishedPostDTO: Decodable {
    let id: FieldDTO<Int>
}
