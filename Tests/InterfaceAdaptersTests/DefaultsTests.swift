import InwardTesting
import Testing
import UseCases

@testable import InterfaceAdapters

/// What holds where nobody says otherwise. A service that links this package relies on it, so a change of a default is a change that
/// its users have to be told of.
struct DefaultsTests {
    @Test func answersAreFreshForAMinuteAndKeptForAWeek() {
        let lifetimes = Lifetimes()
        #expect(lifetimes.fresh == .seconds(60))
        #expect(lifetimes.staleWhileRevalidating == .zero)
        #expect(lifetimes.staleOnError == .seconds(86_400))
        #expect(lifetimes.kept == .seconds(604_800))
        #expect(lifetimes.absence == .seconds(10))
        #expect(lifetimes.spread == 0.1)
    }

    @Test func aRequestIsTriedThreeTimesIfThatIsSafe() throws {
        let policy = RetryPolicy()
        #expect(policy.attempts == 3)
        #expect(policy.maximumRetryAfter == .seconds(30))
        #expect(policy.budget != nil)
        #expect(RetryPolicy.standardReasons == [.unreachable, .timedOut, .interrupted])
        #expect(RetryPolicy.standardStatuses == [408, 425, 429, 500, 502, 503, 504])
    }

    @Test func theRetryBudgetBeginsWithTenRetries() throws {
        let budget = RetryBudget(timer: TimerService(ManualClock()))
        let paid = (0..<12).map { _ in budget.withdraw() }
        #expect(paid == Array(repeating: true, count: 10) + [false, false])
    }

    @Test func aBreakerOpensAfterHalfOfTwentyCallsFailed() {
        let policy = CircuitBreakerPolicy.standard
        #expect(policy.window == .calls(20))
        #expect(policy.minimumCalls == 10)
        #expect(policy.failureShare == 0.5)
        #expect(policy.openDuration == .seconds(10))
        #expect(policy.largestOpenDuration == .seconds(60))
        #expect(policy.probes == 3)
    }

    /// One at once, and who would wait for longer than a second is refused.
    @Test func aRateLimiterHasNoBurstAndASecondOfPatience() async throws {
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

    @Test func anAdaptiveLimitBeginsWithTwenty() {
        #expect(ConcurrencyLimit.adaptive().count == 20)
    }

    @Test func anOutboxWaitsLongerAndLongerAndIsBounded() {
        let policy = OutboxPolicy.standard
        #expect(policy.initialWait == .seconds(1) && policy.factor == 2 && policy.largestWait == .seconds(300))
        #expect(policy.largestRetryAfter == .seconds(86_400))
        #expect(policy.concurrency == 4 && policy.attemptLimit == .seconds(60) && policy.reportedAttempts == 10)
        #expect(policy.mostPending == 100_000)
        #expect(policy.maximumWriteBytes == 1_048_576 && policy.maximumPendingBytes == 67_108_864)
        #expect(policy.maximumDeadLetters == 10_000 && policy.maximumDeadLetterBytes == 67_108_864)
        #expect(policy.refusalsBeforePause == 5)
        #expect(policy.initialPause == .seconds(60) && policy.maximumPause == .seconds(3_600))
    }

    @Test func credentialsAreRenewedOnceInTenSeconds() {
        #expect(Credentials.standardRenewalInterval == .seconds(10))
    }

    @Test func aRepositoryKeepsTenThousandEntitiesOf32MebibytesTogether() {
        #expect(MemoryLimit().count == 10_000)
        #expect(MemoryLimit().bytes == 33_554_432)
        for limit in [MemoryLimit.nothing, MemoryLimit(count: -1, bytes: -1)] {
            #expect(limit.count == 0 && limit.bytes == 0)
        }
    }

    @Test func recordsAreNotLost() {
        #expect(RecordLosses().keys.isEmpty)
        #expect(RecordLosses().unknownCount == 0)
    }

    @Test func aBatchHasAtMostAHundredOfTwoMilliseconds() {
        let batching = Batching<Int>(fields: { _ in [] })
        #expect(batching.limit == 100)
        #expect(batching.window == .milliseconds(2))
    }
}
