import Entities
import InwardCore
import InwardTesting
import TestSupport
import Testing
import UseCases
import UseCasesTesting

struct PublishPostTests {
    private let posts = InMemoryPostRepository()
    private let users: InMemoryUserRepository
    private let publishPost: PublishPost

    init() throws {
        users = InMemoryUserRepository([try .example(1), try .example(2)])
        publishPost = PublishPost(posts: posts, users: users, titlesUnderWay: TitleReservations())
    }

    private func titles() async throws -> [String] {
        try await posts.posts(.cacheFirst).value.map(\.title)
    }

    @Test func validPostIsPublished() async throws {
        let post = try await publishPost(title: " Notes ", body: "On the engine.", by: User.ID(1)).value
        #expect(post.title == "Notes")
        #expect(post.authorID == User.ID(1))
        #expect(try await posts.posts(.cacheFirst).value == [post])
    }

    @Test func invalidDraftIsNotPublished() async throws {
        await #expect(throws: PublishPostError.invalidDraft(.titleLength(0))) {
            try await publishPost(title: " ", body: "x", by: User.ID(1))
        }
        #expect(try await titles().isEmpty)
    }

    @Test func unknownAuthorCannotPublish() async throws {
        await #expect(throws: PublishPostError.unknownAuthor(User.ID(77))) {
            try await publishPost(title: "Notes", body: "x", by: User.ID(77))
        }
        #expect(try await titles().isEmpty)
    }

    @Test func authorCannotPublishATitleTwice() async throws {
        _ = try await publishPost(title: "Notes", body: "x", by: User.ID(1))
        await #expect(throws: PublishPostError.titleTaken("NOTES")) {
            try await publishPost(title: " NOTES", body: "other", by: User.ID(1))
        }
        _ = try await publishPost(title: "Notes", body: "x", by: User.ID(2))
        #expect(try await titles() == ["Notes", "Notes"])
    }

    @Test(.timeLimit(.minutes(5)))
    func onlyOneOfTwoConcurrentCallsPublishesATitle() async throws {
        // The first call waits in its check of the titles until this test arrives at the rendezvous.
        let meeting = Rendezvous(of: 2)
        let begun = Rendezvous(of: 2)
        let slowPosts = MeetingPostRepository(
            base: MeetingPostRepository(base: posts, meeting: meeting),
            meeting: begun
        )
        let publishPost = PublishPost(posts: slowPosts, users: users, titlesUnderWay: TitleReservations())
        async let first = publishPost(title: "Notes", body: "first", by: User.ID(1))
        await begun.arrive()
        await #expect(throws: PublishPostError.titleTaken("notes")) {
            try await publishPost(title: "notes", body: "second", by: User.ID(1))
        }
        // Another author can use the same title.
        async let other = publishPost(title: "Notes", body: "other", by: User.ID(2))
        await meeting.arrive()
        #expect(try await first.value.body == "first")
        #expect(try await other.value.body == "other")
        #expect(try await titles() == ["Notes", "Notes"])
    }

    @Test func titleIsReleasedWhenPublishingFails() async throws {
        posts.fail(with: .example(.unavailable))
        await #expect(throws: PublishPostError.unavailable(.example(.unavailable))) {
            try await publishPost(title: "Notes", body: "x", by: User.ID(1))
        }
        posts.fail(with: nil)
        _ = try await publishPost(title: "Notes", body: "x", by: User.ID(1))
        #expect(try await titles() == ["Notes"])
    }

    @Test(.timeLimit(.minutes(5)))
    func authorAndTitlesAreCheckedConcurrently() async throws {
        let meeting = Rendezvous(of: 2)
        let publishPost = PublishPost(
            posts: MeetingPostRepository(base: posts, meeting: meeting),
            users: MeetingUserRepository(base: users, meeting: meeting),
            titlesUnderWay: TitleReservations()
        )
        _ = try await publishPost(title: "Notes", body: "x", by: User.ID(1))
        #expect(try await titles() == ["Notes"])
    }

    @Test func rulesAreCheckedAgainstTheUpstreamFirst() async {
        let repository = PolicyRecordingRepository()
        let titles = TitleReservations()
        let asksForUsers = PublishPost(posts: posts, users: repository, titlesUnderWay: titles)
        _ = try? await asksForUsers(title: "Notes", body: "x", by: User.ID(1))
        #expect(repository.policies == [.upstreamFirst])
        let asksForPosts = PublishPost(posts: repository, users: users, titlesUnderWay: titles)
        _ = try? await asksForPosts(title: "Notes", body: "x", by: User.ID(1))
        #expect(repository.policies == [.upstreamFirst, .upstreamFirst])
    }

    private func expected(_ cause: RepositoryError) -> PublishPostError {
        switch cause.reason {
        case .cancelled: .cancelled
        case .denied: .denied(cause)
        case .refused, .conflict: .refused(cause)
        case .unreadable: .unreadable(cause)
        case .outcomeUnknown: .outcomeUnknown(cause)
        default: .unavailable(cause)
        }
    }

    @Test(arguments: RepositoryError.allReasons)
    func everyErrorOfReadingPostsIsTranslated(reason: RepositoryError.Reason) async throws {
        let cause = RepositoryError.example(reason)
        posts.fail(with: cause)
        await #expect(throws: expected(cause)) { try await publishPost(title: "Notes", body: "x", by: User.ID(1)) }
    }

    @Test(arguments: RepositoryError.allReasons.filter { $0 != .notFound })
    func everyErrorOfReadingUsersIsTranslated(reason: RepositoryError.Reason) async throws {
        let cause = RepositoryError.example(reason)
        users.fail(with: cause)
        await #expect(throws: expected(cause)) { try await publishPost(title: "Notes", body: "x", by: User.ID(1)) }
        #expect(try await titles().isEmpty)
    }

    @Test(arguments: RepositoryError.allReasons)
    func everyErrorOfPublishingIsTranslated(reason: RepositoryError.Reason) async throws {
        let cause = RepositoryError.example(reason)
        let publishPost = PublishPost(
            posts: UnwritablePostRepository(failure: cause),
            users: users,
            titlesUnderWay: TitleReservations()
        )
        await #expect(throws: expected(cause)) { try await publishPost(title: "Notes", body: "x", by: User.ID(1)) }
    }
}
