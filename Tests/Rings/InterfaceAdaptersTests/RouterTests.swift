import Entities
import InterfaceAdapters
import Testing
import UseCases

struct RouterTests {
    private let destinations: [Destination] = [
        .users, .user(User.ID(-7)), .feed(after: FeedCursor(after: Post.ID(61))),
    ]

    private func texts(_ router: any Router) -> [String?] { destinations.map { router.link(to: $0)?.text } }

    @Test func commandRouterPrefixesTheOption() {
        #expect(texts(CommandRouter(option: "--open")) == ["--open users", "--open users/-7", "--open posts/after/61"])
    }

    @Test(arguments: [
        ("/", "/"), ("", "/"), ("/app", "/app/"), ("/app/", "/app/"),
        ("https://upstream.test", "https://upstream.test/"),
    ])
    func pathRouterPrefixesTheRoot(root: String, prefix: String) {
        #expect(texts(PathRouter(root: root)) == ["users", "users/-7", "posts/after/61"].map { prefix + $0 })
    }

    @Test func pathRouterUsesTheTopLevelByDefault() {
        #expect(texts(PathRouter()) == ["/users", "/users/-7", "/posts/after/61"])
    }

    @Test func nullRouterHasNoLinks() {
        #expect(texts(NullRouter()) == [nil, nil, nil])
    }
}
