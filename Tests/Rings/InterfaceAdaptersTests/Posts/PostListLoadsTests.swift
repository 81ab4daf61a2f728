import InwardCore
import Testing
import UseCases

@testable import InterfaceAdapters

struct PostListLoadsTests {
    private let presenter = FeedPresenter()
    private let failure = ReadFeedError.unavailable(
        RepositoryError(.unavailable, request: "GET x", explanation: "failed")
    )

    /// Returns loads that show these posts, loaded with a filter.
    private func loaded(_ ids: some Sequence<Int>, next: Int? = nil, filter: String? = nil) throws -> PostListLoads {
        var loads = PostListLoads(presenter: presenter)
        let load = try loads.started(.filter(filter))
        loads.finish(load, with: .success(try .example(ids, total: 300, next: next)))
        return loads
    }

    private func ids(_ loads: PostListLoads) -> [Int]? { loads.state.posts?.rows.map(\.id) }

    @Test func stateIsIdleBeforeTheFirstLoad() {
        #expect(PostListLoads(presenter: presenter).state == .idle)
    }

    @Test func loadRequestsTheNewestPostsCacheFirst() throws {
        var loads = PostListLoads(presenter: presenter)
        let load = try loads.started(.load)
        #expect(load.query == FeedQuery())
        #expect(load.policy == .cacheFirst)
        #expect(loads.state == .loading(lastGood: nil))
        let page = try FeedPage.example([2, 1])
        loads.finish(load, with: .success(page))
        #expect(loads.state == .loaded(presenter.present(page)))
    }

    @Test func filterAppliesUntilItIsReplaced() throws {
        var loads = try loaded([1], filter: "a")
        let intents: [PostListIntent] = [.load, .refresh, .filter("b"), .load, .filter(nil), .refresh]
        let begun = try intents.map { try loads.started($0) }
        #expect(begun.map(\.query.text) == ["a", "a", "b", "b", nil, nil])
        #expect(
            begun.map(\.policy) == [.cacheFirst, .upstreamOnly, .cacheFirst, .cacheFirst, .cacheFirst, .upstreamOnly]
        )
        #expect(begun.allSatisfy { $0.page == nil && $0.query.cursor == nil })
    }

    @Test(arguments: [(0, 20), (1, 20), (20, 20), (21, 21), (99, 99), (100, 100), (101, 100), (250, 100)])
    func refreshRequestsAsManyPostsAsAreShown(count: Int, pageSize: Int) throws {
        var loads = try loaded(0..<count)
        let load = try loads.started(.refresh)
        #expect(load.query == FeedQuery(pageSize: pageSize))
        #expect(load.policy == .upstreamOnly)
        loads.finish(load, with: .success(try .example([7])))
        #expect(ids(loads) == [7])
    }

    @Test func loadMoreContinuesTheShownQuery() throws {
        var loads = try loaded(1...30, next: 30, filter: "a")
        let refresh = try loads.started(.refresh)
        loads.finish(refresh, with: .success(try .example([9, 8], total: 5, next: 8)))
        // The load with another filter will replace the shown posts, so they have no next page unless that load fails.
        let other = try loads.started(.filter("b"))
        let tooEarly = loads.begin(.loadMore)
        #expect(tooEarly == nil)
        loads.finish(other, with: .failure(failure))
        let more = try loads.started(.loadMore)
        #expect(more.query == FeedQuery(text: "a", cursor: FeedCursor("8")))
        #expect(more.policy == .cacheFirst)
        loads.finish(more, with: .success(try .example([7, 6], total: 4, next: 6)))
        #expect(ids(loads) == [9, 8, 7, 6])
        #expect(loads.state.posts?.total == 4)
        let evenMore = try loads.started(.loadMore)
        #expect(evenMore.query.cursor == FeedCursor("6"))
        let all = try loads.started(.refresh)
        #expect(all.query == FeedQuery(text: "b"))
    }

    @Test func secondLoadMoreSupersedesTheFirst() throws {
        var loads = try loaded([3], next: 3)
        let first = try loads.started(.loadMore)
        let second = try loads.started(.loadMore)
        loads.finish(first, with: .success(try .example([2])))
        loads.finish(second, with: .success(try .example([2])))
        #expect(ids(loads) == [3, 2])
    }

    @Test func loadMoreNeedsANextPage() throws {
        var empty = PostListLoads(presenter: presenter)
        let none = empty.begin(.loadMore)
        #expect(none == nil)
        #expect(empty.state == .idle)
        var loads = try loaded([1])
        let shown = loads.state
        let more = loads.begin(.loadMore)
        #expect(more == nil)
        #expect(loads.state == shown)
    }

    @Test func loadMoreWithoutANextPageSupersedesNothing() throws {
        var loads = PostListLoads(presenter: presenter)
        let load = try loads.started(.load)
        let more = loads.begin(.loadMore)
        #expect(more == nil)
        loads.finish(load, with: .success(try .example([1])))
        #expect(ids(loads) == [1])
    }

    @Test func closedListShowsOnlyTheFailureAndIgnoresAnswers() throws {
        var loads = try loaded([2], next: 2)
        let load = try loads.started(.refresh)
        loads.close(showing: FailureViewModel("Closed"))
        loads.finish(load, with: .success(try .example([1])))
        #expect(loads.state == .failed(FailureViewModel("Closed"), lastGood: nil))
        let more = loads.begin(.loadMore)
        #expect(more == nil)
    }

    @Test func everyOrderOfIntentsAndAnswersShowsOnlyTheNewest() throws {
        let page = try FeedPage.example([5, 4], next: 4)
        let visited = explore(PostListLoads(presenter: presenter), Model(), pending: [], page: page, depth: 5)
        #expect(visited > 10_000)
    }

    /// The expected internal state, which the visible state does not show.
    private struct Model {
        var settled = PostListState.idle
        var filter: String?
        var shownFilter: String?
    }

    /// Explores every sequence of intents and answers up to a depth, and returns the number of visited states.
    private func explore(
        _ loads: PostListLoads,
        _ model: Model,
        pending: [PostListLoads.Load],
        page: FeedPage,
        depth: Int
    ) -> Int {
        guard depth > 0 else { return 1 }
        let posts = loads.state.posts
        var visited = 1
        for intent in [PostListIntent.load, .refresh, .filter("a"), .loadMore] {
            var next = loads
            var model = model
            let load = next.begin(intent)
            // Shown posts always have a next page here, except while a load with another filter is about to replace them.
            let isAboutToGo = loads.state == .loading(lastGood: posts) && model.shownFilter != model.filter
            #expect((load == nil) == (intent == .loadMore && (posts == nil || isAboutToGo)))
            #expect(next.state == (load == nil ? loads.state : .loading(lastGood: posts)))
            if case .filter(let text) = intent { model.filter = text }
            visited += explore(next, model, pending: pending + (load.map { [$0] } ?? []), page: page, depth: depth - 1)
        }
        for (position, load) in pending.enumerated() {
            for answer in [Result.success(page), .failure(failure), .failure(.cancelled)] {
                var next = loads
                var model = model
                next.finish(load, with: answer)
                if load == pending.last, loads.state == .loading(lastGood: posts) {
                    #expect(next.state == expected(of: answer, to: load, posts: posts, model))
                    model.settled = next.state
                    if case .success = answer { model.shownFilter = load.query.text }
                } else {
                    #expect(next.state == loads.state)
                }
                var others = pending
                // Keep the newest load, to test that a second answer to it is ignored.
                if position < pending.count - 1 { others.remove(at: position) }
                visited += explore(next, model, pending: others, page: page, depth: depth - 1)
            }
        }
        return visited
    }

    private func expected(
        of answer: Result<FeedPage, ReadFeedError>,
        to load: PostListLoads.Load,
        posts: FeedViewModel?,
        _ model: Model
    ) -> PostListState? {
        switch answer {
        case .success(let page):
            guard load.page != nil else { return .loaded(presenter.present(page)) }
            let rows = (posts?.rows ?? []) + presenter.present(page).rows
            return (try? FeedPage.example(rows.map(\.id), total: page.total, next: 4)).map { whole in
                .loaded(presenter.present(whole, readAs: page))
            }
        case .failure(.cancelled): return model.settled
        case .failure(let error): return .failed(presenter.present(error), lastGood: posts)
        }
    }
}

extension PostListLoads {
    /// Begins a load, and fails the test if the intent does not start one.
    fileprivate mutating func started(_ intent: PostListIntent) throws -> Load {
        let load = begin(intent)
        return try #require(load)
    }
}

extension FeedPresenter {
    /// Returns the view model of a page with the provenance of another one.
    fileprivate func present(_ page: FeedPage, readAs other: FeedPage) -> FeedViewModel {
        present(
            FeedPage(
                entries: page.entries,
                total: page.total,
                next: page.next,
                postsRead: other.postsRead,
                usersRead: other.usersRead
            )
        )
    }
}
