import Foundation
import InwardFetching
import InwardTesting
import Testing

private struct Comment: Codable {
    let id: Int
    let postID: Int
    var body: String
}

private struct CommentClient: Sendable {
    let dataFetcher: any DataFetcher

    func comment(_ id: Int) async throws -> Comment {
        let baseURL = try #require(URL(string: "https://api.example.com"))
        let response = try await dataFetcher.fetch(DataRequest(url: baseURL.appending(path: "comments/\(id)")))
        return try JSONDecoder().decode(Comment.self, from: response.body)
    }
}

/// The tests that the article “Getting started with InwardTesting” shows.
@Suite(.timeLimit(.minutes(5)))
struct GettingStartedTests {
    @Test func commentIsLoaded() async throws {
        let upstream = RoutedDataFetcher()
            .on(.get, "/comments/:id", .json(#"{"id": 7, "postID": 1, "body": "Well said."}"#))
        let client = CommentClient(dataFetcher: upstream)

        let comment = try await client.comment(7)

        #expect(comment.body == "Well said.")
        #expect(upstream.requests(.get, "/comments/:id").map { $0["id"] } == [7])
    }

    @Test func silentUpstreamTimesOut() async throws {
        let scheduler = DeterministicScheduler(seed: 7)
        let silent = ChaosDataFetcher(
            StubDataFetcher(DataResponse()),
            plan: ChaosPlan([.unanswered: 1]),
            timer: scheduler.timer
        )
        let client = CommentClient(dataFetcher: silent.timingOut(after: .seconds(5), timer: scheduler.timer))

        let error = await #expect(throws: FetchError.self) {
            try await scheduler.run { try await client.comment(7) }
        }

        #expect(error?.reason == .timedOut)
        #expect(scheduler.clock.now.offset == .seconds(5))
    }
}
