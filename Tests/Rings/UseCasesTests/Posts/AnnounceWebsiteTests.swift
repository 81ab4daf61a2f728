import Entities
import InwardCore
import InwardTesting
import TestSupport
import Testing
import UseCases
import UseCasesTesting

struct AnnounceWebsiteTests {
    private let posts = InMemoryPostRepository()
    private let users: InMemoryUserRepository
    private let unitOfWork = InMemoryUnitOfWork()
    private let titlesUnderWay = TitleReservations()

    init() throws {
        users = InMemoryUserRepository([try .example(1), try .example(2)])
    }

    private func announceWebsite(over posts: (any PostRepository)? = nil) -> AnnounceWebsite {
        AnnounceWebsite(
            posts: posts ?? self.posts,
            users: users,
            titlesUnderWay: titlesUnderWay,
            unitOfWork: unitOfWork
        )
    }

    @discardableResult
    private func announce(_ website: String, title: String = "Moved", by author: Int = 1) async throws -> PostDraft {
        try await announceWebsite()(website, title: title, body: "See there.", by: User.ID(author))
    }

    private func website(of user: Int = 1) async throws -> String {
        try await users.user(User.ID(user), .cacheFirst).value.website
    }

    private func titles() async throws -> [String] {
        try await posts.posts(.cacheFirst).value.map(\.title)
    }

    @Test func websiteAndPostAreCommittedTogether() async throws {
        let draft = try await announce("ada.example.org", title: " Moved ")
        let expected = try PostDraft(authorID: User.ID(1), title: "Moved", body: "See there.")
        #expect(draft == expected)
        #expect(try await website() == "ada.example.org")
        #expect(try await website(of: 2) == "")
        #expect(try await posts.posts(.cacheFirst).value == [draft.published(as: Post.ID(1))])
        #expect(unitOfWork.commits == [["the profile of user 1", "the publication of “Moved”"]])
    }

    @Test func unchangedWebsiteIsNotCommitted() async throws {
        try await announce("ada.example.org")
        try await announce("ada.example.org", title: "Still there")
        #expect(unitOfWork.commits.last == ["the publication of “Still there”"])
    }

    @Test(arguments: ["", " \n"]) func blankWebsiteIsRejected(blank: String) async throws {
        await #expect(throws: AnnounceWebsiteError.blankWebsite) { try await announce(blank) }
        #expect(unitOfWork.commits.isEmpty)
    }

    @Test func rejectedPostLeavesTheWebsiteUnchanged() async throws {
        try await announce("ada.example.org")
        await #expect(throws: AnnounceWebsiteError.notPublished(.titleTaken("MOVED"))) {
            try await announce("other.example.org", title: "MOVED")
        }
        await #expect(throws: AnnounceWebsiteError.notPublished(.invalidDraft(.titleLength(0)))) {
            try await announce("other.example.org", title: " ")
        }
        await #expect(throws: AnnounceWebsiteError.notPublished(.unknownAuthor(User.ID(77)))) {
            try await announce("other.example.org", by: 77)
        }
        #expect(unitOfWork.commits.count == 1)
        #expect(try await website() == "ada.example.org")
    }

    @Test(arguments: [
        (UnitOfWorkError.Reason.cancelled, RepositoryError.Reason.cancelled), (.closed, .closed), (.denied, .denied),
        (.full, .unavailable), (.unavailable, .unavailable), (.foreign, .unavailable),
    ])
    func failedCommitChangesNothingAndReleasesTheTitle(
        reason: UnitOfWorkError.Reason,
        expected: RepositoryError.Reason
    ) async throws {
        unitOfWork.failNextCommit(with: UnitOfWorkError(reason, explanation: "Nothing was changed: the disk is full."))
        let error = await #expect(throws: AnnounceWebsiteError.self) { try await announce("ada.example.org") }
        switch error {
        case .notPublished(.cancelled): #expect(expected == .cancelled)
        case .notPublished(.denied(let cause)), .notPublished(.unavailable(let cause)):
            #expect(cause.reason == expected)
            let sentences = "The post and the website were not accepted. Nothing was changed: the disk is full"
            #expect(cause.description.hasPrefix(sentences))
            #expect(cause.canRetry == [.full, .unavailable].contains(reason))
        default: Issue.record("\(String(describing: error))")
        }
        #expect(try await website() == "")
        #expect(try await titles().isEmpty)
        try await announce("ada.example.org")
        #expect(try await titles() == ["Moved"])
    }

    @Test(arguments: RepositoryError.allReasons)
    func postThatCannotBePreparedChangesNothing(reason: RepositoryError.Reason) async throws {
        let announceWebsite = announceWebsite(over: UnwritablePostRepository(failure: .example(reason)))
        await #expect(throws: AnnounceWebsiteError.self) {
            try await announceWebsite("ada.example.org", title: "Moved", body: "x", by: User.ID(1))
        }
        #expect(try await website() == "")
        #expect(unitOfWork.commits.isEmpty)
    }

    @Test(.timeLimit(.minutes(5)))
    func titleThatIsBeingPublishedIsTaken() async throws {
        let (begun, meeting) = (Rendezvous(of: 2), Rendezvous(of: 2))
        let publishPost = PublishPost(
            posts: MeetingPostRepository(
                base: MeetingPostRepository(base: posts, meeting: meeting),
                meeting: begun
            ),
            users: users,
            titlesUnderWay: titlesUnderWay
        )
        async let published = publishPost(title: "Moved", body: "first", by: User.ID(1))
        await begun.arrive()
        await #expect(throws: AnnounceWebsiteError.notPublished(.titleTaken("moved"))) {
            try await announce("ada.example.org", title: "moved")
        }
        await meeting.arrive()
        #expect(try await published.value.body == "first")
        #expect(unitOfWork.commits.isEmpty)
    }
}
