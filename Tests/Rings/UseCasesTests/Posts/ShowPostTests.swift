import Entities
import InwardCore
import TestSupport
import Testing
import UseCases
import UseCasesTesting

struct ShowPostTests {
    private let posts: InMemoryPostRepository
    private let showPost: ShowPost

    init() throws {
        posts = InMemoryPostRepository([try .example(1), try .example(2)])
        showPost = ShowPost(posts: posts)
    }

    @Test func postIsShownWithItsProvenance() async throws {
        let reading = try await showPost(Post.ID(2))
        #expect(try reading.value == .example(2))
        #expect(!reading.isPending)
        posts.holdWrites()
        _ = try await posts.update(Post.ID(2)) { _ in }
        #expect(try await showPost(Post.ID(2)).isPending)
    }

    @Test func policyIsThatOfTheCaller() async {
        let repository = PolicyRecordingRepository()
        _ = try? await ShowPost(posts: repository)(Post.ID(1))
        _ = try? await ShowPost(posts: repository)(Post.ID(1), .upstreamOnly)
        #expect(repository.policies == [.cacheFirst, .upstreamOnly])
    }

    @Test(arguments: RepositoryError.allReasons) func failuresKeepTheirCause(reason: RepositoryError.Reason) async {
        let error = RepositoryError.example(reason)
        posts.fail(with: error)
        let expected: ShowPostError =
            switch reason {
            case .cancelled: .cancelled
            case .notFound: .notFound(Post.ID(1))
            case .denied: .denied(error)
            case .unreadable: .unreadable(error)
            default: .unavailable(error)
            }
        await #expect(throws: expected) { try await showPost(Post.ID(1)) }
    }
}
