import Entities
import InwardCore
import InwardTesting
import TestSupport
import Testing
import UseCases
import UseCasesTesting

struct ShowUserTests {
    @Test func userIsShownWithTheNewestPostsFirst() async throws {
        let posts = try [Post.example(2, by: 1), .example(9, by: 1), .example(5, by: 2), .example(4, by: 1)]
        let showUser = ShowUser(users: InMemoryUserRepository([try .example(1)]), posts: InMemoryPostRepository(posts))
        let profile = try await showUser(User.ID(1))
        #expect(profile.user.value.id == User.ID(1))
        #expect(try profile.posts.get().value.map(\.id.rawValue) == [9, 4, 2])
    }

    @Test func unknownUserIsNotFound() async {
        let showUser = ShowUser(users: InMemoryUserRepository(), posts: InMemoryPostRepository())
        await #expect(throws: ShowUserError.notFound(User.ID(7))) { try await showUser(User.ID(7)) }
    }

    @Test func userIsShownWithTheErrorIfPostsAreUnavailable() async throws {
        let failure = RepositoryError.example(.unavailable)
        let posts = InMemoryPostRepository(failure: failure)
        let profile = try await ShowUser(users: InMemoryUserRepository([try .example(1)]), posts: posts)(User.ID(1))
        #expect(profile.user.value.id == User.ID(1))
        #expect(profile.posts == .failure(failure))
    }

    @Test(.timeLimit(.minutes(5)))
    func userAndPostsAreRequestedConcurrently() async throws {
        let meeting = Rendezvous(of: 2)
        let showUser = ShowUser(
            users: MeetingUserRepository(base: InMemoryUserRepository([try .example(1)]), meeting: meeting),
            posts: MeetingPostRepository(base: InMemoryPostRepository([try .example(1)]), meeting: meeting)
        )
        #expect(try await showUser(User.ID(1)).posts.get().value.count == 1)
    }

    @Test func policyIsPassedToBothRepositories() async {
        let repository = PolicyRecordingRepository()
        _ = try? await ShowUser(users: repository, posts: InMemoryPostRepository())(User.ID(1), .upstreamOnly)
        #expect(repository.policies == [.upstreamOnly])
        _ = try? await ShowUser(users: try InMemoryUserRepository([.example(1)]), posts: repository)(
            User.ID(1),
            .upstreamOnly
        )
        #expect(repository.policies == [.upstreamOnly, .upstreamOnly])
    }

    @Test(arguments: RepositoryError.allReasons)
    func everyErrorOfReadingUsersIsTranslated(reason: RepositoryError.Reason) async throws {
        let cause = RepositoryError.example(reason)
        let expected: ShowUserError =
            switch reason {
            case .cancelled: .cancelled
            case .notFound: .notFound(User.ID(1))
            case .denied: .denied(cause)
            case .unreadable: .unreadable(cause)
            default: .unavailable(cause)
            }
        let showUser = ShowUser(users: InMemoryUserRepository(failure: cause), posts: InMemoryPostRepository())
        await #expect(throws: expected) { try await showUser(User.ID(1)) }
    }

    @Test func cancelledReadOfPostsThrows() async throws {
        let posts = InMemoryPostRepository(failure: .example(.cancelled))
        let showUser = ShowUser(users: InMemoryUserRepository([try .example(1)]), posts: posts)
        await #expect(throws: ShowUserError.cancelled) { try await showUser(User.ID(1)) }
    }
}
