import InwardCore

/// What a view shows of one user.
public struct UserProfileViewModel: ViewModel, Hashable {
    /// Something that is said of the user.
    public struct Field: Hashable, Encodable, Sendable {
        /// What it is, such as `Phone`.
        public let label: String
        /// What it says.
        public let text: String
    }

    /// What a view shows of one of the user's posts.
    public struct Row: Hashable, Encodable, Sendable {
        /// The post's identity.
        public let id: Int
        /// What the post is called.
        public let title: String
        /// What the post says.
        public let body: String
    }

    /// The user's full name.
    public let name: String
    /// What is said of the user, in the order it is shown.
    public let fields: [Field]
    /// The user's posts, the newest first.
    public let posts: [Row]
    /// Where the posts are shown page by page; `nil` if nowhere.
    public let postsLink: Link?
    /// Where the user came from.
    public let origin: String
    /// Why the posts are missing, if they are, and a remark for each record that was left out.
    public let notes: [String]

    /// The user, the posts in a table, and the remarks.
    public var document: Document {
        var blocks: [Document.Block] = [
            .heading(name),
            .table(
                Table(columns: [.init("About"), .init("")], rows: fields.map { [.init($0.label), .init($0.text)] })
            ),
        ]
        if !posts.isEmpty {
            let columns: [Table.Column] = [.init("Post", isNumeric: true), .init("Title"), .init("Beginning")]
            let rows: [[Table.Cell]] = posts.map { post in
                [.init(String(post.id)), .init(post.title), .init(post.body.excerpt(upTo: 60), detail: post.body)]
            }
            blocks += [.heading("Posts"), .table(Table(columns: columns, rows: rows))]
        }
        if let postsLink { blocks.append(.link("Posts by \(name)", postsLink)) }
        return Document(title: name, blocks: blocks + notes.block)
    }
}
