import Foundation
import HTTPTypes
import HummingbirdTesting
import Infrastructure
import InwardFetching
import InwardTesting
import NIOCore
import Testing

@testable import FeedService

/// The forms with which visitors write without a script.
@Suite(.timeLimit(.minutes(5)))
struct FormTests {
    private func send(
        _ client: any TestClientProtocol,
        _ path: String,
        _ fields: [String: String],
        _ headers: HTTPFields = [:]
    ) async throws -> TestResponse {
        var components = URLComponents()
        components.queryItems = fields.sorted { $0.key < $1.key }.map { URLQueryItem(name: $0.key, value: $0.value) }
        var headers = headers
        headers[.contentType] = "application/x-www-form-urlencoded"
        let body = ByteBuffer(string: components.percentEncodedQuery ?? "")
        return try await client.execute(uri: path, method: .post, headers: headers, body: body)
    }

    private func markup(_ response: TestResponse) -> String { String(buffer: response.body) }

    private func field(_ name: String, in markup: String) throws -> String {
        let value = markup.firstMatch(
            of: try Regex("name=\"\(name)\" value=\"([^\"]*)\"", as: (Substring, Substring).self)
        )
        return String(try #require(value?.output.1)).replacing("&quot;", with: "\"")
    }

    private static let post = ["author": "7", "title": "Letters", "body": "On\r\nthe engine.", "key": "key-1"]

    @Test func publishedPostIsShownAndPublishedOnce() async throws {
        try await FeedStage().serving { client in
            for _ in 1...2 {
                let response = try await send(client, "/posts", Self.post)
                #expect(response.status == .seeOther && response.headers[.location] == "/posts/101")
            }
            let page = markup(try await client.get("/posts/101"))
            #expect(page.contains("<h1 dir=\"auto\">Letters</h1>") && page.contains("On\nthe engine."))
            #expect(try await client.get("/api/feed?size=1").object["total"] as? Int == 101)
        }
    }

    @Test func secondClickWaitsForTheFirst() async throws {
        let (begun, end) = (Rendezvous(of: 2), Rendezvous(of: 2))
        let sample = SampleDataFetcher()
        let upstream = StubDataFetcher { request throws(FetchError) in
            if request.method == .post {
                await begun.arrive()
                await end.arrive()
            }
            return try await sample.fetch(request)
        }
        try await FeedStage(dataFetcher: upstream, clock: ContinuousClock()).serving { client in
            async let first = send(client, "/posts", Self.post)
            await begun.arrive()
            async let second = send(client, "/posts", Self.post)
            await end.arrive()
            let answers = [try await first, try await second]
            #expect(answers.map { $0.headers[.location] } == ["/posts/101", "/posts/101"])
        }
    }

    @Test(
        arguments: [
            (["author": ""], 422, "Choose an author."), (["author": "99"], 422, "There is no user 99"),
            (["title": " "], 422, "1 to 120 characters"), (["key": ""], 400, "Idempotency-Key"),
        ]
    )
    func formThatIsNotAcceptedKeepsTheText(change: [String: String], status: Int, reason: String) async throws {
        try await FeedStage().serving { client in
            let response = try await send(client, "/posts", Self.post.merging(change) { $1 })
            let page = markup(response)
            #expect(response.status.code == status && page.contains("role=\"alert\">") && page.contains(reason))
            #expect(page.contains("On\nthe engine.</textarea>"))
            let key = try field("key", in: page)
            #expect(!key.isEmpty && key != "key-1")
        }
    }

    @Test func textIsNotLostWhenTheUpstreamFails() async throws {
        let sample = SampleDataFetcher()
        let upstream = StubDataFetcher { request throws(FetchError) in
            request.method == .post ? DataResponse(status: 500) : try await sample.fetch(request)
        }
        try await FeedStage(dataFetcher: upstream).serving { client in
            let response = try await send(client, "/posts", Self.post)
            #expect(response.status.code == 504)
            // It may have been published, so the second attempt must not be another request.
            #expect(try field("key", in: markup(response)) == "key-1")
            #expect(markup(response).contains("On\nthe engine.</textarea>"))
            let comment = ["name": "Ada", "email": "ada@example.org", "body": "Well said.", "key": "key-2"]
            let lost = try await send(client, "/posts/12/comments", comment)
            #expect(lost.status.code == 504)
            #expect(
                markup(lost).contains("name=\"key\" value=\"key-2\"") && markup(lost).contains("Well said.</textarea>")
            )
        }
    }

    @Test func editorOfAnOldVersionSeesBoth() async throws {
        try await FeedStage().serving { client in
            let form = markup(try await client.get("/posts/12/edit"))
            let version = try field("version", in: form)
            _ = try await client.send(.patch, "/api/posts/12", #"{"body": "Theirs."}"#)
            let mine = ["title": "Mine", "body": "Mine.", "key": "key-1", "version": version]
            let conflict = try await send(client, "/posts/12/edit", mine)
            let page = markup(conflict)
            #expect(conflict.status.code == 412 && page.contains("Theirs.") && page.contains("Mine.</textarea>"))
            var again = mine
            (again["key"], again["version"]) = (try field("key", in: page), try field("version", in: page))
            #expect(try await send(client, "/posts/12/edit", again).status == .seeOther)
            #expect(try await client.get("/api/posts/12").object["body"] as? String == "Mine.")
            let deletion = try await send(client, "/posts/12/delete", ["key": "key-2", "version": version])
            #expect(deletion.status.code == 412)
        }
    }

    @Test func commentThatIsNotAcceptedKeepsTheText() async throws {
        try await FeedStage().serving { client in
            let comment = ["name": " ", "email": "ada@example.org", "body": "Well <said>.", "key": "key-1"]
            let response = try await send(client, "/posts/12/comments", comment)
            let page = markup(response)
            #expect(response.status.code == 422 && page.contains("role=\"alert\">"))
            #expect(page.contains("Well &lt;said&gt;.</textarea>") && page.contains("value=\"ada@example.org\""))
            let accepted = try await send(client, "/posts/12/comments", comment.merging(["name": "Ada"]) { $1 })
            #expect(accepted.headers[.location] == "/posts/12#comments")
        }
    }

    @Test func keyOfAFormIsForOnePath() async throws {
        try await FeedStage().serving { client in
            #expect(try await send(client, "/posts/50/delete", ["key": "key-1"]).status == .seeOther)
            let second = try await send(client, "/posts/51/delete", ["key": "key-1"])
            #expect(second.status.code == 422)
        }
    }

    @Test func formThatIsNotEncodedIsNamed() async throws {
        try await FeedStage().serving { client in
            let headers: HTTPFields = [.contentType: "application/x-www-form-urlencoded"]
            let body = ByteBuffer(string: "user=%ff")
            let path = "/account/sign-in"
            let response = try await client.execute(uri: path, method: .post, headers: headers, body: body)
            #expect(try response.problem(400).contains("The form must be encoded"))
        }
    }

    /// Another port of the same host is the same site.
    @Test(arguments: ["cross-site", "same-site", "other"])
    func formOfAnotherOriginIsRefused(site: String) async throws {
        try await FeedStage().serving { client in
            for path in ["/posts", "/posts/12/edit", "/posts/12/delete", "/posts/12/comments"] {
                let response = try await send(client, path, Self.post, [.secFetchSite: site])
                #expect(response.status == .forbidden)
            }
            #expect(try await client.get("/api/feed?size=1").object["total"] as? Int == 100)
        }
    }

    @Test(arguments: ["same-origin", "none"])
    func formOfThisOriginIsAccepted(site: String) async throws {
        try await FeedStage().serving { client in
            let response = try await send(client, "/posts", Self.post, [.secFetchSite: site])
            #expect(response.status == .seeOther)
        }
    }
}
