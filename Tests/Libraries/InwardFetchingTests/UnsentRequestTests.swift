import InwardCore
import InwardTesting
import TestSupport
import Testing

@testable import InwardFetching

/// Tests how layers treat a request that timed out or was cancelled before it was sent.
@Suite(.timeLimit(.minutes(5)))
struct UnsentRequestTests {
    private let clock = ManualClock()
    private let request: DataRequest

    init() throws {
        request = try .example()
    }

    private func breaker(on timer: TimerService) -> CircuitBreaker {
        CircuitBreaker(policy: CircuitBreakerPolicy(minimumCalls: 1), timer: timer)
    }

    @Test(arguments: [true, false])
    func timeoutIsAFailureOnlyIfTheRequestWasSent(wasSent: Bool) async {
        let breaker = breaker(on: TimerService(clock))
        let source = StubDataFetcher { request throws(FetchError) in
            throw FetchError(.timedOut, request: request, explanation: "was late", wasSent: wasSent)
        }
        #expect(await source.breakingCircuit(breaker).reason(request) == .timedOut)
        #expect((breaker.state == .closed) == !wasSent)
    }

    @Test(arguments: [true, false], [true, false])
    func cancellationByADeadlineIsAFailureOnlyIfTheRequestWasSent(isLate: Bool, wasSent: Bool) async {
        let timer = TimerService(clock)
        let breaker = breaker(on: timer)
        let source = StubDataFetcher { [clock] request throws(FetchError) in
            if isLate { clock.advance(by: .seconds(1)) }
            throw FetchError(.cancelled, request: request, explanation: "was cancelled", wasSent: wasSent)
        }
        let fetcher = source.breakingCircuit(breaker)
        _ = await Deadline(in: .seconds(1), on: timer).carried { await fetcher.reason(request) }
        #expect((breaker.state == .closed) == !(isLate && wasSent))
    }

    /// Returns the error of a request in a task that is already cancelled.
    private func cancelled(_ fetcher: some DataFetcher) async -> FetchError? {
        await withTaskGroup(of: FetchError?.self) { [request] group in
            group.cancelAll()
            group.addTask { await fetcher.failure(request) }
            return await group.next() ?? nil
        }
    }

    @Test func cancellationWhileWaitingForAPermitMeansUnsent() async {
        let limiter = ConcurrencyLimiter(.fixed(1), timer: TimerService(clock))
        let source = RecordingDataFetcher(StubDataFetcher(DataResponse()))
        let isFull = limiter.admit()
        #expect(isFull)
        let error = await cancelled(source.limitingConcurrency(to: limiter))
        #expect(error?.reason == .cancelled)
        #expect(error?.wasSent == false)
        #expect(source.requests.isEmpty)
    }

    @Test func cancellationWhileWaitingForASlotMeansUnsent() async {
        let source = RecordingDataFetcher(StubDataFetcher(DataResponse()))
        let fetcher = source.limitingRate(to: RateLimiter(1, per: .seconds(1), timer: TimerService(clock)))
        #expect(await fetcher.failure(request) == nil)
        let error = await cancelled(fetcher)
        #expect(error?.reason == .cancelled)
        #expect(error?.wasSent == false)
        #expect(source.requests.count == 1)
    }

    @Test func cancellationOrDeadlineBeforeJoiningMeansUnsent() async {
        let source = RecordingDataFetcher(StubDataFetcher(DataResponse()))
        let fetcher = source.coalescing()
        #expect(await cancelled(fetcher)?.wasSent == false)
        let late = await Deadline(in: .zero, on: TimerService(clock)).carried { await fetcher.failure(request) }.get()
        #expect(late?.reason == .timedOut)
        #expect(late?.wasSent == false)
        #expect(source.requests.isEmpty)
    }

    /// Requests that give up in the queue of a limiter do not open the breaker around it.
    @Test func waitersThatGiveUpDoNotOpenTheCircuit() async {
        let timer = TimerService(clock)
        let breaker = breaker(on: timer)
        let limiter = ConcurrencyLimiter(.fixed(1), timer: timer)
        let isFull = limiter.admit()
        #expect(isFull)
        let fetcher = StubDataFetcher(DataResponse()).limitingConcurrency(to: limiter).breakingCircuit(breaker)
        _ = await Deadline(in: .zero, on: timer).carried { await cancelled(fetcher) }
        #expect(breaker.state == .closed)
    }

    @Test func failedRenewalIsNotAFailureOfTheUpstream() async throws {
        let breaker = breaker(on: TimerService(clock))
        let token = try DataRequest.example("https://auth.test/token", method: .post)
        let credentials = Credentials(for: try DataRequest.example("https://upstream.test").url) {
            () throws(FetchError) in
            throw FetchError(.timedOut, request: token, explanation: "was not answered")
        }
        let source = RecordingDataFetcher(StubDataFetcher(DataResponse()))
        let fetcher = source.authorizing(with: credentials).breakingCircuit(breaker)
        let error = await fetcher.failure(try .example("https://upstream.test/users"))
        #expect(error?.description == "POST https://auth.test/token was not answered")
        #expect(error?.wasSent == false)
        #expect(breaker.state == .closed)
        #expect(source.requests.isEmpty)
    }

    @Test func lateRequestsTimeOutInsteadOfExceedingTheRate() async {
        let timer = TimerService(clock)
        let source = RecordingDataFetcher(StubDataFetcher(DataResponse()))
        let fetcher = source.limitingRate(to: RateLimiter(1, per: .seconds(1), timer: timer))
        #expect(await fetcher.failure(request) == nil)
        let error = await Deadline(in: .zero, on: timer).carried { await fetcher.failure(request) }.get()
        #expect(error?.reason == .timedOut)
        #expect(error?.wasSent == false)
        #expect(source.requests.count == 1)
    }
}
