import InwardCore
import InwardFetching
import TestSupport
import Testing

@testable import InwardRepositories

/// The default values. Services that link this package rely on them, so a change of a default must be announced.
struct DefaultsTests {
    @Test func answersAreFreshForAMinuteAndCachedForAWeek() {
        let lifetimes = Lifetimes()
        #expect(lifetimes.staleAfter == .seconds(60))
        #expect(lifetimes.staleWhileRevalidate == .zero)
        #expect(lifetimes.staleIfError == .seconds(86_400))
        #expect(lifetimes.expiresAfter == .seconds(604_800))
        #expect(lifetimes.missingExpiresAfter == .seconds(10))
        #expect(lifetimes.jitter == 0.1)
    }

    @Test func writesUsePostByDefault() {
        #expect(OutboxWrite(endpoint: "posts", subject: ["7"], path: "posts").method == .post)
    }

    @Test func pageNumbersBeginAtOne() {
        #expect(
            isSame(
                Paging.numbers("page", size: "size"),
                as: .numbers("page", first: 1, size: "size"),
                unlike: .numbers("page", first: 0, size: "size")
            )
        )
    }

    @Test func outboxWaitsGrowAndAreBounded() {
        let policy = OutboxPolicy.standard
        #expect(policy.initialWait == .seconds(1) && policy.factor == 2 && policy.maximumWait == .seconds(300))
        #expect(policy.maximumRetryAfter == .seconds(86_400))
        #expect(policy.concurrency == 4 && policy.attemptLimit == .seconds(60) && policy.reportedAttempts == 10)
        #expect(policy.maximumPending == 100_000)
        #expect(policy.maximumWriteBytes == 1_048_576 && policy.maximumPendingBytes == 67_108_864)
        #expect(policy.maximumDeadLetters == 10_000 && policy.maximumDeadLetterBytes == 67_108_864)
        #expect(policy.refusalsBeforePause == 5)
        #expect(policy.initialPause == .seconds(60) && policy.maximumPause == .seconds(3_600))
    }

    @Test func memoryHoldsTenThousandEntitiesOf32MebibytesInTotal() {
        #expect(MemoryLimit().count == 10_000)
        #expect(MemoryLimit().bytes == 33_554_432)
        for limit in [MemoryLimit.nothing, MemoryLimit(count: -1, bytes: -1)] {
            #expect(limit.count == 0 && limit.bytes == 0)
        }
    }

    @Test func noRecordsAreLostByDefault() {
        #expect(RecordLosses().keys.isEmpty)
        #expect(RecordLosses().unknownCount == 0)
    }

    @Test func batchesHoldAHundredEntitiesAndWaitTwoMilliseconds() {
        let batching = Batching<Int>(fields: { _ in [] })
        #expect(batching.limit == 100)
        #expect(batching.window == .milliseconds(2))
    }
}
