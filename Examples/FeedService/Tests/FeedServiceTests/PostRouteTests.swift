import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import HummingbirdTesting
import Infrastructure
import InwardCore
import InwardFetching
import InwardTesting
import NIOCore
import Testing

@testable import FeedService

/// The routes that show and change one post, over the built-in sample.
@Suite(.timeLimit(.minutes(5)))
struct PostRouteTests {
    private static let draft = #"{"authorID": 7, "title": "Letters", "body": "On the engine."}"#

    @Test func postIsShown() async throws {
        try await FeedStage().serving { client in
            let response = try await client.get("/api/posts/12")
            let post = try response.object
            #expect(Set(post.keys) == ["id", "authorID", "title", "body", "state"])
            #expect(post["id"] as? Int == 12 && post["state"] as? String == "published")
            let tag = try #require(response.headers[.eTag])
            #expect(try await client.get("/api/posts/12", [.ifNoneMatch: tag]).status == .notModified)
        }
    }

    @Test func unknownPostIsNotFound() async throws {
        try await FeedStage().serving { client in
            for (method, content) in [(HTTPRequest.Method.get, ""), (.patch, #"{"body": "x"}"#), (.delete, "")] {
                let unknown = try await client.send(method, "/api/posts/999", content)
                #expect(try unknown.problem(404) == "There is no post 999.")
                for id in ["x", "07", "+7", "99999999999999999999"] {
                    let malformed = try await client.send(method, "/api/posts/\(id)", content)
                    #expect(try malformed.problem(404) == "A post ID is a number.")
                }
            }
        }
    }

    @Test func publishedPostIsFoundAtItsLocation() async throws {
        try await FeedStage().serving { client in
            let response = try await client.send(.post, "/api/posts", Self.draft)
            #expect(response.status == .created)
            #expect(response.headers[.location] == "/api/posts/101")
            #expect(response.headers[.cacheControl] == "no-store")
            #expect(try response.object["state"] as? String == "published")
            let shown = try await client.get("/api/posts/101")
            #expect(try shown.object["title"] as? String == "Letters")
            #expect(shown.headers[.eTag] == response.headers[.eTag])
            let posts = try await client.get("/api/users/7/posts").object["posts"] as? [[String: Any]]
            #expect(posts?.first?["id"] as? Int == 101)
        }
    }

    @Test func editedPostHasANewVersion() async throws {
        try await FeedStage().serving { client in
            let first = try #require(try await client.get("/api/posts/12").headers[.eTag])
            let edited = try await client.send(.patch, "/api/posts/12", #"{"body": " Better. "}"#, [.ifMatch: first])
            #expect(edited.status == .ok)
            #expect(try edited.object["body"] as? String == "Better.")
            #expect(edited.headers[.location] == nil)
            let second = try #require(try await client.get("/api/posts/12").headers[.eTag])
            #expect(second == edited.headers[.eTag] && second != first)
            // The version that the client knows is not the current one.
            let late = try await client.send(.patch, "/api/posts/12", #"{"body": "Worse."}"#, [.ifMatch: first])
            #expect(try late.problem(412).contains("changed in the meantime"))
            #expect(try await client.send(.delete, "/api/posts/12", "", [.ifMatch: first]).status.code == 412)
            #expect(try await client.get("/api/posts/12").object["body"] as? String == "Better.")
            #expect(try await client.send(.delete, "/api/posts/12", "", [.ifMatch: second]).status == .noContent)
            #expect(try await client.problem(404, at: "/api/posts/12") == "There is no post 12.")
        }
    }

    @Test func mergePatchIsAccepted() async throws {
        let fields: HTTPFields = [.contentType: "application/merge-patch+json; charset=utf-8"]
        try await FeedStage().serving { client in
            let edited = try await client.send(.patch, "/api/posts/12", #"{"title": "Letters"}"#, fields)
            #expect(try edited.object["title"] as? String == "Letters")
            let unchanged = try await client.send(.patch, "/api/posts/12", "{}", fields)
            #expect(unchanged.headers[.eTag] == edited.headers[.eTag])
        }
    }

    @Test(
        arguments: [
            (#"{"authorID": 1e99, "title": "x", "body": "x"}"#, 422, "out of range"), ("{", 400, "JSON"),
            (#"{"authorID": 1e400, "title": "x", "body": "x"}"#, 400, "The content cannot be read."),
            (#"{"authorID": 7, "title": "\ud800", "body": "x"}"#, 400, "The content cannot be read."),
            ("[]", 422, "wrong type"),
            (#"{"authorID": 7, "title": "x"}"#, 422, "“body” is missing"),
            (#"{"authorID": "7", "title": "x", "body": "x"}"#, 422, "“authorID” has the wrong type"),
            (#"{"authorID": 7, "title": null, "body": "x"}"#, 422, "“title” has the wrong type"),
            (#"{"authorID": 7, "title": " ", "body": "x"}"#, 422, "1 to 120 characters"),
            (#"{"authorID": 99, "title": "x", "body": "x"}"#, 422, "no user 99"),
        ]
    )
    func contentThatIsNotAPostIsRefusedWithTheReason(content: String, status: Int, reason: String) async throws {
        try await FeedStage().serving { client in
            let response = try await client.send(.post, "/api/posts", content)
            #expect(try response.problem(status).contains(reason))
        }
    }

    @Test func memberOfAPostCannotBeRemoved() async throws {
        try await FeedStage().serving { client in
            let response = try await client.send(.patch, "/api/posts/12", #"{"title": null}"#)
            #expect(try response.problem(422).contains("“title” has the wrong type"))
        }
    }

    @Test func contentOfAnotherTypeOrSizeIsRefused() async throws {
        try await FeedStage().serving { client in
            for type in ["text/plain", "application/jsonp", ""] {
                let response = try await client.send(.post, "/api/posts", Self.draft, [.contentType: type])
                #expect(try response.problem(415).contains("application/json"))
            }
            let long = try await client.send(.post, "/api/posts", String(repeating: " ", count: 600_000))
            #expect(try long.problem(413).contains("bytes"))
        }
    }

    @Test func contentThatDoesNotArriveInTimeIsRefused() async throws {
        let (clock, begun) = (ManualClock(), Promise<Void>())
        let slow = AsyncStream<ByteBuffer>(unfolding: {
            begun.fulfill(())
            _ = await Promise<Void>().value()
            return nil
        })
        let head = HTTPRequest(method: .post, scheme: "http", authority: "localhost", path: "/api/posts")
        let request = Request(head: head, body: RequestBody(asyncSequence: slow))
        let deadline = Deadline(in: .seconds(3), on: TimerService(clock))
        async let content = RequestContent(request, as: [], by: deadline)
        _ = await begun.value()
        clock.advance(by: .seconds(3))
        do {
            _ = try await content
            Issue.record("The content must not be complete.")
        } catch {
            #expect((error as? ProblemDetails)?.status == 408)
        }
    }

    @Test func takenTitleIsAConflict() async throws {
        try await FeedStage().serving { client in
            _ = try await client.send(.post, "/api/posts", Self.draft)
            let second = try await client.send(.post, "/api/posts", Self.draft)
            #expect(try second.problem(409).contains("“Letters”"))
        }
    }

    // MARK: Idempotency-Key

    @Test func repeatedRequestIsDoneOnce() async throws {
        try await FeedStage().serving { client in
            let fields: HTTPFields = [.idempotencyKey: "\"key-1\""]
            let first = try await client.send(.post, "/api/posts", Self.draft, fields)
            let second = try await client.send(.post, "/api/posts", Self.draft, fields)
            #expect(first.status == .created && first.headers[.idempotencyReplayed] == nil)
            #expect(second.status == .created && second.headers[.idempotencyReplayed] == "true")
            #expect(second.body == first.body && second.headers[.eTag] == first.headers[.eTag])
            #expect(second.headers[.location] == first.headers[.location])
            #expect(try await client.get("/api/feed").object["total"] as? Int == 101)
            // Deleting the post again would be an error without the key.
            let key: HTTPFields = [.idempotencyKey: "key-2"]
            for _ in 1...2 { #expect(try await client.send(.delete, "/api/posts/101", "", key).status == .noContent) }
        }
    }

    @Test func keyOfAnotherRequestIsRefused() async throws {
        let key: HTTPFields = [.idempotencyKey: "key-1"]
        try await FeedStage().serving { client in
            _ = try await client.send(.post, "/api/posts", Self.draft, key)
            for (method, path, content) in [
                (HTTPRequest.Method.post, "/api/posts", #"{"authorID": 7, "title": "Other", "body": "x"}"#),
                (.patch, "/api/posts/12", Self.draft), (.patch, "/api/posts/12", #"{"body": "x"}"#),
                (.delete, "/api/posts/12", ""),
            ] {
                #expect(try await client.send(method, path, content, key).problem(422).contains("new key"))
            }
            var two: HTTPFields = [.idempotencyKey: "a"]
            two.append(HTTPField(name: .idempotencyKey, value: "b"))
            let repeated = try await client.send(.delete, "/api/posts/12", "", two)
            #expect(try repeated.problem(400).contains("Idempotency-Key"))
            let malformed = try await client.send(.delete, "/api/posts/12", "", [.idempotencyKey: "a\"b"])
            #expect(try malformed.problem(400).contains("Idempotency-Key"))
        }
    }

    @Test func refusedRequestCanBeCorrectedWithTheSameKey() async throws {
        let key: HTTPFields = [.idempotencyKey: "key-1"]
        try await FeedStage().serving { client in
            let blank = try await client.send(.post, "/api/posts", #"{"authorID": 7, "title": "", "body": "x"}"#, key)
            #expect(blank.status.code == 422)
            #expect(try await client.send(.post, "/api/posts", Self.draft, key).status == .created)
        }
    }

    @Test func outcomeOfAChangeThatTakesTooLongIsUnknown() async throws {
        let (clock, begun) = (ManualClock(), Rendezvous(of: 2))
        let sample = SampleDataFetcher()
        let upstream = StubDataFetcher { request throws(FetchError) in
            guard request.method == .post else { return try await sample.fetch(request) }
            await begun.arrive()
            await Rendezvous(of: 2).arrive()
            throw FetchError(.cancelled, request: request, explanation: "was cancelled")
        }
        try await FeedStage(dataFetcher: upstream, clock: clock).serving { client in
            async let response = client.send(.post, "/api/posts", Self.draft, [.idempotencyKey: "key-1"])
            await begun.arrive()
            clock.advance(by: .seconds(10))
            #expect(try await response.problem(504).contains("not known"))
            let second = try await client.send(.post, "/api/posts", Self.draft, [.idempotencyKey: "key-1"])
            #expect(try second.problem(504).contains("not known"))
        }
    }
}
