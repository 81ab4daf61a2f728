public import InwardCore
public import InwardRepositories

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Turns what is in an outbox into what a view shows of it, and finds writes by what a person types of their names.
public struct OutboxPresenter: Sendable {
    /// How many digits of a name are shown at least.
    private static let idLength = 6
    /// How many refused posts are named in one line.
    private static let maximumNames = 5
    private static let maximumTitleLength = 60

    private let now: Date

    /// Makes a presenter.
    ///
    /// - Parameter now: The time, by which ages are told.
    public init(now: Date) {
        self.now = now
    }

    /// What to show of the pending and the refused writes.
    ///
    /// - Parameters:
    ///   - contents: The writes.
    ///   - owner: Who delivers them, if that is another process.
    /// - Returns: the view model.
    public func present(_ contents: OutboxContents, owner: String? = nil) -> OutboxViewModel {
        let items = contents.pending + contents.deadLetters
        let length = Self.shortLength(of: items.map(\.id))
        var notes: [String] = []
        if let pause = contents.pause {
            notes.append(
                """
                Delivery is paused, because the upstream refused \(pause.refusals) posts in a row; one is tried \
                \(moment(pause.until)). The last refusal: \(pause.cause)
                """
            )
        }
        if let owner { notes.append("The outbox is owned by \(owner), which delivers it.") }
        return OutboxViewModel(
            rows: items.map { row($0, length) },
            pendingCount: contents.pending.count,
            refusedCount: contents.deadLetters.count,
            notes: notes
        )
    }

    /// What to say of the refused writes that are kept, in one line; `nil` if there are none.
    public func presentRefusals(_ contents: OutboxContents) -> String? {
        let letters = contents.deadLetters
        guard !letters.isEmpty else { return nil }
        let names = letters.suffix(Self.maximumNames).map { PostName($0.write).description }
        let rest = letters.count - names.count
        let all = names.joined(separator: "; ") + (rest > 0 ? "; and \(rest) more" : "")
        return """
            \(letters.count) refused \(letters.count == 1 ? "post is" : "posts are") kept: \(all). List them with --outbox, then \
            --retry or --discard them.
            """
    }

    /// The write that a person means.
    ///
    /// - Parameters:
    ///   - id: The beginning of its name.
    ///   - contents: The writes.
    /// - Returns: the write.
    /// - Throws: what to show if it is none of them, or several.
    public func item(_ id: String, in contents: OutboxContents) throws(FailureViewModel) -> OutboxItem {
        let all = contents.pending + contents.deadLetters
        let found = all.filter { $0.id.hasPrefix(id) }
        if let item = found.first(where: { $0.id == id }) ?? (found.count == 1 ? found.first : nil) { return item }
        throw FailureViewModel(
            found.isEmpty
                ? "There is no write whose ID begins with “\(id)”"
                : "There are \(found.count) writes whose IDs begin with “\(id)”",
            advice: found.isEmpty ? "List them with --outbox." : "Type more of the ID."
        )
    }

    /// What to show if the outbox is owned by another process.
    public func presentOwner(_ owner: String) -> FailureViewModel {
        FailureViewModel(
            "Nothing was changed: the outbox is owned by \(owner)",
            advice: "Wait until that has ended, or end it, and try again."
        )
    }

    /// What to show if a write is not in the outbox any more.
    public func presentMissing(_ item: OutboxItem) -> FailureViewModel {
        FailureViewModel(
            "\(PostName(item.write).capitalized) is not in the outbox any more",
            advice: "List what is there with --outbox."
        )
    }

    /// What to show if a store does not do what it was asked for.
    public func present(_ error: RecordStoreError) -> FailureViewModel {
        FailureViewModel("The outbox cannot be used: \(error.explanation.withoutFullStop)")
    }

    /// That a write was removed, in one line.
    public func presentDiscarded(_ item: OutboxItem) -> String { "Discarded \(PostName(item.write))." }

    /// What became of a write that was sent again, in one line.
    ///
    /// - Parameters:
    ///   - item: The write as it was before.
    ///   - error: Why it is not delivered; `nil` if it is.
    /// - Returns: the line, and whether it is delivered.
    public func presentRetried(_ item: OutboxItem, _ error: RepositoryError?) -> (line: String, isDelivered: Bool) {
        let name = PostName(item.write)
        switch error?.reason {
        case nil: return ("Delivered \(name).", true)
        case .refused, .notFound: return ("The upstream refused \(name) again: \(error?.description ?? "").", false)
        default: return ("\(name.capitalized) is pending, and is sent again.", false)
        }
    }

    private func row(_ item: OutboxItem, _ length: Int) -> OutboxViewModel.Row {
        let name = PostName(item.write)
        let isRefused = if case .refused = item.state { true } else { false }
        let isHeld = if case .held = item.state { true } else { false }
        return OutboxViewModel.Row(
            id: String(item.id.prefix(length)),
            state: item.state.description,
            title: name.title.excerpt(upTo: Self.maximumTitleLength),
            author: name.author,
            accepted: item.acceptedAt.map { "\(Duration(from: $0, to: now).inWords) ago" } ?? "",
            attempts: item.attempts,
            nextAttempt: isRefused || isHeld ? "never" : item.nextAttempt.map { moment($0) } ?? "now",
            cause: item.cause
        )
    }

    private func moment(_ date: Date) -> String {
        date > now ? "in \(Duration(from: now, to: date).inWords)" : "now"
    }

    /// How many characters tell these names apart.
    private static func shortLength(of ids: [String]) -> Int {
        let longest = ids.map(\.count).max() ?? 0
        var length = min(idLength, longest)
        while length < longest, Set(ids.map { $0.prefix(length) }).count < ids.count { length += 1 }
        return length
    }
}

/// A post as a person recognises it, read from a write.
struct PostName: CustomStringConvertible {
    let title: String
    let author: String
    let description: String

    init(_ write: OutboxWrite?) {
        if let write, let draft = write.body.flatMap({ try? PostDraftDTO.decoded(from: Data($0)) }) {
            (title, author) = (draft.title, "user \(draft.userId)")
            description = "the post “\(draft.title.excerpt(upTo: 60))” of user \(draft.userId)"
        } else {
            (title, author) = (write.map { "\($0.method) \($0.path)" } ?? "unreadable", "")
            description = write.map { "the write \($0.method) \($0.path)" } ?? "a write that cannot be read"
        }
    }

    /// The name at the beginning of a sentence.
    var capitalized: String { description.prefix(1).uppercased() + description.dropFirst() }
}

/// A post that was accepted and that the upstream has refused. It is kept, until somebody sends it again or discards it.
public struct RefusedPostError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Which post, and why, as a sentence without its full stop.
    public let description: String

    /// Names the post of a write that was refused.
    public init(_ error: RefusedWriteError) {
        description = "\(PostName(error.entry.write).capitalized) was refused, and is kept: \(error.cause)"
    }
}

extension Duration {
    /// The time between two dates, to a second; none if they are too far apart, or in another order.
    fileprivate init(from start: Date, to end: Date) {
        self = .seconds(max(0, min(1e12, end.timeIntervalSince(start))))
    }
}

extension String {
    fileprivate var withoutFullStop: Substring { hasSuffix(".") ? dropLast() : self[...] }
}

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
