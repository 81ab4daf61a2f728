import InterfaceAdapters
import InwardCore
import InwardTesting
import Synchronization
import Testing
import UseCases

@Suite(.timeLimit(.minutes(5)))
struct PostListRefreshingTests {
    private let clock = ManualClock()
    private let interval = Duration.seconds(30)

    /// A feed that records the policy of each read, and fails every second one.
    private final class FailingFeed: Sendable {
        private let read = Mutex<[ReadPolicy]>([])
        var policies: [ReadPolicy] { read.withLock(\.self) }

        func page(_ policy: ReadPolicy) throws(ReadFeedError) -> FeedPage {
            let count = read.withLock { policies in
                policies.append(policy)
                return policies.count
            }
            guard count % 2 == 1, let page = try? FeedPage.example([count]) else { throw .pageSizeOutOfRange(0) }
            return page
        }
    }

    private let feed = FailingFeed()

    private func makeList() -> PostListViewModel {
        PostListViewModel { [feed] (_, policy) throws(ReadFeedError) in try feed.page(policy) }
    }

    @Test func postsAreLoadedAndThenRefreshedAfterEachInterval() async throws {
        let list = makeList()
        try await withThrowingTaskGroup { group in
            group.addTask { try await list.keepRefreshing(every: interval, on: clock) }
            await clock.sleepers(1)
            #expect(feed.policies == [.cacheFirst])
            #expect(list.state.posts?.rows.map(\.id) == [1])
            clock.advance(by: interval - .nanoseconds(1))
            await clock.sleepers(1)
            #expect(feed.policies == [.cacheFirst])
            clock.advance(by: .nanoseconds(1))
            await clock.sleepers(1)
            #expect(feed.policies == [.cacheFirst, .upstreamOnly])
            #expect(list.state.posts != nil)
            #expect(list.state != list.state.posts.map(PostListState.loaded))
            clock.advance(by: interval)
            await clock.sleepers(1)
            #expect(feed.policies == [.cacheFirst, .upstreamOnly, .upstreamOnly])
            #expect(list.state.posts?.rows.map(\.id) == [3])
            // Cancellation ends it without an error.
            group.cancelAll()
            try await group.waitForAll()
        }
        #expect(feed.policies.count == 3)
    }

    @Test func refreshingEndsWhenTheListIsClosed() async throws {
        let list = makeList()
        await withTaskGroup { group in
            group.addTask {
                let error = await #expect(throws: FailureViewModel.self) {
                    try await list.keepRefreshing(every: interval, on: clock)
                }
                #expect(error?.summary == "The list of posts is closed")
            }
            await clock.sleepers(1)
            await list.close()
            clock.advance(by: interval)
        }
        #expect(feed.policies == [.cacheFirst])
        await #expect(throws: FailureViewModel.self) { try await list.keepRefreshing(every: interval, on: clock) }
    }
}
