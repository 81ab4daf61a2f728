import InterfaceAdapters
import InwardTesting
import Testing
import UseCases

/// What layers make of a request that ran out of time before anything was sent, or because of whoever bounds it.
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
    func itSaysNothingOfTheSourceToABreaker(wasSent: Bool) async {
        let breaker = breaker(on: TimerService(clock))
        let source = StubDataFetcher { request throws(FetchError) in
            throw FetchError(.timedOut, request: request, explanation: "was late", wasSent: wasSent)
        }
        #expect(await source.breakingCircuit(breaker).reason(request) == .timedOut)
        #expect((breaker.state == .closed) == !wasSent)
    }

    @Test(arguments: [true, false])
    func whatADeadlineCancelsIsTheSourcesFaultAndWhatACallerDoesIsNot(isLate: Bool) async {
        let timer = TimerService(clock)
        let breaker = breaker(on: timer)
        let source = StubDataFetcher { [clock] request throws(FetchError) in
            if isLate { clock.advance(by: .seconds(1)) }
            throw FetchError(.cancelled, request: request, explanation: "was cancelled")
        }
        let fetcher = source.breakingCircuit(breaker)
        _ = await Deadline(in: .seconds(1), on: timer).carried { await fetcher.reason(request) }
        #expect((breaker.state == .closed) == !isLate)
    }

    @Test func itIsNotToldThatARateIsTheMostAllowed() async {
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
