import HTTPTypes
import HummingbirdTesting
import InwardTesting
import Testing

@testable import FeedService

@Suite(.timeLimit(.minutes(5)))
struct LiveFeedTests {
    @Test func lineEndsInAPostCannotEndAnEvent() {
        let event = LiveFeed.event("one\r\n\r\nretry: 9\revent: x\n\ndata")
        for line in event.split(whereSeparator: \.isNewline) {
            #expect(line.hasPrefix("data: ") || line == "event: posts")
        }
        #expect(event.hasSuffix("\n\n") && !event.unicodeScalars.contains("\r"))
    }

    @Test func responsesWithoutABodyTakeNoPlace() async throws {
        var settings = ServiceSettings()
        settings.liveConnections = 1
        try await FeedStage(settings).serving { client in
            for _ in 1...3 {
                let head = try await client.execute(uri: "/live/posts", method: .head)
                #expect(head.status == .ok)
            }
        }
        settings.liveConnections = 0
        try await FeedStage(settings).serving { client in
            let response = try await client.get("/live/posts")
            #expect(try !response.problem(503).isEmpty)
        }
    }

    @Test func streamEndsWhenTheVisitorHasSignedOut() async throws {
        let clock = ManualClock()
        try await FeedStage(clock: clock).serving { client in
            let signIn = try await client.send(.post, "/api/session", #"{"user": "marit.lamp"}"#)
            let token = try #require(try signIn.object["token"] as? String)
            async let stream = client.get("/live/posts", [.cookie: "session=\(token)"])
            // The stream waits until it looks at the posts again.
            while clock.earliestDeadline != ManualClock.Instant(offset: .seconds(5)) { await Task.yield() }
            let signOut = try await client.send(.delete, "/api/sessions", "", [.authorization: "Bearer \(token)"])
            #expect(signOut.status == .noContent)
            clock.advance(by: .seconds(5))
            #expect(try await stream.status == .ok)
        }
    }
}
