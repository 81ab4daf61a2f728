import Entities
import InterfaceAdapters
import InwardCore
import Testing
import UseCases
import UseCasesTesting

struct PostLineControllerTests {
    private let posts = InMemoryPostRepository()
    private let publishLine: PostLineController

    init() throws {
        let users = InMemoryUserRepository([try .example(7)])
        publishLine = PostLineController(
            publishPost: PublishPost(posts: posts, users: users, titlesUnderWay: TitleReservations())
        )
    }

    private func publish(_ line: String) async throws -> PublishedPostViewModel {
        try await publishLine(Array(line.utf8))
    }

    @Test func thePostOfALineIsPublished() async throws {
        let published = try await publish(#" {"body": "On \"it\".", "title": "Notes", "userId": 7, "more": 1} "#)
        let post = try #require(try await posts.posts(.cacheFirst).value.first)
        #expect(post.title == "Notes" && post.body == #"On "it"."# && post.authorID == User.ID(7))
        #expect(published.id == post.id.rawValue && published.pendingID == nil)
        #expect(published.line == "Published as post \(post.id) of user 7: Notes")
    }

    @Test(arguments: [
        ("nonsense", "it is no valid JSON; it begins with “nonsense”"),
        // Of a long text, the first 80 bytes.
        (
            String(repeating: "😀", count: 30),
            "it is no valid JSON; it begins with “\(String(repeating: "😀", count: 20))”"
        ),
        ("[1]", "it is not an object"),
        (#"{"title": "a", "body": "b"}"#, "its field “userId” is missing"),
        (#"{"userId": "7", "title": "a", "body": "b"}"#, "its field “userId” is not a whole number"),
        (#"{"userId": 7, "title": "a", "body": null}"#, "its field “body” is null"),
    ])
    func whatIsNoPostIsToldWithWhatIsWrong(line: String, problem: String) async throws {
        let failure = await #expect(throws: FailureViewModel.self) { try await publish(line) }
        #expect(failure?.summary == "This is no post: \(problem)")
        #expect(failure?.advice?.contains(#""userId": 7"#) == true)
        #expect(try await posts.posts(.cacheFirst).value.isEmpty)
    }

    @Test func aLineThatIsTooLongIsToldWithTheLimit() async {
        let failure = await #expect(throws: FailureViewModel.self) { try await publishLine(nil) }
        #expect(failure?.line == "This is no post: it is longer than 1048576 bytes. Write one post a line.")
    }

    @Test func whatIsNotPublishedIsToldAsEver() async throws {
        let failure = await #expect(throws: FailureViewModel.self) {
            try await publish(#"{"userId": 77, "title": "Notes", "body": "b"}"#)
        }
        #expect(failure == PublishedPostPresenter().present(.unknownAuthor(User.ID(77))))
    }
}
