import InwardCore
import InwardTesting
import Synchronization
import TestSupport
import Testing

@testable import InwardFetching

@Suite(.timeLimit(.minutes(5)))
struct LimitingRateDataFetcherTests {
    /// An observer that records rejections.
    private final class Refusals: FetchObserver {
        private let recorded = Mutex<[FetchError]>([])
        var errors: [FetchError] { recorded.withLock(\.self) }
        func rejected(_ request: DataRequest, because error: FetchError) { recorded.withLock { $0.append(error) } }
    }

    private let clock = ManualClock()
    private let timer: TimerService
    private let source = RecordingDataFetcher(StubDataFetcher(DataResponse()))

    init() {
        timer = TimerService(clock)
    }

    /// Returns a pipeline with one request per second and a burst of two.
    private func fetcher(waitingAtMost patience: Duration = .seconds(2)) -> LimitingRateDataFetcher {
        source.limitingRate(to: RateLimiter(1, per: .seconds(1), burst: 2, waitingAtMost: patience, timer: timer))
    }

    /// Sends a request in a separate task.
    private func ask(by fetcher: LimitingRateDataFetcher, within limit: Duration? = nil) throws -> Task<
        FetchError?, Never
    > {
        let request = try DataRequest.example()
        return Task { [timer] in
            do throws(FetchError) {
                if let limit {
                    _ = try await Deadline(in: limit, on: timer).carried { () async throws(FetchError) in
                        try await fetcher.fetch(request)
                    }.get()
                } else {
                    _ = try await fetcher.fetch(request)
                }
                return nil
            } catch {
                return error
            }
        }
    }

    @Test func earlyRequestsWaitForTheirSlot() async throws {
        let fetcher = fetcher()
        for _ in 0..<2 { _ = try await fetcher.fetch(.example()) }
        let third = try ask(by: fetcher)
        await timer.timers(1)
        clock.advance(by: .milliseconds(999))
        #expect(source.requests.count == 2)
        let fourth = try ask(by: fetcher)
        await timer.timers(2)
        clock.advance(by: .milliseconds(1))
        #expect(await third.value == nil)
        #expect(source.requests.count == 3)
        clock.advance(by: .seconds(1))
        #expect(await fourth.value == nil)
        #expect(source.requests.count == 4)
    }

    @Test func longWaitsAreRejectedWithARetryDelay() async throws {
        let refusals = Refusals()
        let fetcher = fetcher(waitingAtMost: .milliseconds(500))
        for _ in 0..<2 { _ = try await fetcher.fetch(.example()) }
        clock.advance(by: .milliseconds(400))
        let observed = fetcher.observing(with: refusals)
        let error = await #expect(throws: FetchError.self) { try await observed.fetch(.example()) }
        #expect(error?.reason == .rejected)
        #expect(error?.retryAfter == .delay(.milliseconds(600)))
        #expect(error?.explanation == "was not sent: the rate limit is 1 in 1.0 seconds")
        #expect(refusals.errors.map(\.reason) == [.rejected])
        #expect(timer.count == 0)
        #expect(source.requests.count == 2)
        // The rejected request has taken no slot.
        clock.advance(by: .milliseconds(600))
        _ = try await fetcher.fetch(.example())
    }

    @Test(arguments: [Duration.zero, .seconds(-5)])
    func maximumWaitOfZeroRejectsRequestsImmediately(patience: Duration) async throws {
        let fetcher = fetcher(waitingAtMost: patience)
        for _ in 0..<2 { _ = try await fetcher.fetch(.example()) }
        let error = await #expect(throws: FetchError.self) { try await fetcher.fetch(.example()) }
        #expect(error?.retryAfter == .delay(.seconds(1)))
    }

    @Test func waitsBeyondTheDeadlineAreRejected() async throws {
        let fetcher = fetcher()
        for _ in 0..<2 { _ = try await fetcher.fetch(.example()) }
        let error = try await ask(by: fetcher, within: .milliseconds(999)).value
        #expect(error?.reason == .rejected)
        #expect(error?.retryAfter == .delay(.seconds(1)))
        #expect(timer.count == 0)
        let other = try ask(by: fetcher, within: .milliseconds(1_001))
        await timer.timers(1)
        clock.advance(by: .seconds(1))
        #expect(await other.value == nil)
    }

    @Test func slotOfACancelledRequestPassesToTheNext() async throws {
        let fetcher = fetcher()
        for _ in 0..<2 { _ = try await fetcher.fetch(.example()) }
        let third = try ask(by: fetcher)
        await timer.timers(1)
        third.cancel()
        #expect(await third.value?.reason == .cancelled)
        #expect(timer.count == 0)
        let fourth = try ask(by: fetcher)
        await timer.timers(1)
        clock.advance(by: .seconds(1))
        #expect(await fourth.value == nil)
        #expect(source.requests.count == 3)
    }

    @Test(arguments: [Duration.zero, .seconds(2)])
    func cancelledRequestsTakeNoSlot(patience: Duration) async throws {
        let limiter = RateLimiter(1, per: .seconds(1), burst: 2, waitingAtMost: patience, timer: timer)
        let fetcher = source.limitingRate(to: limiter)
        for _ in 0..<2 { _ = try await fetcher.fetch(.example()) }
        let request = try DataRequest.example()
        let cancelled = Task {
            // `unsafe`: the task is used only while the closure runs.
            unsafe withUnsafeCurrentTask { task in unsafe task?.cancel() }
            return try await fetcher.fetch(request)
        }
        let error = await #expect(throws: FetchError.self) { try await cancelled.value }
        #expect(error?.reason == .cancelled)
        #expect(timer.count == 0)
        clock.advance(by: .seconds(1))
        #expect(limiter.admit() != nil)
    }

    /// A request may be unsent because an inner circuit breaker is open, for example.
    @Test func unsentRequestsReturnTheirSlot() async throws {
        let limiter = RateLimiter(1, per: .seconds(1), burst: 1, waitingAtMost: .zero, timer: timer)
        let refusing = StubDataFetcher(failing: .rejected).limitingRate(to: limiter)
        for _ in 0..<3 {
            #expect(await refusing.failure(try .example())?.explanation.contains("the rate limit is") == false)
        }
        _ = try await source.limitingRate(to: limiter).fetch(.example())
        let refused = await source.limitingRate(to: limiter).failure(try .example())
        #expect(refused?.explanation.contains("the rate limit is") == true)
    }

    @Test func pipelinesWithTheSameLimiterShareItsRate() async throws {
        let limiter = RateLimiter(1, per: .seconds(1), waitingAtMost: .zero, timer: timer)
        _ = try await source.limitingRate(to: limiter).fetch(.example())
        await #expect(throws: FetchError.self) { try await source.limitingRate(to: limiter).fetch(.example()) }
        let own = source.limitingRate(to: 1, per: .seconds(1), waitingAtMost: .zero, timer: timer)
        _ = try await own.fetch(.example())
        await #expect(throws: FetchError.self) { try await own.fetch(.example()) }
        clock.advance(by: .seconds(1))
        for fetcher in [source.limitingRate(to: limiter), own] { _ = try await fetcher.fetch(.example()) }
    }

    @Test(arguments: 1...5)
    func concurrentTasksRespectTheRate(round: Int) async throws {
        let fetcher = source.limitingRate(
            to: RateLimiter(10, per: .seconds(1), burst: 5, waitingAtMost: .seconds(2), timer: timer)
        )
        let request = try DataRequest.example()
        await withTaskGroup { group in
            for _ in 0..<40 {
                group.addTask {
                    await Result(awaiting: { () async throws(FetchError) in try await fetcher.fetch(request) })
                }
            }
            // 5 are sent immediately, 20 wait for up to 2 seconds, and 15 are rejected.
            var refused: [RetryAfter?] = []
            for _ in 0..<20 {
                if case .failure(let error)? = await group.next() { refused.append(error.retryAfter) }
            }
            #expect(refused == Array(repeating: .delay(.milliseconds(2_100)), count: 15))
            await timer.timers(20)
            for number in 1...20 {
                clock.advance(by: .milliseconds(100))
                let outcome = await group.next()
                #expect((try? outcome?.get()) != nil)
                #expect(source.requests.count == 5 + number)
            }
        }
    }

    @Test func layerDescriptionNamesTheRate() {
        let layer = source.limitingRate(to: 100, per: .seconds(1), burst: 20).layer
        #expect(layer == DataFetcherLayer(.rateLimit, "sends at most 100 in 1.0 seconds"))
    }
}
