public import Entities
import InwardCore
public import UseCases

/// A presenter that converts the results of `ReadFeed` to view models.
///
/// ```swift
/// let presenter = FeedPresenter(router: CommandRouter(option: "--open"))
/// let viewModel = try await presenter.present(readFeed(FeedQuery(pageSize: 10)))
/// print("\(viewModel.rows.count) of \(viewModel.total)")
/// ```
public struct FeedPresenter: Sendable {
    private let router: any Router

    /// Creates a presenter that gets its links from a router.
    public init(router: any Router = NullRouter()) {
        self.router = router
    }

    /// Returns the view model of a page of the feed, or of one author's posts.
    public func present(_ page: FeedPage, by author: User.ID? = nil) -> FeedViewModel {
        let notes: [String] =
            switch page.usersRead {
            case .success(let reading): reading.notes
            case .failure(let error): ["The authors could not be read: \(error)"]
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

    /// Returns the failure to show when the feed cannot be read.
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

/// The view model of a page of the feed.
///
/// ```swift
/// let page = try await FeedPresenter().present(readFeed())
/// for row in page.rows {
///     print("\(row.title), by \(row.author)")
/// }
/// print(page.next ?? "This is the last page.")
/// ```
public struct FeedViewModel: ViewModel, Hashable {
    /// The view model of an entry.
    public struct Row: Hashable, Encodable, Sendable {
        /// The post's identity.
        public let id: Int
        /// The name of the author, or a substitute if it is not known.
        public let author: String
        /// The title of the post.
        public let title: String
        /// The body of the post.
        public let body: String
        /// A link to the author; `nil` if there is none.
        public let authorLink: Link?
    }

    /// The entries in display order.
    public let rows: [Row]
    /// The number of entries on all pages.
    public let total: Int
    /// The cursor of the next page; `nil` on the last page.
    public let next: String?
    /// A link to the next page; `nil` on the last page, or if the medium has no links.
    public let nextLink: Link?
    /// The number of posts read for the page.
    public let postsRead: Int
    /// The origin of the posts.
    public let origin: String
    /// Notes about the readings, such as why the authors are missing, and one for each rejected record.
    public let notes: [String]

    /// A table of the entries, a link to the next page, and the notes.
    public var document: Document {
        Document(title: "Feed", blocks: blocks + (nextLink.map { [.link("Next page", $0)] } ?? []) + notes.block)
    }

    /// The table with its heading, without the notes.
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
