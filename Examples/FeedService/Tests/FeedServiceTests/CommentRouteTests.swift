import HTTPTypes
import HummingbirdTesting
import Testing

@testable import FeedService

/// The routes of comments, over the built-in sample.
@Suite(.timeLimit(.minutes(5)))
struct CommentRouteTests {
    private static let draft = #"{"name": "Ada", "email": "ada@example.org", "body": "Well said."}"#

    private func comments(_ client: any TestClientProtocol, on post: Int) async throws -> [[String: Any]] {
        let response = try await client.get("/api/posts/\(post)/comments")
        #expect(response.status == .ok && response.headers[.eTag] != nil)
        return try #require(try response.object["comments"] as? [[String: Any]])
    }

    @Test func commentsOnAPostAreListedFromTheOldest() async throws {
        try await FeedStage().serving { client in
            let comments = try await comments(client, on: 12)
            #expect(comments.compactMap { $0["id"] as? Int } == [23, 24])
            #expect(comments.allSatisfy { Set($0.keys) == ["id", "postID", "name", "email", "body"] })
            #expect(comments.allSatisfy { $0["postID"] as? Int == 12 })
        }
    }

    @Test func commentsOnAnUnknownPostAreNotFound() async throws {
        try await FeedStage().serving { client in
            let detail = try await client.problem(404, at: "/api/posts/999/comments")
            #expect(detail == "There is no post 999.")
            let created = try await client.send(.post, "/api/posts/999/comments", Self.draft)
            #expect(try created.problem(404) == detail)
            #expect(try await client.problem(404, at: "/api/posts/x/comments") == "A post ID is a number.")
            #expect(try await client.problem(404, at: "/api/comments/x") == "A comment ID is a number.")
            #expect(try await client.get("/api/comments/999").status == .notFound)
        }
    }

    @Test func postWithoutCommentsHasAnEmptyList() async throws {
        try await FeedStage().serving { client in
            for id in [23, 24] { _ = try await client.send(.delete, "/api/comments/\(id)") }
            #expect(try await comments(client, on: 12).isEmpty)
        }
    }

    @Test func createdCommentIsFoundAtItsLocationAndInTheList() async throws {
        try await FeedStage().serving { client in
            let response = try await client.send(.post, "/api/posts/12/comments", Self.draft)
            #expect(response.status == .created)
            #expect(response.headers[.location] == "/api/comments/201")
            let shown = try await client.get("/api/comments/201")
            #expect(try shown.object["state"] as? String == "published")
            #expect(shown.headers[.eTag] == response.headers[.eTag])
            #expect(try await comments(client, on: 12).last?["body"] as? String == "Well said.")
        }
    }

    @Test func editedCommentHasANewVersion() async throws {
        try await FeedStage().serving { client in
            let path = "/api/comments/23"
            let first = try #require(try await client.get(path).headers[.eTag])
            let edited = try await client.send(.patch, path, #"{"body": "Better."}"#, [.ifMatch: first])
            #expect(edited.status == .ok)
            #expect(try await client.get(path).object["body"] as? String == "Better.")
            let late = try await client.send(.patch, path, #"{"body": "Worse."}"#, [.ifMatch: first])
            #expect(try late.problem(412).contains("changed in the meantime"))
            #expect(try await client.send(.delete, path, "", [.ifMatch: first]).status.code == 412)
            let second = try #require(edited.headers[.eTag])
            #expect(try await client.send(.delete, path, "", [.ifMatch: second]).status == .noContent)
            #expect(try await client.get(path).status == .notFound)
        }
    }

    @Test(
        arguments: [
            (#"{"name": " ", "email": "ada@example.org", "body": "x"}"#, "“name” must have 1 to 100 characters"),
            (#"{"name": "Ada", "email": "a", "body": "x"}"#, "“email” must have 3 to 254 characters"),
            (#"{"name": "Ada", "email": "ada@example.org", "body": ""}"#, "“body” must have 1 to 4000 characters"),
            (#"{"name": "Ada", "body": "x"}"#, "“email” is missing"),
        ]
    )
    func contentThatIsNotACommentIsRefusedWithTheReason(content: String, reason: String) async throws {
        try await FeedStage().serving { client in
            let response = try await client.send(.post, "/api/posts/12/comments", content)
            #expect(try response.problem(422).contains(reason))
            let blank = try await client.send(.patch, "/api/comments/23", #"{"body": " "}"#)
            #expect(try blank.problem(422).contains("“body” must have"))
        }
    }

    @Test func repeatedRequestIsDoneOnce() async throws {
        try await FeedStage().serving { client in
            let key: HTTPFields = [.idempotencyKey: "key-1"]
            for _ in 1...2 {
                let response = try await client.send(.post, "/api/posts/12/comments", Self.draft, key)
                #expect(response.headers[.location] == "/api/comments/201")
            }
            #expect(try await comments(client, on: 12).count == 3)
        }
    }
}
