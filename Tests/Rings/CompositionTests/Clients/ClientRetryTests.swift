import Foundation
import InwardCore
import InwardFetching
import InwardTesting
import LoopbackServer
import Testing

/// Which requests are retried when a real server fails.
@Suite(.timeLimit(.minutes(5)))
struct ClientRetryTests {
    private static let faults: [LoopbackAnswer] = [
        .whole(status: 503), .cutOff(promised: 1_000, sent: 100), .raw([]),
        .raw(Array("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n".utf8)),
    ]

    private let clock = ManualClock()
    private let timer: TimerService
    private let whole = LoopbackAnswer.whole(body: Array("whole".utf8))

    init() {
        timer = TimerService(clock)
    }

    /// Returns a client that retries immediately, unless the server asks it to wait.
    private func retrying(_ client: TestedClient, now: Date = Date()) -> any DataFetcher {
        client.makeFetcher().retrying(RetryPolicy(jitter: Jitter { 0 }), timer: timer, now: { now })
    }

    @Test(arguments: TestedClient.allCases, faults)
    func failedReadIsRetried(client: TestedClient, fault: LoopbackAnswer) async throws {
        try await LoopbackServer.serving(inTurn: [fault, fault, whole]) { server in
            let response = try await retrying(client).fetch(DataRequest(url: server.url()))
            #expect(response.body == Data("whole".utf8))
            #expect(server.requests.count == 3)
        }
    }

    @Test(arguments: TestedClient.allCases)
    func retriesEndAtTheMaximumNumberOfAttempts(client: TestedClient) async throws {
        try await LoopbackServer.serving(inTurn: [.cutOff(promised: 9, sent: 1), .whole(status: 503)]) { server in
            let response = try await retrying(client).fetch(DataRequest(url: server.url()))
            #expect(response.status == 503)
            #expect(response.retries == RetryReport(attempts: 3, ending: "the maximum"))
            #expect(server.requests.count == 3)
        }
    }

    @Test(arguments: TestedClient.allCases, faults)
    func writeThatMayHaveSucceededIsNotRetried(client: TestedClient, fault: LoopbackAnswer) async throws {
        try await LoopbackServer.serving(inTurn: [fault, whole]) { server in
            let request = DataRequest(method: .post, url: server.url(), body: Data("{}".utf8))
            let response = try? await retrying(client).fetch(request)
            #expect(response?.status != .ok)
            #expect(server.requests.count == 1)
        }
    }

    @Test(arguments: TestedClient.allCases, faults)
    func writeWithAnIdempotencyKeyIsRetried(client: TestedClient, fault: LoopbackAnswer) async throws {
        try await LoopbackServer.serving(inTurn: [fault, whole]) { server in
            var request = DataRequest(method: .post, url: server.url(), body: Data("{}".utf8))
            request.headerFields[.idempotencyKey] = "1"
            let response = try await retrying(client).fetch(request)
            #expect(response.status == .ok)
            #expect(server.requests.map { $0.values(of: "idempotency-key") } == [["1"], ["1"]])
            #expect(server.requests.map(\.body) == [Array("{}".utf8), Array("{}".utf8)])
        }
    }

    @Test(arguments: TestedClient.allCases)
    func connectionClosedImmediatelyIsRetried(client: TestedClient) async throws {
        try await LoopbackServer.serving(welcoming: { $0 > 2 }, { _ in whole }) { server in
            let response = try await retrying(client).fetch(DataRequest(url: server.url()))
            #expect(response.body == Data("whole".utf8))
            #expect(server.connectionCount == 3)
        }
    }

    @Test(
        arguments: TestedClient.allCases,
        [
            ["Retry-After: 5"],
            ["Retry-After: Sun, 06 Nov 1994 08:49:37 GMT"],
            ["Retry-After: Sun, 06 Nov 1994 09:49:37 GMT", "Date: Sun, 06 Nov 1994 09:49:32 GMT"],
        ]
    )
    func retryAfterDelaysTheRetry(client: TestedClient, lines: [String]) async throws {
        try await LoopbackServer.serving(inTurn: [.whole(status: 503, headerLines: lines), whole]) { server in
            let fetcher = retrying(client, now: Date(timeIntervalSince1970: 784_111_772))
            async let response = fetcher.fetch(DataRequest(url: server.url()))
            await timer.timers(1)
            // All timers that are due earlier fire before this one.
            let isPast = Promise<Void>()
            timer.schedule(at: .milliseconds(4_999)) { isPast.fulfill(()) }
            clock.advance(by: .milliseconds(4_999))
            _ = await isPast.value()
            #expect(timer.count == 1)
            #expect(server.requests.count == 1)
            clock.advance(by: .milliseconds(1))
            let given = try await response
            #expect(given.status == .ok)
            #expect(server.requests.count == 2)
        }
    }

    @Test(arguments: TestedClient.allCases)
    func retryBeyondTheDeadlineIsNotAwaited(client: TestedClient) async throws {
        let answer = LoopbackAnswer.whole(status: 503, headerLines: ["Retry-After: 5"])
        try await LoopbackServer.serving(inTurn: [answer, whole]) { server in
            let fetcher = retrying(client).timingOut(after: .seconds(5), timer: timer)
            let response = try await fetcher.fetch(DataRequest(url: server.url()))
            #expect(response.retries == RetryReport(attempts: 1, ending: "the deadline leaves no time"))
            #expect(server.requests.count == 1)
        }
    }
}
