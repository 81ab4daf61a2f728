public import InwardCore
import InwardFetching
public import InwardRepositories

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A presenter that converts the contents of an outbox to view models, and finds writes by the beginning of their identifiers.
///
/// ```swift
/// func show(_ outbox: Outbox) async throws {
///     let presenter = OutboxPresenter(now: Date())
///     for row in presenter.present(try await outbox.contents()).rows {
///         print(row.id, row.state, row.title)
///     }
/// }
/// ```
public struct OutboxPresenter: Sendable {
    /// The minimum number of characters of an identifier to show.
    private static let idLength = 6
    /// The maximum number of refused writes that one line names.
    private static let maximumNames = 5
    private static let maximumTitleLength = 60

    private let now: Date

    /// Creates a presenter.
    ///
    /// - Parameter now: The current time, from which the ages of writes are computed.
    public init(now: Date) {
        self.now = now
    }

    /// Returns the view model of the pending and refused writes.
    ///
    /// - Parameters:
    ///   - contents: The writes.
    ///   - owner: The other process that delivers them; `nil` if there is none.
    /// - Returns: The view model.
    public func present(_ contents: OutboxContents, owner: String? = nil) -> OutboxViewModel {
        let items = contents.pending + contents.deadLetters
        let length = Self.shortLength(of: items.map(\.id))
        var notes: [String] = []
        if let pause = contents.pause {
            notes.append(
                """
                Delivery is paused, because the upstream refused \(pause.refusals) posts in a row. The next attempt is \
                \(moment(pause.until)). Last refusal: \(pause.cause)
                """
            )
        }
        if let owner { notes.append("The outbox is owned by \(owner), which delivers it.") }
        return OutboxViewModel(
            rows: items.map { row($0, Self.name(of: $0, among: items), length) },
            pendingCount: contents.pending.count,
            refusedCount: contents.deadLetters.count,
            notes: notes
        )
    }

    /// Returns one line that names the refused writes in the outbox; `nil` if there are none.
    public func presentRefusals(_ contents: OutboxContents) -> String? {
        let letters = contents.deadLetters
        guard !letters.isEmpty else { return nil }
        let all = contents.pending + letters
        let names = letters.suffix(Self.maximumNames).map { Self.name(of: $0, among: all).description }
        let noun = letters.allSatisfy { $0.write?.endpoint == PostDTO.listName } ? "post" : "write"
        let rest = letters.count - names.count
        let list = names.joined(separator: "; ") + (rest > 0 ? "; and \(rest) more" : "")
        return """
            \(letters.count) refused \(noun)\(letters.count == 1 ? " is" : "s are") kept: \(list). List them with --outbox, then \
            --retry or --discard them.
            """
    }

    /// Finds the write that a person selected.
    ///
    /// - Parameters:
    ///   - id: The beginning of the write's identifier.
    ///   - contents: The writes to search.
    /// - Returns: The write.
    /// - Throws: The failure to show if no write matches, or several do.
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

    /// Returns the failure to show when another process owns the outbox.
    public func presentOwner(_ owner: String) -> FailureViewModel {
        FailureViewModel(
            "Nothing was changed: the outbox is owned by \(owner)",
            advice: "Wait until that process ends, or stop it, and try again."
        )
    }

    /// Returns the failure to show when a write is no longer in the outbox.
    public func presentMissing(_ item: OutboxItem) -> FailureViewModel {
        FailureViewModel(
            "\(PostName(item.write).capitalized) is no longer in the outbox",
            advice: "List the outbox with --outbox."
        )
    }

    /// Returns the failure to show when the store fails.
    public func present(_ error: RecordStoreError) -> FailureViewModel {
        FailureViewModel("The outbox cannot be used: \(error.explanation.withoutFullStop)")
    }

    /// Returns one line that confirms that a write was discarded.
    public func presentDiscarded(_ item: OutboxItem) -> String { "Discarded \(PostName(item.write))." }

    /// Returns one line that says what happened to a retried write.
    ///
    /// - Parameters:
    ///   - item: The write before the retry.
    ///   - error: The reason it was not delivered; `nil` if it was.
    /// - Returns: The line, and whether the write was delivered.
    public func presentRetried(_ item: OutboxItem, _ error: RepositoryError?) -> (line: String, isDelivered: Bool) {
        let name = PostName(item.write)
        switch error?.reason {
        case nil: return ("Delivered \(name).", true)
        case .refused, .notFound: return ("The upstream refused \(name) again: \(error?.description ?? "").", false)
        default: return ("\(name.capitalized) is pending, and will be sent again.", false)
        }
    }

    /// Names a write. If it changes a post that has no identifier yet, its creation says which one that is.
    private static func name(of item: OutboxItem, among items: [OutboxItem]) -> PostName {
        guard let write = item.write, write.entityID == nil, write.method != .post else { return PostName(item.write) }
        let creation = items.compactMap(\.write).first { $0.method == .post && $0.subject == write.subject }
        return PostName(write, of: creation)
    }

    private func row(_ item: OutboxItem, _ name: PostName, _ length: Int) -> OutboxViewModel.Row {
        let isRefused = if case .refused = item.state { true } else { false }
        let isUndeliverable = if case .undeliverable = item.state { true } else { false }
        return OutboxViewModel.Row(
            id: String(item.id.prefix(length)),
            state: item.state.description,
            title: name.title.excerpt(upTo: Self.maximumTitleLength),
            author: name.author,
            accepted: item.acceptedAt.map { "\(Duration(from: $0, to: now).inWords) ago" } ?? "",
            attempts: item.attempts,
            nextAttempt: isRefused || isUndeliverable ? "never" : item.nextAttempt.map { moment($0) } ?? "now",
            cause: item.cause
        )
    }

    private func moment(_ date: Date) -> String {
        date > now ? "in \(Duration(from: now, to: date).inWords)" : "now"
    }

    /// The number of characters that distinguishes the given identifiers from each other.
    private static func shortLength(of ids: [String]) -> Int {
        let longest = ids.map(\.count).max() ?? 0
        var length = min(idLength, longest)
        while length < longest, Set(ids.map { $0.prefix(length) }).count < ids.count { length += 1 }
        return length
    }
}

/// A description of a write for people, which names its post or its website.
struct PostName: CustomStringConvertible {
    let title: String
    let author: String
    let description: String

    /// Names a write.
    ///
    /// - Parameters:
    ///   - write: The write; `nil` if it cannot be read.
    ///   - creation: The creation of what the write changes; `nil` if it is not known or already done.
    init(_ write: OutboxWrite?, of creation: OutboxWrite? = nil) {
        if let write, let draft = creation?.body.flatMap({ try? PostDraftDTO.decoded(from: Data($0)) }) {
            (title, author) = ("\(write.method) \(draft.title)", "user \(draft.userId)")
            let change = write.method == .delete ? "deletion" : "change"
            description = "the \(change) of the post “\(draft.title.excerpt(upTo: 60))” of user \(draft.userId)"
        } else if let write, let draft = write.body.flatMap({ try? PostDraftDTO.decoded(from: Data($0)) }) {
            (title, author) = (draft.title, "user \(draft.userId)")
            description = "the post “\(draft.title.excerpt(upTo: 60))” of user \(draft.userId)"
        } else if let write, let id = write.entityID,
            let website = write.body.flatMap({ try? ProfilePatchDTO.decoded(from: Data($0)) })?.website
        {
            (title, author) = ("website \(website)", "user \(id)")
            description = "the website “\(website.excerpt(upTo: 60))” of user \(id)"
        } else {
            (title, author) = (write.map { "\($0.method) \($0.path)" } ?? "unreadable", "")
            description = write.map { "the write \($0.method) \($0.path)" } ?? "a write that cannot be read"
        }
    }

    /// The description for the beginning of a sentence.
    var capitalized: String { description.prefix(1).uppercased() + description.dropFirst() }
}

/// The part of a profile that a patch changes.
private struct ProfilePatchDTO: Decodable {
    let website: String
}

/// An accepted post that the upstream refused. It is kept until someone retries or discards it.
///
/// ```swift
/// func handle(_ error: any Error) {
///     guard let refusal = error as? RefusedPostError else { return }
///     print(refusal)  // The post “Notes” of user 7 was refused, and stays in the outbox: …
/// }
/// ```
public struct RefusedPostError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The post and the reason for the refusal, as a sentence without its final period.
    public let description: String

    /// Creates an error that names the post of a refused write.
    public init(_ error: RefusedWriteError) {
        description = "\(PostName(error.entry.write).capitalized) was refused, and stays in the outbox: \(error.cause)"
    }
}

extension Duration {
    /// Creates the duration between two dates, clamped to the range from zero to 1e12 seconds.
    fileprivate init(from start: Date, to end: Date) {
        self = .seconds(max(0, min(1e12, end.timeIntervalSince(start))))
    }
}

extension String {
    fileprivate var withoutFullStop: Substring { hasSuffix(".") ? dropLast() : self[...] }
}

/// The view model of an outbox: its pending and refused writes.
///
/// ```swift
/// func warn(about outbox: OutboxViewModel) {
///     for row in outbox.rows where row.nextAttempt == "never" {
///         print("\(row.title) was not delivered: \(row.cause ?? "unknown cause")")
///     }
/// }
/// ```
public struct OutboxViewModel: ViewModel, Hashable {
    /// The view model of a write.
    public struct Row: Encodable, Hashable, Sendable {
        /// The beginning of the write's identifier, long enough to distinguish it from the others.
        public let id: String
        /// The state of the write, in one or two words.
        public let state: String
        /// The title of the post, or the website; for a change of a post that is not published yet, the method and the title; for
        /// other writes, the method and the path.
        public let title: String
        /// The author of the post, or the user with the website; empty if neither is known.
        public let author: String
        /// The time since the write was accepted.
        public let accepted: String
        /// The number of failed attempts.
        public let attempts: Int
        /// The time of the next attempt, such as `now` or `never`.
        public let nextAttempt: String
        /// The reason it has not been delivered; `nil` if none is known.
        public let cause: String?
    }

    /// The pending writes, then the refused ones, each in the order in which they were accepted.
    public let rows: [Row]
    /// The number of pending writes.
    public let pendingCount: Int
    /// The number of refused writes in the outbox.
    public let refusedCount: Int
    /// Notes about the whole outbox: which process delivers, and whether delivery is paused.
    public let notes: [String]

    /// A table of the writes, and the reason why each was not delivered.
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
