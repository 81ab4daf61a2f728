/// Something a user has published.
public struct Post: Hashable, Identifiable, Sendable {
    /// Which post this is. A later post has a greater identity.
    public let id: ID
    /// Who wrote it.
    public let authorID: User.ID
    /// What it is called, without white space at its ends. Never empty.
    public let title: String
    /// What it says, without white space at its ends. Never empty.
    public let body: String

    /// Makes a post that was published elsewhere, or says which rule it breaks.
    ///
    /// The lengths a ``PostDraft`` must keep are not asked of it: they bind what is written here, not what others let
    /// through before.
    ///
    /// - Throws: ``PostError/blankTitle`` or ``PostError/blankBody`` if one of them is empty or only white space.
    public init(id: ID, authorID: User.ID, title: String, body: String) throws(PostError) {
        let title = title.trimmingWhitespace()
        let body = body.trimmingWhitespace()
        guard !title.isEmpty else { throw .blankTitle }
        guard !body.isEmpty else { throw .blankBody }
        self.id = id
        self.authorID = authorID
        self.title = title
        self.body = body
    }

    /// The title as titles are compared: two that differ in case alone are the same to a reader.
    public var foldedTitle: String { title.lowercased() }

    /// Makes the post that a draft becomes. A draft's rules are stricter than a post's, so this cannot fail.
    init(id: ID, draft: PostDraft) {
        self.id = id
        authorID = draft.authorID
        title = draft.title
        body = draft.body
    }
}
