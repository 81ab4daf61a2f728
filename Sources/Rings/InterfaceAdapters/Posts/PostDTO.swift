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
