/// What a view shows of an outbox: the pending and the refused writes.
public struct OutboxViewModel: ViewModel, Hashable {
    /// A write.
    public struct Row: Encodable, Hashable, Sendable {
        /// What names the write: as short as it can be typed and no other has it.
        public let id: String
        /// What has become of it so far, in one or two words.
        public let state: String
        /// What the post is called; what is sent where, if it is not a post.
        public let title: String
        /// Who wrote the post.
        public let author: String
        /// How long ago it was accepted.
        public let accepted: String
        /// How often it was sent in vain.
        public let attempts: Int
        /// When it is sent next; empty if it is not sent.
        public let nextAttempt: String
        /// Why it was not delivered so far; `nil` if nothing is known.
        public let cause: String?
    }

    /// The pending writes, and then the refused ones, each in the order they were accepted.
    public let rows: [Row]
    /// How many writes are pending.
    public let pendingCount: Int
    /// How many writes were refused, and are kept.
    public let refusedCount: Int
    /// Remarks about the outbox as a whole: who delivers, and whether delivery is paused.
    public let notes: [String]

    /// A table of the writes, and why each was not delivered.
    public var document: Document {
        let columns: [Table.Column] = [
            .init("ID"), .init("State"), .init("Title"), .init("Author"), .init("Accepted"),
            .init("Attempts", isNumeric: true), .init("Next attempt"),
        ]
        let cells = rows.map { row in
            [row.id, row.state, row.title, row.author, row.accepted, "\(row.attempts)", row.nextAttempt].map {
                Table.Cell($0)
            }
        }
        let causes = rows.compactMap { row in row.cause.map { "\(row.id): \($0)" } }
        var blocks: [Document.Block] = [
            .heading("Outbox"), .paragraph("\(pendingCount) pending, \(refusedCount) refused."),
        ]
        if !rows.isEmpty { blocks.append(.table(Table(columns: columns, rows: cells))) }
        if !causes.isEmpty || !notes.isEmpty { blocks.append(.notes(causes + notes)) }
        return Document(title: "Outbox", blocks: blocks)
    }
}
