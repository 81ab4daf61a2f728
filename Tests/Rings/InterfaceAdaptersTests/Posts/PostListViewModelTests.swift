import InwardTesting
import Testing
import UseCases

@testable import InterfaceAdapters

@Suite(.timeLimit(.minutes(5)))
struct PostListViewModelTests {
    private let feed = HeldFeed()
    private let closed = FailureViewModel("The list of posts is closed", advice: "Open the feed again.")

    private func makeList() -> PostListViewModel {
        PostListViewModel { [feed] (query, policy) throws(ReadFeedError) in try await feed.read(query, policy) }
    }

    /// Returns the state that shows posts with these identities.
    private func loaded(_ ids: Int..., next: Int? = nil) throws -> PostListState {
        .loaded(FeedPresenter().present(try .example(ids, next: next)))
    }

    /// Returns a list that shows post 9 and has a next page.
    private func makeLoadedList() async throws -> PostListViewModel {
        let list = makeList()
        async let loading: Void = list.send(.load)
        await feed.nextQuestion()?.answer(.success(try .example([9], next: 9)))
        try await loading
        return list
    }

    @Test func observersSeeTheCurrentStateAndThenEveryChange() async throws {
        let list = makeList()
        var observers = (1...3).map { _ in list.states.makeAsyncIterator() }
        for index in observers.indices { #expect(await observers[index].next() == .idle) }
        async let loading: Void = list.send(.load)
        let question = try #require(await feed.nextQuestion())
        observers.append(list.states.makeAsyncIterator())
        for index in observers.indices { #expect(await observers[index].next() == .loading(lastGood: nil)) }
        question.answer(.success(try .example([1])))
        try await loading
        for index in observers.indices { #expect(await observers[index].next() == (try loaded(1))) }
        await list.close()
        for index in observers.indices { #expect(await observers[index].next() == nil) }
    }

    @Test func slowObserverSeesTheNewestState() async throws {
        let list = makeList()
        var slow = list.states.makeAsyncIterator()
        async let loading: Void = list.send(.load)
        await feed.nextQuestion()?.answer(.success(try .example([1])))
        try await loading
        #expect(await slow.next() == (try loaded(1)))
        await list.close()
        #expect(await slow.next() == nil)
    }

    @Test func sequenceOfAClosedListEndsImmediately() async {
        let list = makeList()
        await list.close()
        var observer = list.states.makeAsyncIterator()
        #expect(await observer.next() == nil)
        #expect(list.observerCount == 0)
    }

    @Test(arguments: [true, false])
    func supersededAnswerIsNeverShown(comesLast: Bool) async throws {
        let list = try await makeLoadedList()
        async let earlier: Void = list.send(.load)
        let first = try #require(await feed.nextQuestion())
        async let later: Void = list.send(.filter("b"))
        let second = try #require(await feed.nextQuestion())
        await first.isCancelled()
        var observer = list.states.makeAsyncIterator()
        #expect(await observer.next() == .loading(lastGood: try loaded(9, next: 9).posts))
        if comesLast {
            second.answer(.success(try .example([2])))
            try await later
            first.answer(.success(try .example([1])))
            try await earlier
        } else {
            first.answer(.success(try .example([1])))
            try await earlier
            #expect(list.state == .loading(lastGood: try loaded(9, next: 9).posts))
            second.answer(.success(try .example([2])))
            try await later
        }
        #expect(list.state == (try loaded(2)))
        #expect(await observer.next() == (try loaded(2)))
        await list.close()
        #expect(await observer.next() == nil)
    }

    @Test func loadMoreAppendsPosts() async throws {
        let list = try await makeLoadedList()
        async let loading: Void = list.send(.loadMore)
        let question = try #require(await feed.nextQuestion())
        #expect(question.query == FeedQuery(cursor: FeedCursor("9")))
        question.answer(.success(try .example([8])))
        try await loading
        #expect(list.state.posts?.rows.map(\.id) == [9, 8])
        // There is no next page, so nothing is requested.
        try await list.send(.loadMore)
        #expect(feed.answered == 2)
    }

    @Test func cancelledSenderCancelsTheLoadAndKeepsThePosts() async throws {
        let list = try await makeLoadedList()
        try await withThrowingTaskGroup { group in
            group.addTask { try await list.send(.refresh) }
            let question = try #require(await feed.nextQuestion())
            group.cancelAll()
            await question.isCancelled()
            question.answer(.failure(.cancelled))
            try await group.waitForAll()
        }
        #expect(list.state == (try loaded(9, next: 9)))
    }

    @Test func closingCancelsTheLoadAndWaitsForIt() async throws {
        let list = makeList()
        async let loading: Void = list.send(.load)
        let question = try #require(await feed.nextQuestion())
        var observer = list.states.makeAsyncIterator()
        #expect(await observer.next() == .loading(lastGood: nil))
        let page = try FeedPage.example([1])
        async let answering: Void = {
            await question.isCancelled()
            question.answer(.success(page))
        }()
        await list.close()
        #expect(feed.answered == 1)
        #expect(list.state == .failed(closed, lastGood: nil))
        // An answer that arrives after closing began is not shown.
        #expect(await observer.next() == nil)
        await answering
        try await loading
    }

    @Test func closedListRejectsIntentsAndShowsNoPosts() async throws {
        let list = try await makeLoadedList()
        await list.close()
        await list.close()
        for intent in [PostListIntent.load, .refresh, .filter("a"), .loadMore] {
            await #expect(throws: closed) { try await list.send(intent) }
        }
        #expect(list.state == .failed(closed, lastGood: nil))
        #expect(feed.answered == 1)
    }

    @Test func observerIsRemovedWhenItStopsObserving() async throws {
        let list = makeList()
        for _ in 1...10 { _ = list.states }
        #expect(list.observerCount == 0)
        let kept = list.states
        await withTaskGroup { group in
            group.addTask {
                for await _ in list.states {}
            }
            group.cancelAll()
        }
        #expect(list.observerCount == 1)
        await list.close()
        for await _ in kept {}
        #expect(list.observerCount == 0)
    }

    /// A change wakes observers while others are cancelled, which both take locks.
    @Test func observersMayLeaveWhileTheStateChanges() async throws {
        let page = try FeedPage.example([9], next: 9)
        let list = PostListViewModel { _, _ throws(ReadFeedError) in page }
        async let changing: Void = {
            for _ in 1...2_000 { try await list.send(.load) }
        }()
        for _ in 1...500 {
            await withTaskGroup { group in
                for _ in 1...4 {
                    group.addTask {
                        for await _ in list.states {}
                    }
                }
                await Task.yield()
                group.cancelAll()
            }
        }
        try await changing
        #expect(list.observerCount == 0)
    }

    @Test func cancellationHandlerOfALoadMayReadTheList() async throws {
        let lists = AsyncStream.makeStream(of: PostListViewModel.self)
        let begun = Rendezvous(of: 2)
        let list = PostListViewModel { (query, policy) throws(ReadFeedError) in
            guard query.text == nil else { throw .cancelled }
            var iterator = lists.stream.makeAsyncIterator()
            let list = await iterator.next()
            let never = Rendezvous(of: 2)
            await begun.arrive()
            await withTaskCancellationHandler {
                await never.arrive()
            } onCancel: {
                _ = list?.state
            }
            throw .cancelled
        }
        lists.continuation.yield(list)
        async let loading: Void = list.send(.load)
        await begun.arrive()
        try await list.send(.filter("a"))
        try await loading
        #expect(list.state == .idle)
    }

    @Test func thousandTasksMaySendAndObserveConcurrently() async throws {
        let list = PostListViewModel { (query, _) throws(ReadFeedError) in
            guard let id = query.text.flatMap(Int.init), let page = try? FeedPage.example([id]) else {
                throw .cancelled
            }
            return page
        }
        let observers = (1...1_000).map { _ in list.states }
        try await withThrowingTaskGroup(of: PostListState?.self) { group -> Void in
            for states in observers {
                group.addTask {
                    var last: PostListState?
                    for await state in states { last = state }
                    return last
                }
            }
            try await withThrowingTaskGroup(of: Void.self) { senders in
                for number in 1...1_000 {
                    senders.addTask { try await list.send(.filter(String(number))) }
                }
                try await senders.waitForAll()
            }
            let shown = list.state
            #expect(shown.posts?.rows.count == 1)
            #expect(shown == shown.posts.map(PostListState.loaded))
            await list.close()
            for try await last in group { #expect(last == shown) }
        }
        #expect(list.observerCount == 0)
    }
}
