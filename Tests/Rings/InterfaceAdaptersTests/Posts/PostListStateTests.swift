import InterfaceAdapters
import Testing

struct PostListStateTests {
    private let failure = FailureViewModel("It failed", advice: "Wait.")

    private func posts() throws -> FeedViewModel { FeedPresenter().present(try .example([3, 2])) }

    private func text(_ state: PostListState) -> String { TextRenderer().render(state.document) }

    @Test func thePostsToBeSeenAreThoseThatCameLast() throws {
        let posts = try posts()
        #expect(PostListState.idle.posts == nil)
        #expect(PostListState.loading(lastGood: nil).posts == nil)
        #expect(PostListState.failed(failure, lastGood: nil).posts == nil)
        for state in [PostListState.loaded(posts), .loading(lastGood: posts), .failed(failure, lastGood: posts)] {
            #expect(state.posts == posts)
        }
    }

    @Test func withoutPostsTheRemarkIsAll() {
        #expect(text(.idle) == "No posts have been asked for.\n")
        #expect(text(.loading(lastGood: nil)) == "Asking for posts …\n")
        #expect(text(.failed(failure, lastGood: nil)) == "It failed. Wait.\n")
    }

    @Test func theRemarkStandsBehindThePosts() throws {
        let posts = try posts()
        let list = TextRenderer().render(posts.document)
        #expect(text(.loaded(posts)) == list + "\nRead 2 posts (from upstream).\n")
        #expect(text(.loading(lastGood: posts)) == list + "\nAsking for posts …\n")
        #expect(text(.failed(failure, lastGood: posts)) == list + "\nIt failed. Wait. Above is what came last.\n")
    }

    @Test func theDocumentIsCalledTheSameWithAndWithoutPosts() throws {
        #expect(PostListState.idle.document.title == "Feed")
        #expect(PostListState.loaded(try posts()).document.title == "Feed")
    }
}
