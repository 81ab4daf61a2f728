import Entities

/// A draft as it is sent to an upstream.
struct PostDraftDTO: Encodable {
    let userId: Int
    let title: String
    let body: String

    init(_ draft: PostDraft) {
        userId = draft.authorID.rawValue
        title = draft.title
        body = draft.body
    }
}
