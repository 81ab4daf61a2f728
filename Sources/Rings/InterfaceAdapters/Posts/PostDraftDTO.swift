import Entities
import InwardRepositories

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
