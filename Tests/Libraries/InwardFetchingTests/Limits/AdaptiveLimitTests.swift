import InwardTesting
import Testing
import Thoroughness

@testable import InwardFetching

struct AdaptiveLimitTests {
    /// A simulated upstream that works on a number of requests at once and queues the others in order of arrival.
    private struct Source {
        var limit: AdaptiveLimit
        var random: SplitMix64
        private(set) var now = Duration.zero
        /// The times at which its workers become idle, latest first.
        private var idleFrom: [Duration] = []
        /// The times at which the requests under way began and will end, latest end first.
        private var underWay: [(start: Duration, end: Duration)] = []

        init(_ limit: AdaptiveLimit, seed: UInt64) {
            self.limit = limit
            random = SplitMix64(seed: seed)
        }

        /// Answers a number of requests, while as many are under way as the limit allows or the callers want.
        ///
        /// - Returns: The mean limit over the second half of the requests.
        mutating func answer(
            _ count: Int,
            capacity: Int,
            milliseconds: Double,
            wanted: Int = .max,
            outcome: AdaptiveLimit.Outcome = .answered
        ) -> Double {
            idleFrom = Array(idleFrom.suffix(capacity))
            idleFrom += Array(repeating: now, count: capacity - idleFrom.count)
            idleFrom.sort(by: >)
            var sum = 0
            for number in 0..<count {
                while underWay.count < min(limit.limit, wanted) { begin(milliseconds) }
                guard let first = underWay.popLast() else { continue }
                now = max(now, first.end)
                limit.record(outcome, from: first.start, to: now, underWay: underWay.count + 1)
                if number >= count / 2 { sum += limit.limit }
            }
            return Double(sum) / Double(count - count / 2)
        }

        private mutating func begin(_ milliseconds: Double) {
            guard let idle = idleFrom.popLast() else { return }
            let work = Duration.seconds(milliseconds / 1_000 * Double.random(in: 0.7...1.3, using: &random))
            let end = max(now, idle) + work
            // Requests that begin last usually end last, so their place is near the beginning.
            idleFrom.insert(end, at: idleFrom.firstIndex { $0 < end } ?? idleFrom.endIndex)
            underWay.insert((now, end), at: underWay.firstIndex { $0.end < end } ?? underWay.endIndex)
        }
    }

    private func source(in range: ClosedRange<Int> = 1...200, from start: Int = 20, seed: UInt64 = 1) -> Source {
        Source(AdaptiveLimit(in: range, from: start, tolerance: 1.5), seed: seed)
    }

    @Test(arguments: Thoroughness.sample([1, 20, 200], every: 2), Thoroughness.sample([5, 20, 60], every: 2))
    func limitApproachesTheCapacityOfTheUpstream(start: Int, capacity: Int) {
        for seed in 1...(Thoroughness.isExhaustive ? 4 : 1) {
            var source = source(from: start, seed: UInt64(seed))
            let limit = source.answer(20_000, capacity: capacity, milliseconds: 100)
            #expect(limit >= Double(capacity), "seed \(seed)")
            #expect(limit <= Double(capacity) * 2 + 2, "seed \(seed)")
        }
    }

    @Test func limitFollowsAChangingCapacity() {
        var source = source()
        let before = source.answer(10_000, capacity: 40, milliseconds: 100)
        let between = source.answer(10_000, capacity: 8, milliseconds: 100)
        let after = source.answer(20_000, capacity: 40, milliseconds: 100)
        #expect((40...82).contains(before))
        #expect((8...24).contains(between))
        #expect((40...82).contains(after))
    }

    @Test func limitStaysWhenEveryRequestBecomesSlower() {
        var source = source()
        _ = source.answer(10_000, capacity: 20, milliseconds: 100)
        // This is soon detected, because less concurrency does not help.
        let soon = source.answer(1_200, capacity: 20, milliseconds: 500)
        #expect((12...42).contains(soon))
        let later = source.answer(10_000, capacity: 20, milliseconds: 500)
        #expect((20...42).contains(later))
    }

    @Test func limitRisesToItsMaximumIfNothingQueues() {
        var source = source(in: 2...50, from: 2)
        _ = source.answer(10_000, capacity: 100, milliseconds: 100)
        #expect(source.limit.limit == 50)
    }

    @Test func limitDoesNotRiseUnlessItIsFullyUsed() {
        var source = source(from: 20)
        _ = source.answer(10_000, capacity: 100, milliseconds: 100, wanted: 19)
        #expect(source.limit.limit <= 20)
        _ = source.answer(10_000, capacity: 100, milliseconds: 100, wanted: 3)
        #expect(source.limit.limit <= 20)
    }

    @Test func limitFallsToItsMinimumDuringOverloadAndRecovers() {
        var source = source(in: 3...100, from: 40)
        _ = source.answer(2_000, capacity: 20, milliseconds: 100, outcome: .overloaded)
        #expect(source.limit.limit == 3)
        #expect(source.answer(10_000, capacity: 20, milliseconds: 100) >= 20)
    }

    @Test func simultaneousOverloadsCountOnce() {
        var limit = AdaptiveLimit(in: 1...100, from: 100, tolerance: 1.5)
        for number in 1...50 {
            limit.record(.overloaded, from: .zero, to: .milliseconds(100 + number), underWay: 50)
        }
        #expect(limit.limit == 90)
        limit.record(.overloaded, from: .milliseconds(101), to: .milliseconds(200), underWay: 50)
        #expect(limit.limit == 81)
    }

    /// A limit that has fallen by half is probed once, and not in every window while it stays low.
    @Test func fallenLimitCausesOneProbe() {
        var limit = AdaptiveLimit(in: 1...100, from: 100, tolerance: 1)
        var now = Duration.zero
        // The first probe, which finds no difference.
        for _ in 0..<3 { answer(&limit, in: .milliseconds(100), underWay: 100, at: &now) }
        for _ in 0..<8 {
            limit.record(.overloaded, from: now, to: now + .seconds(1), underWay: 100)
            now += .seconds(1)
        }
        let fallen = limit.limit
        #expect(fallen < 50)
        let halved = (1...10).filter { _ in
            answer(&limit, in: .milliseconds(100), underWay: limit.limit, at: &now)
            return limit.limit < fallen
        }
        #expect(halved == [1])
    }

    /// The reference is the highest limit, not the limit at the last probe.
    @Test func limitBelowHalfOfItsPeakCausesAProbe() {
        var limit = AdaptiveLimit(in: 1...1_000, from: 20, tolerance: 1)
        var now = Duration.zero
        for _ in 0..<90 { answer(&limit, in: .milliseconds(100), underWay: limit.limit, at: &now) }
        let risen = limit.limit
        while limit.limit * 5 > risen * 2 {
            limit.record(.overloaded, from: now, to: now + .seconds(1), underWay: limit.limit)
            now += .seconds(1)
        }
        let fallen = limit.limit
        #expect(fallen > 20)
        answer(&limit, in: .milliseconds(100), underWay: fallen, at: &now)
        #expect(limit.limit < fallen)
    }

    /// A hundred windows after the previous probe, the limit is halved for one window.
    @Test func limitIsProbedAfterAHundredWindows() {
        var limit = AdaptiveLimit(in: 10...20, from: 20, tolerance: 1.5)
        var now = Duration.zero
        let halved = (1...210).filter { _ in
            answer(&limit, in: .milliseconds(100), underWay: limit.limit, at: &now)
            return limit.limit == 10
        }
        #expect(halved == [2, 103, 204])
    }

    /// If half the concurrency still takes nine tenths of the time or more, the limit made no difference and is restored.
    @Test(arguments: [(899, 5), (900, 20), (1_000, 20)])
    func probeHalvesTheLimitAgainIfThatReducedTheLatency(milliseconds: Int, expected: Int) {
        var limit = AdaptiveLimit(in: 1...100, from: 20, tolerance: 1)
        var now = Duration.zero
        for _ in 0..<2 { answer(&limit, in: .seconds(1), underWay: 20, at: &now) }
        #expect(limit.limit == 10)
        answer(&limit, in: .milliseconds(milliseconds), underWay: 10, at: &now)
        #expect(limit.limit == expected)
    }

    /// A second halving that does not reduce the latency again ends the probe.
    @Test(arguments: [(700, 2), (750, 20)])
    func eachHalvingIsComparedWithThePreviousOne(milliseconds: Int, expected: Int) {
        var limit = AdaptiveLimit(in: 1...100, from: 20, tolerance: 1)
        var now = Duration.zero
        for latency in [1_000, 1_000, 800, milliseconds] {
            answer(&limit, in: .milliseconds(latency), underWay: limit.limit, at: &now)
        }
        #expect(limit.limit == expected)
    }

    /// Even if half the concurrency is much faster.
    @Test func limitIsNotHalvedBelowItsMinimum() {
        var limit = AdaptiveLimit(in: 10...20, from: 20, tolerance: 1)
        var now = Duration.zero
        for _ in 0..<2 { answer(&limit, in: .seconds(1), underWay: 20, at: &now) }
        #expect(limit.limit == 10)
        answer(&limit, in: .milliseconds(500), underWay: 10, at: &now)
        #expect(limit.limit == 20)
    }

    /// Records one window of responses that all take the given time.
    private func answer(_ limit: inout AdaptiveLimit, in latency: Duration, underWay: Int, at now: inout Duration) {
        for _ in 0..<max(10, limit.limit) {
            limit.record(.answered, from: now, to: now + latency, underWay: underWay)
        }
        now += latency
    }

    /// A window has ten responses, or as many as the limit if that is greater.
    @Test(arguments: [(5, 10), (10, 10), (20, 20)])
    func windowIsEvaluatedWhenItIsFull(start: Int, count: Int) {
        var limit = AdaptiveLimit(in: 1...100, from: start, tolerance: 1)
        var now = Duration.zero
        answer(&limit, in: .milliseconds(100), underWay: start, at: &now)
        var answered = 0
        // A probe halves the limit at the end of the second window.
        while limit.limit == start {
            limit.record(.answered, from: now, to: now + .milliseconds(100), underWay: start)
            answered += 1
        }
        #expect(answered == count)
    }

    @Test func probeNeedsHalfOfTheLimitInFlight() {
        for (underWay, expected) in [(9, 20), (10, 10)] {
            var limit = AdaptiveLimit(in: 1...100, from: 20, tolerance: 1)
            var now = Duration.zero
            for _ in 0..<2 { answer(&limit, in: .milliseconds(100), underWay: underWay, at: &now) }
            #expect(limit.limit == expected)
        }
    }

    /// At low concurrency nothing queues, so the latency is the latency without queueing.
    @Test func baselineFollowsResponsesAtLowConcurrency() {
        var limit = AdaptiveLimit(in: 1...10_000, from: 1_000, tolerance: 1)
        var now = Duration.zero
        answer(&limit, in: .milliseconds(100), underWay: 1, at: &now)
        answer(&limit, in: .milliseconds(200), underWay: 1, at: &now)
        #expect(limit.limit == 1_000)
        // The baseline is now 120 ms, which is 80% of this latency. So the target is 80% of 1,000, plus the square root of
        // 1,000. The limit goes a fifth of the way there, and the following probe halves it.
        answer(&limit, in: .milliseconds(150), underWay: 1_000, at: &now)
        #expect(limit.limit == 483)
    }

    /// A latency below the baseline lowers it by a tenth of the difference.
    @Test func baselineFollowsTheFastestResponses() {
        var limit = AdaptiveLimit(in: 1...10_000, from: 1_000, tolerance: 1)
        var now = Duration.zero
        // The baseline, a window that begins a probe, and the probe, which finds no difference.
        for _ in 0..<3 { answer(&limit, in: .milliseconds(100), underWay: 1_000, at: &now) }
        #expect(limit.limit == 1_006)
        answer(&limit, in: .milliseconds(50), underWay: 1_006, at: &now)
        #expect(limit.limit == 1_012)
        // The baseline is now 95 ms, half of this latency.
        answer(&limit, in: .milliseconds(190), underWay: 1_012, at: &now)
        #expect(limit.limit == 917)
    }

    @Test func limitsAreAtMostABillion() {
        #expect(AdaptiveLimit(in: 1...Int.max, from: Int.max, tolerance: 2).limit == 1_000_000_000)
        #expect(AdaptiveLimit(in: -5...0, from: 0, tolerance: 2).limit == 1)
    }

    @Test(arguments: [(0.5, 1), (-1, 1), (.nan, 1), (11, 10), (.infinity, 10)] as [(Double, Double)])
    func tolerancesAreClamped(tolerance: Double, nearest: Double) {
        let limits = [tolerance, nearest].map { AdaptiveLimit(in: 1...100, from: 10, tolerance: $0) }
        #expect(limits[0] == limits[1])
    }

    @Test func inconclusiveOutcomesAreIgnored() {
        var limit = AdaptiveLimit(in: 1...100, from: 10, tolerance: 1.5)
        let before = limit
        for number in 1...100 { limit.record(.untold, from: .zero, to: .seconds(number), underWay: 10) }
        #expect(limit == before)
    }

    @Test func responsesThatTakeNoTimeAreAccepted() {
        var limit = AdaptiveLimit(in: 1...100, from: 10, tolerance: .nan)
        for _ in 1...20_000 { limit.record(.answered, from: .zero, to: .zero, underWay: 100) }
        #expect(limit.limit == 100)
    }

    @Test(arguments: [(0...0, 5, 1), (-5...(-1), 5, 1), (3...9, 1, 3), (3...9, 20, 9), (1...Int.max, .max, Int.max)])
    func valuesOutOfRangeAreClamped(range: ClosedRange<Int>, start: Int, expected: Int) {
        // The largest integer has no exact floating-point counterpart, and need not be reached.
        let limit = AdaptiveLimit(in: range, from: start, tolerance: 1.5).limit
        #expect(limit == min(expected, AdaptiveLimit.most))
    }
}
