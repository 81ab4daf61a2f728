import InterfaceAdapters
import Testing

struct PostListStateTests {
    private let failure = FailureViewModel("It failed", advice: "Wait.")

    private func posts() throws -> FeedViewModel { FeedPresenter().present(try .example([3, 2])) }

    @Test func lastLoadedPostsStayOnDisplay() throws {
        let posts = try posts()
        #expect(PostListState.idle.posts == nil)
        #expect(PostListState.loading(lastGood: nil).posts == nil)
        #expect(PostListState.failed(failure, lastGood: nil).posts == nil)
        for state in [PostListState.loaded(posts), .loading(lastGood: posts), .failed(failure, lastGood: posts)] {
            #expect(state.posts == posts)
        }
    }

    @Test func documentWithoutPostsHasOnlyTheRemark() {
        #expect(PostListState.idle.document.blocks == [.paragraph("No posts have been loaded yet.")])
        #expect(PostListState.loading(lastGood: nil).document.blocks == [.paragraph("Loading posts …")])
        #expect(PostListState.failed(failure, lastGood: nil).document.blocks == [.paragraph("It failed. Wait.")])
    }

    @Test func remarkFollowsThePosts() throws {
        let posts = try posts()
        for (state, remark) in [
            (PostListState.loaded(posts), "Read 2 posts (from upstream)."),
            (.loading(lastGood: posts), "Loading posts …"),
            (.failed(failure, lastGood: posts), "It failed. Wait. The posts above are from the last successful load."),
        ] {
            #expect(state.document.blocks == posts.document.blocks + [.paragraph(remark)])
        }
    }

    @Test func documentTitleIsTheSameWithAndWithoutPosts() throws {
        #expect(PostListState.idle.document.title == "Feed")
        #expect(PostListState.loaded(try posts()).document.title == "Feed")
    }
}
