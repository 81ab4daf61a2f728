import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import HummingbirdTesting
import Infrastructure
import InwardCore
import InwardFetching
import InwardTesting
import Synchronization
import Testing

@testable import FeedService

@Suite(.timeLimit(.minutes(5)))
struct AnswerCacheTests {
    private final class Count: Sendable {
        let value = Atomic(0)
    }

    private let clock = ManualClock()
    private let encoded = Count()
    private let cache: AnswerCache

    init() {
        cache = AnswerCache(maximumAge: .seconds(5), reuse: .milliseconds(100), timer: TimerService(clock))
    }

    /// Returns the body of the response to a read of a text, and whether it was read.
    private func answer(
        _ text: String,
        to visitor: Visitor = .guest,
        _ freshness: Freshness = .fresh,
        at target: String = "/feed"
    ) async throws -> (tag: String?, isRead: Bool) {
        let request = Request(
            head: HTTPRequest(method: .get, scheme: nil, authority: nil, path: target),
            body: RequestBody(buffer: ByteBuffer())
        )
        let isRead = Mutex(false)
        let response = try await cache.response(to: request, at: target, of: visitor) {
            isRead.withLock { $0 = true }
            return (text, freshness)
        } encoding: { text in
            encoded.value.add(1, ordering: .relaxed)
            return try Answer(json: text)
        }
        return (response.headers[.eTag], isRead.withLock { $0 })
    }

    @Test func bodyIsEncodedAgainOnlyAfterAChange() async throws {
        for (text, count) in [("a", 1), ("a", 1), ("b", 2), ("b", 2), ("a", 3)] {
            clock.advance(by: .seconds(1))
            _ = try await answer(text)
            #expect(encoded.value.load(ordering: .relaxed) == count)
        }
        _ = try await answer("a", at: "/other")
        #expect(encoded.value.load(ordering: .relaxed) == 4)
    }

    @Test func answerIsReusedForAMoment() async throws {
        let first = try await answer("a")
        clock.advance(by: .milliseconds(99))
        let second = try await answer("b")
        #expect(first.isRead && !second.isRead && first.tag == second.tag)
        clock.advance(by: .milliseconds(1))
        let third = try await answer("b")
        #expect(third.isRead && third.tag != first.tag)
    }

    @Test func answerIsNotReusedAfterAChange() async throws {
        _ = try await answer("a")
        cache.noteChange()
        #expect(try await answer("b").isRead)
    }

    @Test func answerThatWasReadDuringAChangeIsNotReused() async throws {
        let request = Request(
            head: HTTPRequest(method: .get, scheme: nil, authority: nil, path: "/feed"),
            body: RequestBody(buffer: ByteBuffer())
        )
        _ = try await cache.response(to: request, at: "/feed", of: .guest) {
            cache.noteChange()
            return ("before", Freshness.fresh)
        } encoding: {
            try Answer(json: $0)
        }
        #expect(try await answer("after").isRead)
    }

    @Test func onlyFreshAnswersToGuestsAreReused() async throws {
        _ = try await answer("a", to: .guest, .stale)
        #expect(try await answer("a").isRead)
        cache.noteChange()
        _ = try await answer("a", to: .user("ada", signIn: "1"))
        #expect(try await answer("a").isRead)
        #expect(try await answer("b", to: .user("ada", signIn: "1")).isRead)
        #expect(try await answer("c").isRead)
    }

    @Test func everyReadSeesTheWriteBeforeIt() async throws {
        try await FeedStage(reusingAnswersFor: .seconds(60)).serving { client in
            func expect(_ title: String, isShown: Bool = true) async throws {
                for path in ["/api/feed", "/posts"] {
                    let text = String(buffer: try await client.get(path).body)
                    #expect(text.contains(title) == isShown, "\(path)")
                }
            }
            func send(_ path: String, _ form: String) async throws {
                let fields: HTTPFields = [.contentType: "application/x-www-form-urlencoded"]
                let body = ByteBuffer(string: form)
                let response = try await client.execute(uri: path, method: .post, headers: fields, body: body)
                #expect(response.status == .seeOther)
            }
            try await expect("By the API", isShown: false)
            let draft = #"{"authorID": 7, "title": "By the API", "body": "x"}"#
            let published = try await client.send(.post, "/api/posts", draft)
            #expect(published.status == .created)
            try await expect("By the API")
            let edited = try await client.send(.patch, "/api/posts/101", #"{"title": "Edited there"}"#)
            #expect(edited.status == .ok)
            try await expect("Edited there")
            try await send("/posts/101/edit", "title=Edited+here&body=x&key=1")
            try await expect("Edited here")
            try await send("/posts", "author=7&title=By+a+form&body=x&key=2")
            try await expect("By a form")
            try await send("/posts/101/delete", "key=3")
            try await expect("Edited here", isShown: false)
        }
    }
}
