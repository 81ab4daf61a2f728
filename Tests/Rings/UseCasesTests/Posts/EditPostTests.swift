import Entities
import InwardCore
import InwardTesting
import TestSupport
import Testing
import UseCases
import UseCasesTesting

struct EditPostTests {
    private let posts: InMemoryPostRepository
    private let editPost: EditPost

    init() throws {
        posts = InMemoryPostRepository([
            try .example(1, by: 1, title: "Notes", body: "First"), try .example(2, by: 1, title: "Tea", body: "Second"),
            try .example(3, by: 2, title: "Rain", body: "Third"),
        ])
        editPost = EditPost(posts: posts, titlesUnderWay: TitleReservations())
    }

    private func post(_ id: Int) async throws -> Post { try await posts.post(Post.ID(id), .cacheFirst).value }

    @Test func onlyWhatIsGivenChanges() async throws {
        let body = try await editPost(Post.ID(1), body: " Other ").value
        #expect(try body == .example(1, by: 1, title: "Notes", body: "Other"))
        let title = try await editPost(Post.ID(1), title: " Letters ").value
        #expect(try title == .example(1, by: 1, title: "Letters", body: "Other"))
        #expect(try await post(1) == title)
    }

    @Test func heldChangeIsPending() async throws {
        posts.holdWrites()
        #expect(try await editPost(Post.ID(1), body: "Other").isPending)
    }

    @Test func missingPostCannotBeChanged() async {
        await #expect(throws: ChangePostError.notFound(Post.ID(9))) { try await editPost(Post.ID(9), body: "Other") }
    }

    @Test func resultFollowsTheRulesOfDrafts() async throws {
        await #expect(throws: ChangePostError.invalidDraft(.titleLength(0))) {
            try await editPost(Post.ID(1), title: " ")
        }
        await #expect(throws: ChangePostError.invalidDraft(.bodyLength(0))) { try await editPost(Post.ID(1), body: "") }
        #expect(try await post(1).body == "First")
    }

    @Test func titleOfAnotherPostOfTheAuthorIsTaken() async throws {
        await #expect(throws: ChangePostError.titleTaken("TEA")) { try await editPost(Post.ID(1), title: "TEA") }
        #expect(try await post(1).title == "Notes")
        // The post's own title in another case, and the title of another author's post.
        #expect(try await editPost(Post.ID(1), title: "NOTES").value.title == "NOTES")
        #expect(try await editPost(Post.ID(1), title: "Rain").value.title == "Rain")
    }

    @Test func titleThatIsBeingPublishedIsTaken() async throws {
        let titles = TitleReservations()
        let users = InMemoryUserRepository([try .example(1)])
        let (meeting, begun) = (Rendezvous(of: 2), Rendezvous(of: 2))
        let slowPosts = MeetingPostRepository(
            base: MeetingPostRepository(base: posts, meeting: meeting),
            meeting: begun
        )
        let publishPost = PublishPost(posts: slowPosts, users: users, titlesUnderWay: titles)
        async let published = publishPost(title: "Letters", body: "x", by: User.ID(1))
        await begun.arrive()
        let editPost = EditPost(posts: posts, titlesUnderWay: titles)
        await #expect(throws: ChangePostError.titleTaken("letters")) {
            try await editPost(Post.ID(1), title: "letters")
        }
        await meeting.arrive()
        _ = try await published
        #expect(try await post(1).title == "Notes")
    }

    @Test func reservedTitleIsReleased() async throws {
        posts.conflictOnNextEdit(with: try .example(1, by: 1, title: "Notes", body: "Theirs"))
        await #expect(throws: ChangePostError.self) { try await editPost(Post.ID(1), title: "Letters") }
        #expect(try await editPost(Post.ID(1), title: "Letters").value.title == "Letters")
    }

    @Test func anotherVersionThanExpectedIsNotChanged() async throws {
        let current = try await post(1)
        await #expect(throws: ChangePostError.changedElsewhere(current)) {
            try await editPost(Post.ID(1), body: "Other") { $0.body == "Zeroth" }
        }
        #expect(try await post(1) == current)
    }

    @Test func versionThatAppearsAfterTheCheckIsNotChanged() async throws {
        let theirs = try Post.example(1, by: 1, title: "Notes", body: "Theirs")
        await #expect(throws: ChangePostError.changedElsewhere(theirs)) {
            try await editPost(Post.ID(1), body: "Mine") { [posts] post in
                guard post.body == "First" else { return false }
                // The condition is true for this version, and then there is another one.
                posts.put(theirs)
                return true
            }
        }
        #expect(try await post(1) == theirs)
    }

    @Test func conflictReturnsTheOtherVersion() async throws {
        let theirs = try Post.example(1, by: 1, title: "Notes", body: "Theirs")
        posts.conflictOnNextEdit(with: theirs)
        await #expect(throws: ChangePostError.changedElsewhere(theirs)) {
            try await editPost(Post.ID(1), body: "Mine")
        }
        posts.conflictOnNextEdit(with: nil)
        await #expect(throws: ChangePostError.changedElsewhere(nil)) { try await editPost(Post.ID(1), body: "Mine") }
    }

    @Test(arguments: RepositoryError.allReasons) func failuresKeepTheirCause(reason: RepositoryError.Reason) async {
        let error = RepositoryError.example(reason)
        posts.fail(with: error)
        let expected: ChangePostError =
            switch error.reason {
            case .cancelled: .cancelled
            case .notFound: .notFound(Post.ID(1))
            case .conflict: .changedElsewhere(nil)
            case .denied: .denied(error)
            case .refused: .refused(error)
            case .unreadable: .unreadable(error)
            case .outcomeUnknown: .outcomeUnknown(error)
            default: .unavailable(error)
            }
        await #expect(throws: expected) { try await editPost(Post.ID(1), title: "Letters") }
        await #expect(throws: expected) { try await DeletePost(posts: posts)(Post.ID(1)) }
    }

    @Test func postIsReadFromTheSource() async {
        let repository = PolicyRecordingRepository()
        _ = try? await EditPost(posts: repository, titlesUnderWay: TitleReservations())(Post.ID(1), body: "x")
        _ = try? await DeletePost(posts: repository)(Post.ID(1))
        #expect(repository.policies == [.upstreamFirst, .upstreamFirst])
    }
}
