import InwardFetching
import Testing

@testable import InwardRepositories

struct OutboxPolicyTests {
    private func policy(
        initialWait: Duration = .seconds(1),
        factor: Double = 2,
        maximumWait: Duration = .seconds(300),
        fraction: Double = 0.5
    ) -> OutboxPolicy {
        OutboxPolicy(
            initialWait: initialWait,
            factor: factor,
            maximumWait: maximumWait,
            maximumRetryAfter: .seconds(1_000),
            jitter: Jitter { fraction }
        )
    }

    @Test func waitsGrowByTheFactorUpToTheMaximum() {
        let waits = [1, 2, 3, 4, 1_000_000].map {
            policy(factor: 3, maximumWait: .seconds(20)).wait(after: $0, retryAfter: nil)
        }
        #expect(waits == [.milliseconds(500), .milliseconds(1_500), .milliseconds(4_500), .seconds(10), .seconds(10)])
    }

    @Test(arguments: [
        (0, Duration.zero), (-5, .zero), (.nan, .zero), (1.5, .milliseconds(1_500)), (999, .seconds(999)),
        (.infinity, .seconds(1_000)), (1_001, .seconds(1_000)),
    ])
    func remainingWaitIsNeitherNegativeNorTooLong(seconds: Double, rest: Duration) {
        #expect(policy().rest(of: seconds) == rest)
    }

    @Test func retryAfterIsTheMinimumWaitUpToALimit() {
        let policy = policy()
        #expect(policy.wait(after: 1, retryAfter: .seconds(100)) == .seconds(100))
        #expect(policy.wait(after: 1, retryAfter: .milliseconds(1)) == .milliseconds(500))
        #expect(policy.wait(after: 1, retryAfter: .seconds(-5)) == .milliseconds(500))
        #expect(policy.wait(after: 1, retryAfter: .seconds(100_000)) == .seconds(1_000))
    }

    @Test(arguments: [0, -1, .nan, 1]) func factorBelowOneCountsAsOne(factor: Double) {
        #expect(policy(factor: factor).wait(after: 50, retryAfter: nil) == .milliseconds(500))
    }

    @Test func factorMayBeAFraction() {
        #expect(policy(factor: 1.5).wait(after: 3, retryAfter: nil) == .milliseconds(1_125))
    }

    @Test func valuesOutOfRangeAreClamped() {
        let policy = OutboxPolicy(
            initialWait: .seconds(-1),
            factor: .infinity,
            maximumWait: .seconds(Int64.max),
            maximumRetryAfter: .seconds(-1),
            concurrency: 0,
            attemptLimit: .seconds(-1),
            reportedAttempts: -1,
            maximumPending: 0,
            maximumWriteBytes: 0,
            maximumPendingBytes: 0,
            maximumDeadLetters: 0,
            maximumDeadLetterBytes: 0,
            refusalsBeforePause: 0,
            initialPause: .seconds(-1),
            maximumPause: .seconds(Int64.max),
            jitter: Jitter { 1 }
        )
        #expect(policy.initialWait == .zero)
        #expect(policy.factor == 100)
        #expect(policy.maximumWait == .seconds(31_536_000))
        #expect(policy.maximumPause == .seconds(31_536_000))
        #expect([policy.maximumRetryAfter, policy.attemptLimit, policy.initialPause] == [.zero, .zero, .zero])
        let counts = [
            policy.concurrency, policy.reportedAttempts, policy.maximumPending, policy.maximumDeadLetters,
            policy.refusalsBeforePause,
        ]
        #expect(counts == [1, 1, 1, 1, 1])
        #expect([policy.maximumWriteBytes, policy.maximumPendingBytes, policy.maximumDeadLetterBytes] == [1, 1, 1])
        #expect(policy.wait(after: 9, retryAfter: nil) == .zero)
    }
}
