/// What a view shows of all users.
public struct UserListViewModel: ViewModel, Hashable {
    /// What a view shows of one of the users.
    public struct Row: Hashable, Encodable, Sendable {
        /// The user's identity.
        public let id: Int
        /// The user's full name.
        public let name: String
        /// The name the user signs with.
        public let username: String
        /// Where mail reaches the user.
        public let email: String
        /// Where the user lives.
        public let city: String
        /// Where the user works.
        public let company: String
        /// Where there is more about the user; `nil` if nowhere.
        public let link: Link?
    }

    /// The users in the order they are shown.
    public let rows: [Row]
    /// Where the users came from.
    public let origin: String
    /// A remark for each record that was left out.
    public let notes: [String]

    /// A table of the users, and the remarks.
    public var document: Document {
        Document(title: "Users", blocks: blocks + notes.block)
    }

    /// The table under its heading, without the remarks.
    var blocks: [Document.Block] {
        let columns: [Table.Column] = [
            .init("ID", isNumeric: true), .init("Name"), .init("Username"), .init("Email"), .init("City"),
            .init("Company"),
        ]
        let cells: [[Table.Cell]] = rows.map { row in
            [
                .init(String(row.id)), .init(row.name, link: row.link), .init(row.username), .init(row.email),
                .init(row.city),
                .init(row.company),
            ]
        }
        return [.heading("Users"), .table(Table(columns: columns, rows: cells))]
    }
}
