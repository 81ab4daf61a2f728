import InwardCore
import InwardTesting
import TestSupport
import Testing

@testable import InwardFetching

@Suite(.timeLimit(.minutes(5)))
struct TimingOutDataFetcherTests {
    /// A fetcher that waits for a promise, and may honor the deadline.
    private struct WaitingDataFetcher: DataFetcher {
        let promise = Promise<DataResponse>()
        let honorsDeadlines: Bool

        func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse {
            switch await promise.value(until: honorsDeadlines ? Deadline.current : nil) {
            case .fulfilled(let response): return response
            case .cancelled: throw FetchError(.cancelled, request: request, explanation: "was cancelled")
            case .deadlinePassed: throw FetchError(.timedOut, request: request, explanation: "was too late")
            }
        }
    }

    private let clock = ManualClock()
    private let request: DataRequest

    init() throws {
        request = try .example()
    }

    @Test(arguments: [true, false])
    func responsesInTimeAreReturned(honorsDeadlines: Bool) async throws {
        let timer = TimerService(clock)
        let base = WaitingDataFetcher(honorsDeadlines: honorsDeadlines)
        async let answer = base.timingOut(after: .seconds(2), timer: timer).fetch(request)
        await timer.timers(1)
        clock.advance(by: .seconds(2) - .nanoseconds(1))
        base.promise.fulfill(DataResponse(status: .notFound))
        #expect(try await answer.status == .notFound)
        #expect(timer.count == 0)
    }

    @Test(arguments: [true, false])
    func lateRequestsTimeOut(honorsDeadlines: Bool) async throws {
        let timer = TimerService(clock)
        let base = WaitingDataFetcher(honorsDeadlines: honorsDeadlines)
        let fetcher = base.timingOut(after: .seconds(2), timer: timer)
        async let failure = fetcher.failure(request)
        await timer.timers(1)
        clock.advance(by: .seconds(2))
        let error = await failure
        #expect(error?.reason == .timedOut)
        #expect(error?.explanation == "was not answered within 2.0 seconds")
        // The request may have arrived, so an unsafe one must not be sent again.
        #expect(error?.wasSent == true)
        #expect(timer.count == 0)
    }

    @Test(arguments: [true, false])
    func shorterLimitIsTheDeadlineOfTheWrappedFetcher(honorsDeadlines: Bool) async throws {
        let timer = TimerService(clock)
        let stub = StubDataFetcher { _ throws(FetchError) in
            DataResponse(status: DataResponse.Status(Int(Deadline.current?.remaining.components.seconds ?? 0)))
        }
        let base = HonestDataFetcher(base: stub, honorsDeadlines: honorsDeadlines)
        let fetcher = base.timingOut(after: .seconds(2), timer: timer).timingOut(after: .seconds(5), timer: timer)
        #expect(try await fetcher.fetch(request).status == 2)
        let strict = base.timingOut(after: .seconds(5), timer: timer).timingOut(after: .seconds(3), timer: timer)
        #expect(try await strict.fetch(request).status == 3)
    }

    @Test func earlierDeadlineOfTheCallerApplies() async throws {
        let timer = TimerService(clock)
        let base = WaitingDataFetcher(honorsDeadlines: false)
        let fetcher = base.timingOut(after: .seconds(5), timer: timer)
        let request = request
        async let result = Deadline(in: .seconds(2), on: timer).bound { () async throws(FetchError) in
            try await fetcher.fetch(request)
        }
        await timer.timers(1)
        clock.advance(by: .seconds(2))
        #expect(await result == nil)
    }

    @Test(arguments: [true, false], [Duration.zero, .seconds(-1)])
    func requestsAreNotSentWithoutTimeLeft(honorsDeadlines: Bool, limit: Duration) async throws {
        let recorder = RecordingDataFetcher(StubDataFetcher(DataResponse()))
        let base = HonestDataFetcher(base: recorder, honorsDeadlines: honorsDeadlines)
        let error = await #expect(throws: FetchError.self) {
            try await base.timingOut(after: limit, timer: TimerService(clock)).fetch(request)
        }
        #expect(error?.wasSent == false)
        #expect(recorder.requests.isEmpty)
    }

    @Test(arguments: [true, false])
    func cancellationIsThrown(honorsDeadlines: Bool) async {
        let timer = TimerService(clock)
        let fetcher = WaitingDataFetcher(honorsDeadlines: honorsDeadlines).timingOut(after: .seconds(2), timer: timer)
        let call = Task { [request] in await fetcher.reason(request) }
        await timer.timers(1)
        call.cancel()
        #expect(await call.value == .cancelled)
        #expect(timer.count == 0)
    }

    @Test func errorsOfTheWrappedFetcherAreThrown() async {
        let base = HonestDataFetcher(
            base: StubDataFetcher(failing: .timedOut, explanation: "hung"),
            honorsDeadlines: true
        )
        let error = await base.timingOut(after: .seconds(2), timer: TimerService(clock)).failure(request)
        #expect(error?.explanation == "hung")
    }

    @Test func tenThousandRequestsInFlightNeedOneSleepingTask() async {
        let timer = TimerService(clock)
        let fetcher = StubDataFetcher { request throws(FetchError) in
            try await WaitingDataFetcher(honorsDeadlines: false).fetch(request)
        }.timingOut(after: .seconds(2), timer: timer)
        await withTaskGroup(of: FetchError.Reason?.self) { group in
            for _ in 0..<10_000 {
                group.addTask { await fetcher.reason(request) }
            }
            await timer.timers(10_000)
            await clock.sleepers(1)
            #expect(clock.sleeperCount == 1)
            clock.advance(by: .seconds(2))
            #expect(await group.allSatisfy { $0 == .timedOut })
        }
        #expect(timer.count == 0)
    }

    @Test(arguments: [true, false])
    func errorOfAFetcherInsideThatNoticesTheDeadlineFirstNamesTheLimit(honorsDeadlines: Bool) async {
        let base = HonestDataFetcher(
            base: StubDataFetcher { [clock] request throws(FetchError) in
                clock.advance(by: .seconds(2))
                throw FetchError(.timedOut, request: request, explanation: "hung")
            },
            honorsDeadlines: honorsDeadlines
        )
        let error = await base.timingOut(after: .seconds(2), timer: TimerService(clock)).failure(request)
        #expect(error?.explanation == "was not answered within 2.0 seconds")
    }

    @Test func timeoutsKeepTheReportAndWhetherTheRequestWasSent() async throws {
        let timer = TimerService(clock)
        let report = RetryReport(attempts: 2, ending: "the deadline leaves no time")
        for wasSent in [true, false] {
            let base = HonestDataFetcher(
                base: StubDataFetcher { [clock] request throws(FetchError) in
                    clock.advance(by: .seconds(2))
                    throw FetchError(.timedOut, request: request, explanation: "hung", wasSent: wasSent).reporting(
                        report
                    )
                },
                honorsDeadlines: true
            )
            let error = await base.timingOut(after: .seconds(2), timer: timer).failure(request)
            #expect(error?.retries == report)
            #expect(error?.wasSent == wasSent)
            #expect(error?.explanation.hasPrefix("was not answered within 2.0 seconds") == true)
        }
    }

    @Test(arguments: [Duration.seconds(Int64.max), .seconds(100_000_000_000)])
    func limitsMayBeArbitrarilyLong(limit: Duration) async throws {
        let both = Rendezvous(of: 2)
        let source = StubDataFetcher { _ throws(FetchError) in
            await both.arrive()
            return DataResponse()
        }
        // Uses the continuous clock, which cannot represent times after about three centuries.
        let fetcher = source.timingOut(after: limit)
        let request = request
        async let answer = fetcher.fetch(request)
        await both.arrive()
        #expect(try await answer.status == .ok)
    }
}
