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
struct UpstreamProtectionTests {
    /// An upstream that holds requests until a gate opens, and counts the requests under way.
    private final class Slow: DataFetcher {
        private struct State {
            var underWay = 0
            var most = 0
            var arrivals: [DataRequest: Promise<Void>] = [:]

            mutating func arrival(of request: DataRequest) -> Promise<Void> {
                let arrival = arrivals[request] ?? Promise()
                arrivals[request] = arrival
                return arrival
            }
        }

        private let state = Mutex(State())
        private let status: DataResponse.Status
        let gate: Gate

        init(_ status: DataResponse.Status = .ok, isOpen: Bool = false) {
            self.status = status
            gate = Gate(isOpen: isOpen)
        }

        /// The maximum number of concurrent requests.
        var most: Int { state.withLock(\.most) }

        /// Waits until a request has arrived.
        func arrival(of request: DataRequest) async { _ = await state.withLock { $0.arrival(of: request) }.value() }

        func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse {
            let arrival = state.withLock { state in
                state.underWay += 1
                state.most = max(state.most, state.underWay)
                return state.arrival(of: request)
            }
            arrival.fulfill(())
            _ = await gate.pass()
            for _ in 0..<3 { await Task.yield() }
            state.withLock { $0.underWay -= 1 }
            return DataResponse(status: status)
        }
    }

    private let clock = ManualClock()
    private let timer: TimerService

    init() { timer = TimerService(clock) }

    private func protection(_ policy: UpstreamPolicy) -> UpstreamProtection {
        UpstreamProtection("orders", by: policy, timer: timer)
    }

    private func request(_ number: Int = 0) throws -> DataRequest { try .example("http://upstream.test/\(number)") }

    @Test func layersFollowTheCurrentPolicy() throws {
        let protection = protection(.standard)
        let fetcher = StubDataFetcher(DataResponse()).protecting(by: protection)
        let pipeline = StubDataFetcher(DataResponse()).protecting(by: .standard, timer: timer).pipeline
        #expect(fetcher.pipeline.layers.map(\.kind) == pipeline.layers.map(\.kind))
        #expect(fetcher.pipeline.source == "StubDataFetcher")
        protection.replacePolicy(try UpstreamPolicy(attempts: 7, requestsPerSecond: 5))
        #expect(fetcher.pipeline.layers.map(\.kind).contains(.rateLimit))
        #expect(fetcher.pipeline.description.contains("tries up to 7 times"))
        #expect(fetcher.pipeline.warnings == [])
        #expect(protection.policy.attempts == 7)
    }

    @Test(arguments: [true, false])
    func deadlinesAreHonoredIfTheClientHonorsThem(isHonored: Bool) {
        let client = HonestDataFetcher(base: StubDataFetcher(DataResponse()), honorsDeadlines: isHonored)
        #expect(client.protecting(by: protection(.standard)).honorsDeadlines == isHonored)
    }

    @Test func requestsInFlightUseTheOldPolicyAndLaterOnesTheNew() async throws {
        let slow = Slow(503)
        let protection = protection(try UpstreamPolicy(attempts: 1))
        let fetcher = slow.protecting(by: protection)
        async let first = fetcher.fetch(request(1))
        await slow.arrival(of: try request(1))
        protection.replacePolicy(try UpstreamPolicy(retryShare: 0))
        slow.gate.open()
        #expect(try await first.retries?.ending == "the maximum")
        let quick = StubDataFetcher(DataResponse(status: 503)).protecting(by: protection)
        #expect(try await quick.fetch(request(2)).retries?.ending == "the retry budget is used up")
    }

    @Test func newConcurrencyLimitCountsRequestsInFlight() async throws {
        let slow = Slow()
        let protection = protection(try UpstreamPolicy(attempts: 1, concurrency: 1, queue: 0))
        let fetcher = slow.protecting(by: protection)
        async let first = fetcher.fetch(request(1))
        await slow.arrival(of: try request(1))
        #expect(await fetcher.reason(try request(2)) == .rejected)
        protection.replacePolicy(try UpstreamPolicy(attempts: 1, concurrency: 2, queue: 0))
        async let third = fetcher.fetch(request(3))
        await slow.arrival(of: try request(3))
        #expect(protection.underWay == 2)
        protection.replacePolicy(try UpstreamPolicy(attempts: 1, concurrency: 1, queue: 0))
        #expect(await fetcher.reason(try request(4)) == .rejected)
        slow.gate.open()
        #expect(try await first.status == .ok)
        #expect(try await third.status == .ok)
        #expect(protection.underWay == 0)
        #expect(try await fetcher.fetch(request(5)).status == .ok)
    }

    /// On one actor, so that no task continues before the test checks the counts.
    @MainActor @Test func waitersProceedWhenTheNewLimitHasPermits() async throws {
        let limiter = ConcurrencyLimiter(.fixed(1), waiting: 2, atMost: .seconds(60), timer: timer)
        #expect(limiter.admit())
        let waiting = (1...2).map { _ in
            Task { @MainActor in
                await Result(awaiting: { () async throws(LimitRejection) in try await limiter.wait() }).failure
            }
        }
        await timer.timers(2)
        limiter.change(to: 2, waiting: 0)()
        #expect(limiter.underWay == 2)
        #expect(limiter.waiting == 1)
        await #expect(throws: LimitRejection.self) { try await limiter.wait() }
        limiter.change(to: 1, waiting: 0)()
        limiter.release()
        #expect(limiter.underWay == 1)
        #expect(limiter.waiting == 1)
        limiter.release()
        for task in waiting { #expect(await task.value == nil) }
        #expect(limiter.underWay == 1)
        #expect(limiter.limit == 1)
    }

    @Test func permitsSurviveManyPolicyChanges() async throws {
        let slow = Slow(isOpen: true)
        let protection = protection(try UpstreamPolicy(attempts: 1, concurrency: 4, queue: 1_000))
        let fetcher = slow.protecting(by: protection)
        try await withThrowingTaskGroup { group in
            for number in 0..<400 {
                group.addTask { _ = try await fetcher.fetch(request(number)) }
                let policy = try UpstreamPolicy(attempts: 1, concurrency: 1 + number % 4, queue: 1_000)
                group.addTask { protection.replacePolicy(policy) }
            }
            try await group.waitForAll()
        }
        #expect(slow.most <= 4)
        #expect(protection.underWay == 0)
        #expect(protection.waiting == 0)
    }

    @Test func circuitBreakerIsKeptIfItsSettingsAreUnchanged() async throws {
        let protection = protection(try UpstreamPolicy(attempts: 1))
        let fetcher = StubDataFetcher(failing: .interrupted).protecting(by: protection)
        let breaker = protection.circuitBreaker
        for number in 0..<9 { _ = await fetcher.reason(try request(number)) }
        protection.replacePolicy(try UpstreamPolicy(attempts: 1, concurrency: 3))
        #expect(protection.circuitBreaker === breaker)
        #expect(breaker.state == .closed)
        _ = await fetcher.reason(try request(9))
        #expect(breaker.state == .open(remaining: .seconds(10)))
        #expect(await fetcher.reason(try request(10)) == .rejected)

        protection.replacePolicy(try UpstreamPolicy(attempts: 1, openDuration: .seconds(5)))
        #expect(protection.circuitBreaker !== breaker)
        #expect(protection.circuitBreaker.state == .closed)
        #expect(protection.circuitBreaker.name == "orders")
        #expect(await fetcher.reason(try request(11)) == .interrupted)
    }

    @Test func isolatedCircuitStaysIsolatedUnderANewPolicy() throws {
        let protection = protection(.standard)
        protection.circuitBreaker.isolate()
        protection.replacePolicy(try UpstreamPolicy(failureRateThreshold: 0.9))
        #expect(protection.circuitBreaker.state == .isolated)
        #expect(protection.circuitBreaker.policy.failureRateThreshold == 0.9)
    }

    @Test func retryBudgetIsKeptIfItsShareIsUnchanged() throws {
        let protection = protection(.standard)
        let budget = protection.parts.budget
        protection.replacePolicy(try UpstreamPolicy(attempts: 2))
        #expect(protection.parts.budget === budget)
        protection.replacePolicy(try UpstreamPolicy(retryShare: 0.1))
        #expect(protection.parts.budget !== budget)
    }

    @Test func newRateLimitCountsRequestsUnderTheOldOne() async throws {
        let client = RecordingDataFetcher(StubDataFetcher(DataResponse()))
        let protection = protection(try UpstreamPolicy(requestsPerSecond: 2))
        let fetcher = client.protecting(by: protection)
        for number in 0..<2 { _ = try await fetcher.fetch(request(number)) }
        protection.replacePolicy(try UpstreamPolicy(requestsPerSecond: 4))
        for number in 2..<4 { _ = try await fetcher.fetch(request(number)) }
        async let fifth = fetcher.fetch(request(4))
        await timer.timers(1)
        #expect(client.requests.count == 4)
        clock.advance(by: .milliseconds(250))
        #expect(try await fifth.status == .ok)
    }

    @Test func reservedSlotsStayReserved() {
        var old = TokenBucket(1, per: .seconds(1), burst: 1)
        let turns = (0..<3).map { _ in old.reserve(at: .zero, by: .seconds(9))?.moment }
        #expect(turns == [.zero, .seconds(1), .seconds(2)])
        var same = TokenBucket(1, per: .seconds(1), burst: 1)
        same.takeOver(from: old, at: .zero)
        #expect(same.next(at: .zero) == .seconds(3))
        // A slower bucket takes over all reserved slots, and past ones up to its capacity.
        var slower = TokenBucket(1, per: .seconds(10), burst: 1)
        slower.takeOver(from: old, at: .zero)
        #expect(slower.next(at: .zero) == .seconds(30))
        var later = TokenBucket(1, per: .seconds(1), burst: 1)
        later.takeOver(from: old, at: .seconds(60))
        #expect(later.next(at: .seconds(60)) <= .seconds(60))
    }

    @Test func observersReceiveEventsUnderEveryPolicy() async throws {
        let recorder = RecordingFetchObserver()
        let protection = protection(try UpstreamPolicy(attempts: 1))
        let fetcher = StubDataFetcher(failing: .interrupted).protecting(by: protection)
        let observed = fetcher.observing(with: recorder, timer: timer)
        _ = await observed.reason(try request(0))
        protection.replacePolicy(try UpstreamPolicy(attempts: 1, concurrency: 3))
        for number in 1..<10 { _ = await observed.reason(try request(number)) }
        _ = await fetcher.reason(try request(10))
        #expect(recorder.descriptions.count { $0.hasPrefix("Attempt 1 of") && $0.hasSuffix("began") } == 10)
        #expect(recorder.events.contains(.circuitChanged("orders", from: "closed", to: "open")))
        #expect(await observed.reason(try request(11)) == .rejected)
        #expect(recorder.descriptions.contains { $0.contains("/11") && $0.contains("rejected") })
    }
}
