import InwardCore
import InwardTesting
import TestSupport
import Testing

@testable import InwardFetching

/// Tests the defaults. Services rely on them, so a changed default must be announced.
@Suite(.timeLimit(.minutes(5)))
struct DefaultsTests {
    private let source = StubDataFetcher(DataResponse())

    @Test func idempotentRequestsGetThreeAttempts() throws {
        let policy = RetryPolicy()
        #expect(policy.attempts == 3)
        #expect(policy.maximumRetryAfter == .seconds(30))
        #expect(policy.budget != nil)
        #expect(
            isSame(
                policy,
                as: RetryPolicy(baseDelay: .milliseconds(100), maximumDelay: .seconds(10)),
                unlike: RetryPolicy(baseDelay: .milliseconds(101))
            )
        )
        #expect(RetryPolicy.standardReasons == [.unreachable, .timedOut, .interrupted])
        #expect(RetryPolicy.standardStatuses == [408, 425, 429, 500, 502, 503, 504])
    }

    @Test func retryBudgetStartsWithTenRetries() throws {
        let budget = RetryBudget(timer: TimerService(ManualClock()))
        let paid = (0..<12).map { _ in budget.withdraw() }
        #expect(paid == Array(repeating: true, count: 10) + [false, false])
    }

    @Test func fiveRequestsOrASecondPayForARetry() {
        let clock = ManualClock()
        let budget = RetryBudget(timer: TimerService(clock))
        func paid() -> Int {
            var count = 0
            while budget.withdraw() { count += 1 }
            return count
        }
        #expect(paid() == 10)
        for _ in 0..<10 { budget.deposit() }
        #expect(paid() == 2)
        clock.advance(by: .seconds(3))
        #expect(paid() == 3)
        for _ in 0..<1_000 { budget.deposit() }
        #expect(paid() == 100)
    }

    @Test func concurrencyLimitsHaveTheDocumentedDefaults() throws {
        let limit = ConcurrencyLimit.adaptive(in: 1...200, from: 20, tolerance: 1.5)
        #expect(isSame(.adaptive(), as: limit, unlike: .adaptive(tolerance: 2)))
        #expect(isSame(.adaptive(), as: limit, unlike: .adaptive(in: 1...201)))
        #expect(ConcurrencyLimiter(.fixed(1)).capacity == 64)
    }

    @Test func decoratorsHaveTheDocumentedDefaults() throws {
        let rate = source.limitingRate(to: 7, per: .seconds(1))
        #expect(
            isSame(
                rate,
                as: source.limitingRate(to: 7, per: .seconds(1), burst: 1, waitingAtMost: .seconds(1)),
                unlike: source.limitingRate(to: 7, per: .seconds(1), burst: 1, waitingAtMost: .seconds(2))
            )
        )
        #expect(HedgingDelay.percentile(95, atFirst: .zero).capacity == 200)
        #expect(CircuitBreaker().name == "circuit")
        #expect(CircuitBreakerPolicy.SlowCalls(.seconds(1)).share == 0.5)
        let name = try #require(HeaderField.Name("Time-Left"))
        #expect(
            isSame(
                source.propagatingDeadline(in: name),
                as: source.propagatingDeadline(in: name, as: .milliseconds),
                unlike: source.propagatingDeadline(in: name, as: .seconds)
            )
        )
        #expect(
            isSame(
                source.coalescing(),
                as: source.coalescing(whenAbandoned: .cancel),
                unlike: source.coalescing(whenAbandoned: .finish)
            )
        )
        #expect(
            isSame(
                source.fallingBack(to: source),
                as: source.fallingBack(to: source, when: .unavailable, for: [.get, .head]),
                unlike: source.fallingBack(to: source, when: .standard, for: [.get, .head])
            )
        )
        #expect(FetchError(.timedOut, request: try .example(), explanation: "failed").wasSent)
    }

    @Test func transfersHaveTheDocumentedDefaults() throws {
        let url = try DataRequest.example().url
        #expect(
            isSame(
                FetchingDataLoader(url: url, dataFetcher: source),
                as: FetchingDataLoader(
                    url: url,
                    chunkByteCount: 1 << 20,
                    wholeByteLimit: 64 << 20,
                    dataFetcher: source
                ),
                unlike: FetchingDataLoader(url: url, wholeByteLimit: 65 << 20, dataFetcher: source)
            )
        )
        #expect(
            isSame(
                PuttingDataSaver(url: url, dataFetcher: source),
                as: PuttingDataSaver(
                    url: url,
                    contentType: "application/octet-stream",
                    chunkByteCount: 4 << 20,
                    dataFetcher: source
                ),
                unlike: PuttingDataSaver(url: url, chunkByteCount: 5 << 20, dataFetcher: source)
            )
        )
        #expect(
            isSame(
                PostingDataSaver(url: url, dataFetcher: source),
                as: PostingDataSaver(url: url, contentType: "text/plain; charset=utf-8", dataFetcher: source),
                unlike: PostingDataSaver(url: url, contentType: "text/plain", dataFetcher: source)
            )
        )
    }

    @Test func cachesAreForOneUser() {
        let cache = ResponseCache(byteLimit: 9, clock: ManualClock())
        #expect(cache.makePartition().policy == .private)
        #expect(!CachePolicy.private.isShared)
        #expect(CachePolicy.shared.isShared)
    }

    /// Nineteen requests do not pay for a second attempt, and twenty do.
    @Test func oneRequestInTwentyIsHedged() async throws {
        let clock = ManualClock()
        let timer = TimerService(clock)
        let (late, released) = (Rendezvous(of: 2), Rendezvous(of: 3))
        let slow = try DataRequest.example("http://upstream.test/slow")
        let source = StubDataFetcher { request throws(FetchError) in
            if request.url == slow.url, request.attempt == 1 {
                await late.arrive()
                await released.arrive()
            }
            return DataResponse(status: request.attempt == 1 ? 200 : 201)
        }
        let fetcher = source.hedging(after: .fixed(.seconds(1)), timer: timer)
        for _ in 0..<18 { _ = try await fetcher.fetch(.example()) }
        let nineteenth = Task { try await fetcher.fetch(slow) }
        await late.arrive()
        let twentieth = Task { try await fetcher.fetch(slow) }
        await timer.timers(1)
        clock.advance(by: .seconds(1))
        #expect(try await twentieth.value.status == 201)
        await released.arrive()
        #expect(try await nineteenth.value.status == 200)
    }

    @Test func circuitBreakersHaveTheDocumentedDefaults() {
        let policy = CircuitBreakerPolicy.standard
        #expect(policy.window == .calls(20))
        #expect(policy.minimumCalls == 10)
        #expect(policy.failureRateThreshold == 0.5)
        #expect(policy.openDuration == .seconds(10))
        #expect(policy.maximumOpenDuration == .seconds(60))
        #expect(policy.probes == 3)
    }

    /// A burst of one request. Waits of more than a second are rejected.
    @Test func rateLimiterHasABurstOfOneAndWaitsAtMostASecond() async throws {
        let clock = ManualClock()
        let limiter = RateLimiter(1, per: .seconds(1), timer: TimerService(clock))
        #expect(limiter.admit() != nil)
        #expect(limiter.admit() == nil)
        let request = try DataRequest.example()
        async let second = limiter.wait(request)
        await clock.sleepers(1)
        let error = await #expect(throws: FetchError.self) { try await limiter.wait(request) }
        #expect(error?.reason == .rejected)
        #expect(error?.retryAfter == .delay(.seconds(2)))
        clock.advance(by: .seconds(1))
        #expect(try await second.moment == .seconds(1))
    }

    @Test func adaptiveLimitStartsAtTwenty() {
        #expect(ConcurrencyLimit.adaptive().count == 20)
    }

    @Test func credentialsAreRenewedAtMostEveryTenSeconds() {
        #expect(Credentials.standardRenewalInterval == .seconds(10))
        #expect(Credentials.standardRenewalMargin == .seconds(30))
        #expect(Credentials.standardRenewalLimit == .seconds(30))
    }
}
