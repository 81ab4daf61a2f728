import Entities
import Testing

struct PostDraftTests {
    private func draft(title: String = "Notes", body: String = "On the engine.") throws -> PostDraft {
        try PostDraft(authorID: User.ID(7), title: title, body: body)
    }

    @Test(arguments: [1, 120])
    func titlesWithinTheLengthLimitsAreAccepted(count: Int) throws {
        #expect(try draft(title: String(repeating: "é", count: count)).title.count == count)
    }

    @Test(arguments: [1, 5_000])
    func bodiesWithinTheLengthLimitsAreAccepted(count: Int) throws {
        #expect(try draft(body: String(repeating: "b", count: count)).body.count == count)
    }

    @Test(arguments: [0, 121])
    func titlesOutsideTheLengthLimitsAreRejected(count: Int) {
        #expect(throws: PostDraftError.titleLength(count)) { try draft(title: String(repeating: "t", count: count)) }
    }

    @Test(arguments: [0, 5_001])
    func bodiesOutsideTheLengthLimitsAreRejected(count: Int) {
        #expect(throws: PostDraftError.bodyLength(count)) { try draft(body: String(repeating: "b", count: count)) }
    }

    /// One character can consist of many bytes, for example with many combining marks.
    @Test func titlesAndBodiesHaveByteLimitsToo() throws {
        func text(ofBytes count: Int) -> String { "ab" + String(repeating: "\u{301}", count: (count - 2) / 2) }
        #expect(text(ofBytes: 65_536).count == 2)
        #expect(try draft(body: text(ofBytes: 65_536)).body.utf8.count == 65_536)
        #expect(throws: PostDraftError.bodyBytes(65_538)) { try draft(body: text(ofBytes: 65_538)) }
        #expect(try draft(title: text(ofBytes: 4_096)).title.utf8.count == 4_096)
        #expect(throws: PostDraftError.titleBytes(4_098)) { try draft(title: text(ofBytes: 4_098)) }
        #expect(PostDraftError.bodyBytes(65_538).description.contains("at most 65536 bytes, but this one has 65538"))
    }

    @Test func lengthIsMeasuredAfterTrimming() throws {
        let padding = String(repeating: " \n", count: 200)
        let draft = try draft(title: padding + "Notes" + padding, body: padding + "Body" + padding)
        #expect(draft.title == "Notes")
        #expect(draft.body == "Body")
        #expect(throws: PostDraftError.titleLength(0)) { try self.draft(title: padding) }
        #expect(throws: PostDraftError.bodyLength(0)) { try self.draft(body: padding) }
    }

    @Test func errorNamesTheLimitAndTheLength() {
        #expect(PostDraftError.titleLength(121).description.contains("1 to 120 characters, but this one has 121"))
        #expect(PostDraftError.bodyLength(0).description.contains("1 to 5000 characters, but this one has 0"))
    }

    @Test func publishedDraftBecomesAPostWithTheSameContents() throws {
        let post = try draft(title: " Notes ").published(as: Post.ID(3))
        #expect(try post == Post(id: Post.ID(3), authorID: User.ID(7), title: "Notes", body: "On the engine."))
    }

    @Test func foldedTitleIgnoresCase() throws {
        let post = try Post(id: Post.ID(1), authorID: User.ID(7), title: "ÜBER Notes", body: "x")
        #expect(try draft(title: "über notes").foldedTitle == post.foldedTitle)
        #expect(try draft(title: "uber notes").foldedTitle != post.foldedTitle)
    }
}
