import InwardCore
import UseCases

/// The state machine of a list of posts. At most one load is current at any time: the newest.
struct PostListLoads {
    /// A request for posts.
    struct Load: Equatable {
        let number: Int
        let query: FeedQuery
        let policy: ReadPolicy
        /// The page that the answer extends; `nil` if the answer replaces everything.
        let page: FeedPage?
    }

    private(set) var state: PostListState = .idle
    /// The last state without a load in progress, restored when a load is cancelled.
    private var settled: PostListState = .idle
    private var filter: String?
    /// The page on display, which combines all pages loaded so far, and the query it was loaded with.
    private var shown: (page: FeedPage, query: FeedQuery)?
    private var current: Int?
    private var lastNumber = 0
    private let presenter: FeedPresenter

    init(presenter: FeedPresenter) {
        self.presenter = presenter
    }

    /// Returns the load to start for an intent, which supersedes the current one; `nil` if there is nothing to load.
    mutating func begin(_ intent: PostListIntent) -> Load? {
        var query = FeedQuery(text: filter)
        var policy = ReadPolicy.cacheFirst
        var page: FeedPage?
        switch intent {
        case .load: break
        case .refresh:
            policy = .upstreamOnly
            query.pageSize = min(max(shown?.page.entries.count ?? 0, query.pageSize), FeedQuery.pageSizes.upperBound)
        case .filter(let text):
            filter = text
            query.text = text
        case .loadMore:
            guard let shown, let next = shown.page.next else { return nil }
            // A load with another text is in progress and will replace these posts, so there is no next page to load.
            guard current == nil || shown.query.text == filter else { return nil }
            query = shown.query
            query.cursor = next
            query.pageSize = FeedQuery().pageSize
            page = shown.page
        }
        lastNumber += 1
        current = lastNumber
        state = .loading(lastGood: state.posts)
        return Load(number: lastNumber, query: query, policy: policy, page: page)
    }

    /// Applies the answer to a load, unless a newer load has superseded it.
    mutating func finish(_ load: Load, with result: Result<FeedPage, ReadFeedError>) {
        guard load.number == current else { return }
        current = nil
        switch result {
        case .success(let page):
            let page = load.page.map { $0.followed(by: page) } ?? page
            shown = (page, load.query)
            state = .loaded(presenter.present(page))
        case .failure(.cancelled):
            state = settled
        case .failure(let error):
            state = .failed(presenter.present(error), lastGood: state.posts)
        }
        settled = state
    }

    /// Shows a failure and discards the posts.
    mutating func close(showing failure: FailureViewModel) {
        current = nil
        shown = nil
        state = .failed(failure, lastGood: nil)
    }
}

extension FeedPage {
    /// Returns this page and the next one combined, with the provenance of the next one.
    fileprivate func followed(by page: FeedPage) -> FeedPage {
        FeedPage(
            entries: entries + page.entries,
            total: page.total,
            next: page.next,
            postsRead: page.postsRead,
            usersRead: page.usersRead
        )
    }
}
