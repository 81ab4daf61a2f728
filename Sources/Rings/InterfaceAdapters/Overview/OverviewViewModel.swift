/// What a view shows of an upstream at one look: its users and the first page of its feed.
public struct OverviewViewModel: ViewModel, Hashable {
    /// Which program made this.
    public let generator: String
    /// The users.
    public let users: UserListViewModel
    /// The first page of the feed.
    public let feed: FeedViewModel
    /// What came from where, and how long that took, as a sentence.
    public let provenance: String

    /// The name of the program comes first, so that a file is known by how it begins.
    enum CodingKeys: String, CodingKey {
        case generator = "_generator"
        case users
        case feed
        case provenance
    }

    /// The users, the feed, what was left out of either, and the sentence.
    public var document: Document {
        // The feed names the users that were left out too.
        let notes = users.notes + feed.notes.filter { !users.notes.contains($0) }
        let blocks = users.blocks + feed.blocks + notes.block + [.paragraph(provenance)]
        return Document(title: "Users and posts", blocks: blocks)
    }
}
