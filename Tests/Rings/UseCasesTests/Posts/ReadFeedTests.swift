import Entities
import InwardCore
import InwardTesting
import TestSupport
import Testing
import UseCases
import UseCasesTesting

struct ReadFeedTests {
    private func feed(
        posts: [Post],
        users: [User] = [],
        usersFailure: RepositoryError? = nil
    ) -> ReadFeed {
        ReadFeed(
            posts: InMemoryPostRepository(posts),
            users: InMemoryUserRepository(users, failure: usersFailure)
        )
    }

    @Test func newestPostsComeFirstWithTheirAuthors() async throws {
        let ada = try User.example(1, name: "Ada")
        let bob = try User.example(2, name: "Bob")
        let posts = try [Post.example(1, by: 1), .example(3, by: 2), .example(2, by: 1)]
        let page = try await feed(posts: posts, users: [ada, bob])()
        #expect(page.entries.map(\.post.id.rawValue) == [3, 2, 1])
        #expect(page.entries.map(\.author) == [.known(bob), .known(ada), .known(ada)])
        #expect(page.total == 3)
        #expect(page.next == nil)
        #expect(page.postsRead == Reading(3, origin: .memory))
        #expect(page.usersRead == .success(Reading(2, origin: .memory)))
    }

    @Test func postOfAnUnknownAuthorIsMarked() async throws {
        let page = try await feed(posts: [.example(1, by: 77)], users: [.example(1)])()
        #expect(page.entries.map(\.author) == [.unknown(User.ID(77))])
    }

    @Test func feedWithoutUsersIsDegradedAndNamesTheError() async throws {
        let failure = RepositoryError.example(.unavailable)
        let page = try await feed(posts: [.example(1, by: 7)], usersFailure: failure)()
        #expect(page.entries.map(\.author) == [.unavailable(User.ID(7))])
        #expect(page.usersRead == .failure(failure))
    }

    @Test func duplicateUserIdentitiesAreTolerated() async throws {
        let users = try [User.example(1, name: "First"), .example(1, name: "Second")]
        let page = try await feed(posts: [.example(1, by: 1)], users: users)()
        #expect(page.entries.map(\.author) == [.known(users[0])])
    }

    @Test(.timeLimit(.minutes(5)), arguments: [nil, User.ID(1)])
    func postsAndUsersAreRequestedConcurrently(author: User.ID?) async throws {
        let meeting = Rendezvous(of: 2)
        let readFeed = ReadFeed(
            posts: MeetingPostRepository(base: InMemoryPostRepository([try .example(1)]), meeting: meeting),
            users: MeetingUserRepository(base: InMemoryUserRepository([try .example(1)]), meeting: meeting)
        )
        #expect(try await readFeed(FeedQuery(author: author)).entries.count == 1)
    }

    @Test func feedOfAnAuthorHasOnlyTheirPosts() async throws {
        let posts = try (1...6).map { try Post.example($0, by: $0 % 2) }
        let page = try await feed(posts: posts, users: [.example(1)])(FeedQuery(author: User.ID(1)))
        #expect(page.entries.map(\.post.id.rawValue) == [5, 3, 1])
        #expect(page.total == 3)
    }

    @Test func textIsFoundInTitlesAndBodiesIgnoringCase() async throws {
        let posts = try [
            Post.example(1, title: "Über Engines"), .example(2, body: "an engine, of sorts"),
            .example(3, title: "Other"),
        ]
        let readFeed = feed(posts: posts)
        #expect(try await readFeed(FeedQuery(text: "ENGINE")).entries.map(\.post.id.rawValue) == [2, 1])
        #expect(try await readFeed(FeedQuery(text: "über")).entries.map(\.post.id.rawValue) == [1])
        #expect(try await readFeed(FeedQuery(text: "")).total == 3)
        #expect(try await readFeed(FeedQuery(text: "nowhere")).entries.isEmpty)
    }

    @Test func cursorsLeadThroughAllPages() async throws {
        let readFeed = feed(posts: try (1...7).map { try Post.example($0) })
        var query = FeedQuery(pageSize: 3)
        var pages: [[Int]] = []
        repeat {
            let page = try await readFeed(query)
            pages.append(page.entries.map(\.post.id.rawValue))
            #expect(page.total == 7)
            query.cursor = page.next
        } while query.cursor != nil
        #expect(pages == [[7, 6, 5], [4, 3, 2], [1]])
    }

    @Test func fullLastPageHasNoCursor() async throws {
        let page = try await feed(posts: [.example(1), .example(2)])(FeedQuery(pageSize: 2))
        #expect(page.next == nil)
    }

    @Test func postPublishedDuringPagingShiftsNoEntry() async throws {
        let posts = InMemoryPostRepository(try (1...4).map { try Post.example($0) })
        let readFeed = ReadFeed(posts: posts, users: InMemoryUserRepository())
        let first = try await readFeed(FeedQuery(pageSize: 2))
        _ = try await posts.publish(PostDraft(authorID: User.ID(1), title: "New", body: "New"))
        let second = try await readFeed(FeedQuery(cursor: first.next, pageSize: 2))
        #expect(first.entries.map(\.post.id.rawValue) == [4, 3])
        #expect(second.entries.map(\.post.id.rawValue) == [2, 1])
    }

    @Test func cursorSurvivesDeletionOfItsPostAndConversionToText() async throws {
        let cursor = try #require(FeedCursor(FeedCursor(after: Post.ID(3)).description))
        let page = try await feed(posts: [.example(1), .example(2), .example(4)])(FeedQuery(cursor: cursor))
        #expect(page.entries.map(\.post.id.rawValue) == [2, 1])
        #expect(FeedCursor("no cursor") == nil)
        #expect(FeedCursor("+3") == nil)
    }

    @Test(arguments: [1, 100]) func smallestAndLargestPageSizesAreAccepted(size: Int) async throws {
        let posts = try (1...101).map { try Post.example($0) }
        #expect(try await feed(posts: posts)(FeedQuery(pageSize: size)).entries.count == size)
    }

    @Test(arguments: [Int.min, -1, 0, 101, Int.max])
    func pageSizeOutOfRangeIsRejected(size: Int) async throws {
        await #expect(throws: ReadFeedError.pageSizeOutOfRange(size)) {
            try await feed(posts: [])(FeedQuery(pageSize: size))
        }
    }

    @Test func policyIsPassedToBothRepositories() async throws {
        let repository = PolicyRecordingRepository()
        _ = try await ReadFeed(posts: repository, users: repository)(FeedQuery(), .upstreamOnly)
        #expect(repository.policies == [.upstreamOnly, .upstreamOnly])
    }

    @Test(arguments: RepositoryError.allReasons)
    func everyErrorOfReadingPostsIsTranslated(reason: RepositoryError.Reason) async throws {
        let cause = RepositoryError.example(reason)
        let expected: ReadFeedError =
            switch reason {
            case .cancelled: .cancelled
            case .denied: .denied(cause)
            case .unreadable: .unreadable(cause)
            default: .unavailable(cause)
            }
        let readFeed = ReadFeed(posts: InMemoryPostRepository(failure: cause), users: InMemoryUserRepository())
        await #expect(throws: expected) { try await readFeed() }
    }

    @Test func cancelledReadOfUsersThrowsInsteadOfDegrading() async throws {
        await #expect(throws: ReadFeedError.cancelled) {
            try await feed(posts: [.example(1)], usersFailure: .example(.cancelled))()
        }
    }
}
