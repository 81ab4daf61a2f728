import InwardCore
import InwardTesting
import Synchronization
import TestSupport
import Testing

@testable import InwardFetching

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite(.timeLimit(.minutes(5)))
struct RetryWaitTests {
    private let clock = ManualClock()
    private let timer: TimerService
    private let log = RetryLog()

    init() {
        timer = TimerService(clock)
    }

    /// Returns a fetcher that waits half a second, then one second, then two, unless the upstream asks for more.
    private func fetcher(_ source: some DataFetcher, budget: RetryBudget? = nil) -> some DataFetcher {
        let policy = RetryPolicy(attempts: 4, baseDelay: .seconds(1), budget: budget, jitter: Jitter { 0.5 })
        return source.retrying(policy, timer: timer, now: { Date(timeIntervalSince1970: 784_111_777) })
            .observing(with: log, timer: timer)
    }

    private func result(
        of fetcher: some DataFetcher,
        by deadline: Deadline? = nil
    ) async throws -> Result<DataResponse, FetchError> {
        let request = try DataRequest.example()
        let work = { () async throws(FetchError) in try await fetcher.fetch(request) }
        return if let deadline { await deadline.carried(by: work) } else { await Result(awaiting: work) }
    }

    @Test func eachAttemptFollowsItsWait() async throws {
        let source = RecordingDataFetcher(StubDataFetcher(DataResponse(status: 503)))
        async let outcome = result(of: fetcher(source))
        for (count, delay) in [(1, Duration.seconds(0.5)), (2, .seconds(1)), (3, .seconds(2))] {
            await clock.sleepers(1)
            #expect(source.requests.count == count)
            clock.advance(by: delay - .nanoseconds(1))
            await clock.sleepers(1)
            #expect(source.requests.count == count)
            clock.advance(by: .nanoseconds(1))
        }
        #expect(try await outcome.retries == RetryReport(attempts: 4, ending: "the maximum"))
        #expect(log.entries.map(\.delay) == [.seconds(0.5), .seconds(1), .seconds(2)])
        #expect(timer.count == 0)
    }

    @Test(arguments: ["30", "Sun, 06 Nov 1994 08:50:07 GMT"])
    func retryAfterIsRespected(retryAfter: String) async throws {
        let busy = DataResponse(status: 503, headerFields: [HeaderField(.retryAfter, retryAfter)])
        let fetcher = fetcher(ScriptedDataFetcher([.answer(busy), .answer(DataResponse())]))
        async let outcome = result(of: fetcher)
        await timer.timers(1)
        clock.advance(by: .seconds(30.5))
        #expect(try await outcome == .success(DataResponse()))
        #expect(log.entries.map(\.delay) == [.seconds(30.5)])
    }

    @Test func currentDateIsReadOnlyForARetryDate() async throws {
        let date = HeaderField(.retryAfter, "Sun, 06 Nov 1994 08:49:37 GMT")
        let asked = Mutex(0)
        for (response, count) in [
            (DataResponse(status: 404, headerFields: [date]), 0), (DataResponse(headerFields: [date]), 0),
            (DataResponse(status: 503, headerFields: [HeaderField(.retryAfter, "0")]), 0),
            (DataResponse(status: 503, headerFields: [date]), 1),
        ] {
            let policy = RetryPolicy(attempts: 2, baseDelay: .zero)
            let fetcher = StubDataFetcher(response).retrying(policy, timer: timer) {
                asked.withLock { $0 += 1 }
                return Date(timeIntervalSince1970: 784_111_777)
            }
            _ = try await result(of: fetcher)
            #expect(asked.withLock(\.self) == count)
        }
    }

    @Test func cancellationEndsTheWait() async throws {
        let source = RecordingDataFetcher(StubDataFetcher(DataResponse(status: 503)))
        let task = Task { [fetcher = fetcher(source)] in try await result(of: fetcher) }
        await timer.timers(1)
        task.cancel()
        let error = try await task.value.failure
        #expect(error?.reason == .cancelled)
        #expect(error?.explanation == "was cancelled (1 attempt, cancelled before the next)")
        #expect(source.requests.count == 1)
        #expect(timer.count == 0)
    }

    @Test(arguments: [false, true]) func cancellationErrorTellsWhetherTheRequestWasSent(wasSent: Bool) async throws {
        let source = StubDataFetcher { request throws(FetchError) in
            throw FetchError(.unreachable, request: request, explanation: "failed", wasSent: wasSent)
        }
        let task = Task { [fetcher = fetcher(source)] in try await result(of: fetcher) }
        await timer.timers(1)
        task.cancel()
        let error = try await task.value.failure
        #expect(error?.reason == .cancelled)
        #expect(error?.wasSent == wasSent)
    }

    @Test(arguments: [1, 2]) func anySentAttemptMeansThatTheRequestWasSent(attempt: Int) async throws {
        let source = StubDataFetcher { request throws(FetchError) in
            let wasSent = request.attempt == attempt
            throw FetchError(.unreachable, request: request, explanation: "failed", wasSent: wasSent)
        }
        let task = Task { [fetcher = fetcher(source)] in try await result(of: fetcher) }
        await clock.sleepers(1)
        clock.advance(by: .seconds(0.5))
        await clock.sleepers(1)
        task.cancel()
        let error = try await task.value.failure
        #expect(error?.retries == RetryReport(attempts: 2, ending: "cancelled before the next"))
        #expect(error?.wasSent == true)
    }

    @Test func cancelledRequestsScheduleNoRetry() async throws {
        let budget = RetryBudget(share: 0, reserve: 1, timer: timer)
        // A rendezvous that no other task reaches, so only cancellation ends a wait there.
        let nowhere = Rendezvous(of: 2)
        let source = StubDataFetcher { _ throws(FetchError) in
            await nowhere.arrive()
            return DataResponse(status: 503)
        }
        let task = Task { [fetcher = fetcher(source, budget: budget)] in try await result(of: fetcher) }
        task.cancel()
        let error = try await task.value.failure
        #expect(error?.reason == .cancelled)
        #expect(log.entries.isEmpty)
        #expect(budget.withdraw())
    }

    @Test func noWaitExceedsTheDeadline() async throws {
        let source = RecordingDataFetcher(StubDataFetcher(DataResponse(status: 503)))
        let budget = RetryBudget(share: 0, reserve: 1, timer: timer)
        let fetcher = fetcher(source, budget: budget)
        let outcome = try await result(of: fetcher, by: Deadline(in: .seconds(0.5), on: timer))
        #expect(outcome.retries == RetryReport(attempts: 1, ending: "the deadline leaves no time"))
        #expect(source.requests.count == 1)
        #expect(log.entries.isEmpty)
        #expect(budget.withdraw())
    }

    @Test func deadlineLimitsAllAttemptsTogether() async throws {
        let source = RecordingDataFetcher(StubDataFetcher(DataResponse(status: 503)))
        let fetcher = fetcher(source)
        async let outcome = result(of: fetcher, by: Deadline(in: .seconds(1.5), on: timer))
        await timer.timers(2)
        clock.advance(by: .seconds(0.5))
        #expect(try await outcome.retries == RetryReport(attempts: 2, ending: "the deadline leaves no time"))
        #expect(source.requests.count == 2)
        #expect(timer.count == 0)
    }

    @Test func noAttemptBeginsAfterTheDeadline() async throws {
        let source = RecordingDataFetcher(StubDataFetcher(failing: .timedOut))
        let fetcher = fetcher(source)
        async let outcome = result(of: fetcher, by: Deadline(in: .seconds(1), on: timer))
        await timer.timers(2)
        // The wait can end late, for example because the machine was asleep.
        clock.advance(by: .seconds(10))
        let error = try await outcome.failure
        #expect(error?.reason == .timedOut)
        #expect(error?.retries == RetryReport(attempts: 1, ending: "the deadline leaves no time"))
        #expect(source.requests.count == 1)
    }

    @Test func deadlineOnAnotherClockEndsTheWait() async throws {
        let otherClock = ManualClock()
        let other = TimerService(otherClock)
        let source = RecordingDataFetcher(StubDataFetcher(DataResponse(status: 503)))
        let fetcher = fetcher(source)
        async let outcome = result(of: fetcher, by: Deadline(in: .seconds(1), on: other))
        await timer.timers(1)
        await other.timers(1)
        otherClock.advance(by: .seconds(1))
        #expect(try await outcome.retries == RetryReport(attempts: 1, ending: "the deadline leaves no time"))
        #expect(source.requests.count == 1)
        #expect(timer.count == 0)
    }
}

extension Result<DataResponse, FetchError> {
    /// The report on the attempts.
    fileprivate var retries: RetryReport? {
        switch self {
        case .success(let response): response.retries
        case .failure(let error): error.retries
        }
    }
}
