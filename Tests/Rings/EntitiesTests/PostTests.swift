import Entities
import Testing

struct PostTests {
    @Test(arguments: ["", " \n\t"])
    func blankTitlesAndBodiesAreRejected(blank: String) {
        #expect(throws: PostError.blankTitle) {
            try Post(id: Post.ID(1), authorID: User.ID(1), title: blank, body: "x")
        }
        #expect(throws: PostError.blankBody) {
            try Post(id: Post.ID(1), authorID: User.ID(1), title: "x", body: blank)
        }
    }

    @Test func postMayExceedTheLimitsOfADraft() throws {
        let title = String(repeating: "t", count: 500)
        #expect(try Post(id: Post.ID(1), authorID: User.ID(1), title: " \(title) ", body: " x ").title == title)
    }

    @Test(arguments: [
        ("x", "x"), ("~!", "~!"), (" x", "x"), ("x\r\n", "x"), ("\u{3000}x\u{A0}", "x"), ("!\u{2028}", "!"),
        ("\u{2028}!", "!"), ("e\u{301} ", "e\u{301}"), ("\u{E9} x", "\u{E9} x"), ("x \u{E9}", "x \u{E9}"),
    ])
    func surroundingWhitespaceIsNotPartOfAText(text: String, trimmed: String) throws {
        let post = try Post(id: Post.ID(1), authorID: User.ID(1), title: text, body: text)
        #expect(post.title == trimmed)
        #expect(post.body == trimmed)
    }

    @Test func laterPostsHaveGreaterIdentities() {
        #expect(Post.ID(9) < Post.ID(10))
        #expect(!(Post.ID(10) < Post.ID(9)))
        #expect(Post.ID(10).description == "10")
    }

    @Test func identityIsParsedFromItsDescription() {
        #expect(Post.ID(Post.ID(-10).description) == Post.ID(-10) && Post.ID("ten") == nil)
        #expect(User.ID(User.ID(7).description) == User.ID(7) && User.ID("") == nil)
    }
}
