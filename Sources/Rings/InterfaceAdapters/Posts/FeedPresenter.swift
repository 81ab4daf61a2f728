public import Entities
import InwardCore
public import UseCases

/// Turns what `ReadFeed` answers into what a view shows.
public struct FeedPresenter: Sendable {
    private let router: any Router

    /// Makes a presenter, with links for the medium of a router.
    public init(router: any Router = NullRouter()) {
        self.router = router
    }

    /// What to show of a page of the feed, or of one author's part of it.
    public func present(_ page: FeedPage, by author: User.ID? = nil) -> FeedViewModel {
        let notes: [String] =
            switch page.usersRead {
            case .success(let reading): reading.notes
            case .failure(let error): ["The authors could not be had: \(error)"]
            }
        return FeedViewModel(
            rows: page.entries.map { .init($0, link: link(to: $0.author)) },
            total: page.total,
            next: page.next?.description,
            nextLink: page.next.flatMap { next in
                router.link(to: author.map { .posts(by: $0, after: next) } ?? .feed(after: next))
            },
            postsRead: page.postsRead.value,
            origin: page.postsRead.origin.description,
            notes: page.postsRead.notes + notes
        )
    }

    /// What to show of a failure to read the feed.
    public func present(_ error: ReadFeedError) -> FailureViewModel {
        let summary = "The feed could not be read"
        return switch error {
        case .cancelled: FailureViewModel("Reading the feed was cancelled")
        case .pageSizeOutOfRange(let size): pageSizeFailure(size)
        case .unavailable(let cause): .unavailable(summary, cause)
        case .denied(let cause): .denied(summary, cause)
        case .unreadable(let cause): .unreadable(summary, cause)
        }
    }

    private func link(to author: FeedEntry.Author) -> Link? {
        switch author {
        case .known(let user): router.link(to: .user(user.id))
        case .unavailable(let id): router.link(to: .user(id))
        case .unknown: nil
        }
    }

    private func pageSizeFailure(_ size: Int) -> FailureViewModel {
        let sizes = FeedQuery.pageSizes
        return FailureViewModel(
            "A page of the feed cannot have \(size) entries",
            advice: "Ask for \(sizes.lowerBound) to \(sizes.upperBound)."
        )
    }
}

extension FeedViewModel.Row {
    fileprivate init(_ entry: FeedEntry, link: Link?) {
        let author =
            switch entry.author {
            case .known(let user): user.name
            case .unknown(let id): "unknown user \(id)"
            case .unavailable(let id): "user \(id)"
            }
        let post = entry.post
        self.init(id: post.id.rawValue, author: author, title: post.title, body: post.body, authorLink: link)
    }
}

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
