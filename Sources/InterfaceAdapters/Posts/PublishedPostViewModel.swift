/// What a view shows of a post that was just published.
public struct PublishedPostViewModel: ViewModel, Hashable {
    /// The identity the post got.
    public let id: Int
    /// The identity of its author.
    public let authorID: Int
    /// What the post is called.
    public let title: String
    /// What the post says.
    public let body: String

    /// A sentence that says so, and the post.
    public var document: Document {
        Document(
            title: title,
            blocks: [.heading(title), .paragraph(body), .notes(["Published as post \(id) of user \(authorID)."])]
        )
    }
}
