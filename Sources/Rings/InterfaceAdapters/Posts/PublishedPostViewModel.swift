import InwardCore

/// What a view shows of a post that was just published.
public struct PublishedPostViewModel: ViewModel, Hashable {
    /// The identity the post got; `nil` if it is not published yet.
    public let id: Int?
    /// The identity by which it is found until it is published, such as in the feed; `nil` if it is. No other post that is pending
    /// has the same.
    public let pendingID: Int?
    /// The identity of its author.
    public let authorID: Int
    /// What the post is called.
    public let title: String
    /// What the post says.
    public let body: String

    /// That it is published, or accepted, in one line.
    public var line: String {
        let what = id.map { "Published as post \($0)" } ?? pendingID.map { "Accepted as post \($0)" } ?? "Accepted"
        return "\(what) of user \(authorID): \(title.excerpt(upTo: 80))"
    }

    /// A sentence that says so, and the post.
    public var document: Document {
        let note =
            id.map { "Published as post \($0) of user \(authorID)." }
            ?? "Accepted for user \(authorID), and published as soon as the upstream takes it."
        return Document(title: title, blocks: [.heading(title), .paragraph(body), .notes([note])])
    }
}
