import InwardCore
import UseCases

/// Decides what a list of posts loads and what it shows: at any time at most one load counts, the newest.
struct PostListLoads {
    /// Something to ask for.
    struct Load: Equatable {
        let number: Int
        let query: FeedQuery
        let policy: ReadPolicy
        /// The page that the answer follows on; `nil` if it takes the place of all.
        let page: FeedPage?
    }

    private(set) var state: PostListState = .idle
    /// What was to be seen before anything was asked for that is not answered yet.
    private var settled: PostListState = .idle
    private var filter: String?
    /// The page to be seen, which holds all pages that were loaded one behind the other, and what it was asked for with.
    private var shown: (page: FeedPage, query: FeedQuery)?
    private var current: Int?
    private var lastNumber = 0
    private let presenter: FeedPresenter

    init(presenter: FeedPresenter) {
        self.presenter = presenter
    }

    /// What to ask for now, instead of what is being asked for; `nil` if there is nothing more.
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
            // What is shown goes away as soon as the posts with another text are there: nothing follows on it.
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

    /// Takes the answer to a load, unless another one counts by now.
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

    /// Shows that nothing is to be seen any more, and forgets what was.
    mutating func close(showing failure: FailureViewModel) {
        current = nil
        shown = nil
        state = .failed(failure, lastGood: nil)
    }
}

extension FeedPage {
    /// This page and the one behind it as one, with the provenance of the later.
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
