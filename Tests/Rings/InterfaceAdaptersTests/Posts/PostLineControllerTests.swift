import Entities
import InterfaceAdapters
import InwardCore
import Testing
import UseCases
import UseCasesTesting

struct PostLineControllerTests {
    private let posts = InMemoryPostRepository()
    private let users: InMemoryUserRepository
    private let publishPost: PublishPost
    private let unitOfWork = InMemoryUnitOfWork()

    init() throws {
        users = InMemoryUserRepository([try .example(7)])
        publishPost = PublishPost(posts: posts, users: users, titlesUnderWay: TitleReservations())
    }

    private var publishLine: PostLineController {
        PostLineController(
            publishPost: publishPost,
            announceWebsite: AnnounceWebsite(
                posts: posts,
                users: users,
                titlesUnderWay: TitleReservations(),
                unitOfWork: unitOfWork
            )
        )
    }

    private func publish(_ line: String) async throws -> PublishedPostViewModel {
        try await publishLine(Array(line.utf8))
    }

    @Test func postInALineIsPublished() async throws {
        let published = try await publish(#" {"body": "On \"it\".", "title": "Notes", "userId": 7, "more": 1} "#)
        let post = try #require(try await posts.posts(.cacheFirst).value.first)
        #expect(post.title == "Notes" && post.body == #"On "it"."# && post.authorID == User.ID(7))
        #expect(published.id == post.id.rawValue && published.pendingID == nil)
        #expect(published.line == "Published as post \(post.id) of user 7: Notes")
    }

    @Test(arguments: [
        ("nonsense", "it is not valid JSON; it begins with “nonsense”"),
        // Of a long line, the error shows the first 80 bytes.
        (
            String(repeating: "😀", count: 30),
            "it is not valid JSON; it begins with “\(String(repeating: "😀", count: 20))”"
        ),
        ("[1]", "it is not an object"),
        (#"{"title": "a", "body": "b"}"#, "its field “userId” is missing"),
        (#"{"userId": "7", "title": "a", "body": "b"}"#, "its field “userId” is not a whole number"),
        (#"{"userId": 7, "title": "a", "body": null}"#, "its field “body” is null"),
    ])
    func invalidLineIsReportedWithTheProblem(line: String, problem: String) async throws {
        let failure = await #expect(throws: FailureViewModel.self) { try await publish(line) }
        #expect(failure?.summary == "This is not a post: \(problem)")
        #expect(failure?.advice?.contains(#""userId": 7"#) == true)
        #expect(try await posts.posts(.cacheFirst).value.isEmpty)
    }

    private let moved = #"{"userId": 7, "title": "Moved", "body": "See there.", "website": "ada.example.org"}"#

    @Test func websiteInALineIsAcceptedWithThePost() async throws {
        let accepted = try await publish(moved)
        #expect(accepted.line == "Accepted with the website ada.example.org of user 7: Moved")
        #expect(accepted.id == nil && accepted.pendingID == nil && accepted.website == "ada.example.org")
        #expect(try await users.user(User.ID(7), .cacheFirst).value.website == "ada.example.org")
        #expect(try await posts.posts(.cacheFirst).value.map(\.title) == ["Moved"])
        #expect(unitOfWork.commits.count == 1)
    }

    @Test func websiteIsRejectedWithoutAnOutbox() async throws {
        let publishLine = PostLineController(publishPost: publishPost)
        let failure = await #expect(throws: FailureViewModel.self) { try await publishLine(Array(moved.utf8)) }
        #expect(
            failure?.line == """
                The post was not published: it cannot be accepted together with a website. Name a directory with --store, \
                or leave out the website.
                """
        )
        #expect(try await posts.posts(.cacheFirst).value.isEmpty)
    }

    @Test func announcementFailureIsPresentedLikeAPublishingFailure() async throws {
        let presenter = PublishedPostPresenter()
        let blank = await #expect(throws: FailureViewModel.self) {
            try await publish(#"{"userId": 7, "title": "Moved", "body": "b", "website": " "}"#)
        }
        #expect(blank?.line == "The post was not published. Its website must not be blank.")
        let unknown = await #expect(throws: FailureViewModel.self) {
            try await publish(#"{"userId": 77, "title": "Moved", "body": "b", "website": "x"}"#)
        }
        #expect(unknown == presenter.present(.unknownAuthor(User.ID(77))))
    }

    @Test func overlongLineIsReportedWithTheLimit() async {
        let failure = await #expect(throws: FailureViewModel.self) { try await publishLine(nil) }
        #expect(failure?.line == "This is not a post: it is longer than 1048576 bytes. Write one post per line.")
    }

    @Test func publishingFailureIsPresented() async throws {
        let failure = await #expect(throws: FailureViewModel.self) {
            try await publish(#"{"userId": 77, "title": "Notes", "body": "b"}"#)
        }
        #expect(failure == PublishedPostPresenter().present(.unknownAuthor(User.ID(77))))
    }
}
