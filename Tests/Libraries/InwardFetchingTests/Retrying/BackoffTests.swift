import InwardTesting
import Testing

@testable import InwardFetching

struct BackoffTests {
    @Test func limitDoublesWithEachAttemptUpToTheMaximum() {
        let backoff = Backoff(base: .milliseconds(100), maximum: .milliseconds(500))
        let delays = [1, 2, 3, 4, 5, .max].map { backoff.delay(after: $0, fraction: 0.5) / .milliseconds(1) }
        #expect(delays == [50, 100, 200, 250, 250, 250])
    }

    @Test func delaysRangeFromZeroToTheLimit() {
        let seed = UInt64.random(in: .min ... .max)
        let jitter = Jitter(SplitMix64(seed: seed))
        let backoff = Backoff(base: .milliseconds(100), maximum: .seconds(1))
        for (attempts, limit) in [(1, 0.1), (2, 0.2), (3, 0.4), (4, 0.8), (5, 1), (6, 1)] {
            let delays = (0..<1_000).map { _ in
                backoff.delay(after: attempts, fraction: jitter.fraction()) / .seconds(limit)
            }
            #expect(delays.allSatisfy { (0..<1).contains($0) }, "seed \(seed)")
            #expect(delays.contains { $0 < 0.1 } && delays.contains { $0 > 0.9 }, "seed \(seed)")
        }
    }

    @Test func durationsOutOfRangeAreClamped() {
        #expect(Backoff(base: .seconds(-1), maximum: .seconds(1)).delay(after: .max, fraction: 0.9) == .zero)
        #expect(Backoff(base: .seconds(1), maximum: .seconds(-1)).delay(after: 3, fraction: 0.9) == .zero)
        let endless = Backoff(base: .seconds(Int64.max), maximum: .seconds(Int64.max))
        #expect(endless.delay(after: .max, fraction: 1.0.nextDown) <= Backoff.longest)
        #expect(endless.delay(after: 1, fraction: 0.5) / .seconds(1) == 15_768_000)
    }
}
