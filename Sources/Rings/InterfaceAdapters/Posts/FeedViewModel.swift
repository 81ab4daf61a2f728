import InwardCore

/// What a view shows of a page of the feed.
public struct FeedViewModel: ViewModel, Hashable {
    /// What a view shows of an entry.
    public struct Row: Hashable, Encodable, Sendable {
        /// The post's identity.
        public let id: Int
        /// Who wrote it, or what is known of that.
        public let author: String
        /// What the post is called.
        public let title: String
        /// What the post says.
        public let body: String
        /// Where there is more about who wrote it; `nil` if nowhere.
        public let authorLink: Link?
    }

    /// The entries in the order they are shown.
    public let rows: [Row]
    /// How many entries there are on all pages.
    public let total: Int
    /// Where the next page begins; `nil` if this is the last.
    public let next: String?
    /// Where the next page is shown; `nil` if this is the last, or there is nowhere to show it.
    public let nextLink: Link?
    /// How many posts were read to make the page.
    public let postsRead: Int
    /// Where the posts came from.
    public let origin: String
    /// Why the authors are missing, if they are, and a remark for each record that was left out.
    public let notes: [String]

    /// A table of the entries, and the remarks.
    public var document: Document {
        Document(title: "Feed", blocks: blocks + (nextLink.map { [.link("Next page", $0)] } ?? []) + notes.block)
    }

    /// The table under its heading, without the remarks.
    var blocks: [Document.Block] {
        let columns: [Table.Column] = [
            .init("Post", isNumeric: true), .init("Author"), .init("Title"), .init("Beginning"),
        ]
        let cells: [[Table.Cell]] = rows.map { row in
            [
                .init(String(row.id)), .init(row.author, link: row.authorLink), .init(row.title),
                .init(row.body.excerpt(upTo: 60), detail: row.body),
            ]
        }
        return [
            .heading("Feed: \(rows.count) of \(total) posts, the newest first"),
            .table(Table(columns: columns, rows: cells)),
        ]
    }
}
