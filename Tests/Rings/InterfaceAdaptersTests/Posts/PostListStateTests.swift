import InterfaceAdapters
import Testing

struct PostListStateTests {
    private let failure = FailureViewModel("It failed", advice: "Wait.")

    private func posts() throws -> FeedViewModel { FeedPresenter().present(try .example([3, 2])) }

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
        #expect(PostListState.idle.document.blocks == [.paragraph("No posts have been asked for.")])
        #expect(PostListState.loading(lastGood: nil).document.blocks == [.paragraph("Asking for posts …")])
        #expect(PostListState.failed(failure, lastGood: nil).document.blocks == [.paragraph("It failed. Wait.")])
    }

    @Test func theRemarkStandsBehindThePosts() throws {
        let posts = try posts()
        for (state, remark) in [
            (PostListState.loaded(posts), "Read 2 posts (from upstream)."),
            (.loading(lastGood: posts), "Asking for posts …"),
            (.failed(failure, lastGood: posts), "It failed. Wait. Above is what came last."),
        ] {
            #expect(state.document.blocks == posts.document.blocks + [.paragraph(remark)])
        }
    }

    @Test func theDocumentIsCalledTheSameWithAndWithoutPosts() throws {
        #expect(PostListState.idle.document.title == "Feed")
        #expect(PostListState.loaded(try posts()).document.title == "Feed")
    }
}
