import HummingbirdTesting
import Testing

@testable import FeedService

struct FeedRouteTests {
    @Test func pagesCoverTheFeedFromTheNewestPost() async throws {
        try await FeedStage().serving { client in
            var (ids, next): ([Int], String?) = ([], nil)
            repeat {
                let page = try await client.get("/api/feed?size=30\(next.map { "&cursor=\($0)" } ?? "")").object
                #expect(page["total"] as? Int == 100)
                let posts = try #require(page["posts"] as? [[String: Any]])
                ids += posts.compactMap { $0["id"] as? Int }
                next = page["next"] as? String
            } while next != nil
            #expect(ids == Array((1...100).reversed()))
        }
    }

    @Test func entryNamesItsAuthor() async throws {
        try await FeedStage().serving { client in
            let page = try await client.get("/api/feed?size=1&author=7").object
            let entry = try #require((page["posts"] as? [[String: Any]])?.first)
            #expect(Set(entry.keys) == ["id", "title", "body", "author"])
            let author = try #require(entry["author"] as? [String: Any])
            #expect(author["id"] as? Int == 7)
            #expect(author["name"] as? String == (try await client.get("/api/users/7").object["name"] as? String))
            #expect(page["total"] as? Int == 10)
        }
    }

    @Test func textIsSearchedInPosts() async throws {
        try await FeedStage().serving { client in
            let page = try await client.get("/api/feed?size=100&q=KETTLE+on").object
            let posts = try #require(page["posts"] as? [[String: Any]])
            #expect(!posts.isEmpty && posts.count == page["total"] as? Int)
            for post in posts {
                let text = "\(post["title"] ?? "") \(post["body"] ?? "")"
                #expect(text.lowercased().contains("kettle on"))
            }
        }
    }

    @Test(arguments: [
        ("author=x", "The parameter “author” must be the number of a user."),
        ("cursor=x", "The parameter “cursor” must be the value of “next” on another page."),
        ("q=\(String(repeating: "z", count: 201))", "The parameter “q” must be a text of at most 200 characters."),
        (
            "q=a\(String(repeating: "%CC%81", count: 31))",
            "The parameter “q” must be a text of at most 200 characters."
        ),
        ("size=x", "The parameter “size” must be a number."),
        ("size=0", "A page has from 1 to 100 posts, not 0."),
        ("size=101", "A page has from 1 to 100 posts, not 101."),
    ])
    func invalidParameterIsNamed(query: String, detail: String) async throws {
        try await FeedStage().serving { client in
            let answer = try await client.problem(400, at: "/api/feed?\(query)")
            #expect(answer == detail)
        }
    }
}
