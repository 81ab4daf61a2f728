import InwardTesting
import Testing

@testable import InwardFetching

struct HedgingPolicyTests {
    @Test(arguments: [0, 0.05, 0.1, 0.5, 1])
    func hedgingStaysWithinTheShare(share: Double) {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SplitMix64(seed: seed)
        var policy = HedgingPolicy(.fixed(.seconds(1)), share: share)
        var (begun, hedged, open) = (0, 0, 0)
        for _ in 0..<2_000 {
            if Bool.random(using: &random) {
                begun += 1
                if policy.begin() != nil { open += 1 }
            } else if open > 0 {
                open -= 1
                if policy.hedge() { hedged += 1 }
            }
            #expect(Double(hedged) <= Double(begun) * share + 1e-9, "The seed was \(seed).")
        }
        // Nearly the whole share is used when there is so much demand.
        #expect(Double(hedged) >= Double(begun) * share * 0.8 - 10, "The seed was \(seed).")
    }

    @Test func firstHedgeNeedsAFullToken() {
        var policy = HedgingPolicy(.fixed(.seconds(1)), share: 0.05)
        let delays = (1...20).map { _ in policy.begin() }
        #expect(delays == Array(repeating: nil, count: 19) + [.seconds(1)])
        let hedges = [policy.hedge(), policy.hedge()]
        #expect(hedges == [true, false])
    }

    @Test func sharesAreNotRoundedUpToAFullToken() {
        var policy = HedgingPolicy(.fixed(.seconds(1)), share: 0.333_333_5)
        let delays = (1...4).map { _ in policy.begin() }
        #expect(delays == [nil, nil, nil, .seconds(1)])
    }

    @Test func tokensAccumulateOnlyUpToALimit() {
        var policy = HedgingPolicy(.fixed(.seconds(1)), share: 1)
        for _ in 0..<1_000 { _ = policy.begin() }
        let hedges = (0...HedgingPolicy.longestRow).map { _ in policy.hedge() }
        #expect(hedges == Array(repeating: true, count: HedgingPolicy.longestRow) + [false])
    }

    @Test func delayFollowsRecentDurationsOnceThereAreEnough() {
        var policy = HedgingPolicy(.percentile(90, atFirst: .seconds(5), ofLast: 20), share: 1)
        for number in 1...9 { policy.record(.milliseconds(number)) }
        #expect(policy.delay == .seconds(5))
        policy.record(.milliseconds(10))
        #expect(policy.delay == .milliseconds(9))
        for _ in 1...20 { policy.record(.seconds(1)) }
        #expect(policy.delay == .seconds(1))
    }

    @Test func fixedDelayNeverChanges() {
        var policy = HedgingPolicy(.fixed(.seconds(2)), share: 1)
        for _ in 1...20 { policy.record(.seconds(1)) }
        #expect(policy.delay == .seconds(2))
    }

    @Test func valuesOutOfRangeAreClamped() {
        for share in [-1, Double.nan, -Double.infinity] {
            var policy = HedgingPolicy(.fixed(.zero), share: share)
            let delays = (0..<100).compactMap { _ in policy.begin() }
            #expect(delays.isEmpty)
        }
        var policy = HedgingPolicy(.fixed(.seconds(-1)), share: .infinity)
        let delay = policy.begin()
        #expect(delay == .zero)
        #expect(
            HedgingDelay.percentile(100, atFirst: .seconds(-1), ofLast: 0)
                == .percentile(99, atFirst: .zero, ofLast: 10)
        )
        #expect(
            HedgingDelay.percentile(0, atFirst: .zero, ofLast: .max) == .percentile(1, atFirst: .zero, ofLast: 10_000)
        )
        #expect(HedgingDelay.percentile(1, atFirst: .zero) != .percentile(2, atFirst: .zero))
        #expect(
            HedgingDelay.percentile(1, atFirst: .zero, ofLast: 10) != .percentile(1, atFirst: .zero, ofLast: 11)
        )
    }
}
