import InwardCore
import InwardFetching
import InwardTesting
import LoopbackServer
import Testing

/// How clients and servers observe the deadline of a task.
@Suite(.timeLimit(.minutes(5)))
struct ClientDeadlineTests {
    private let clock = ManualClock()
    private let timer: TimerService

    init() {
        timer = TimerService(clock)
    }

    @Test(arguments: TestedClient.allCases)
    func eachAttemptSendsTheRemainingTime(client: TestedClient) async throws {
        let name = try #require(HeaderField.Name("X-Time-Left"))
        let busy = LoopbackAnswer.whole(status: 503, headerLines: ["Retry-After: 2"])
        try await LoopbackServer.serving(inTurn: [busy, .whole()]) { server in
            let fetcher = client.makeFetcher().propagatingDeadline(in: name)
                .retrying(RetryPolicy(jitter: Jitter { 0 }), timer: timer)
                .timingOut(after: .seconds(5), timer: timer)
            async let response = fetcher.fetch(DataRequest(url: server.url()))
            // One timer for the wait, and one for the deadline.
            await timer.timers(2)
            clock.advance(by: .seconds(2))
            let given = try await response
            #expect(given.status == .ok)
            #expect(server.requests.map { $0.values(of: "x-time-left") } == [["5000"], ["3000"]])
        }
    }

    @Test(arguments: TestedClient.allCases)
    func deadlineOfTheTaskEndsAFetch(client: TestedClient) async throws {
        try await LoopbackServer.serving({ _ in .never }) { server in
            let fetcher = client.makeFetcher()
            let request = DataRequest(url: server.url())
            // Nothing cancels the task: the fetcher observes the deadline itself.
            async let outcome = Deadline(in: .seconds(2), on: timer).carried { await fetcher.failure(request) }
            await timer.timers(1)
            clock.advance(by: .seconds(2))
            let error = await outcome.get()
            #expect(error?.reason == .timedOut)
            #expect(error?.explanation == "was not answered before the deadline")
        }
        #expect(timer.count == 0)
    }

    @Test(arguments: TestedClient.allCases)
    func nothingIsSentAfterTheDeadline(client: TestedClient) async throws {
        let deadline = Deadline(in: .seconds(2), on: timer)
        clock.advance(by: .seconds(2))
        try await LoopbackServer.serving({ _ in .whole() }) { server in
            let fetcher = client.makeFetcher()
            let error = await deadline.carried { await fetcher.failure(DataRequest(url: server.url())) }.get()
            #expect(error?.reason == .timedOut)
            #expect(server.requests.isEmpty)
        }
    }
}
