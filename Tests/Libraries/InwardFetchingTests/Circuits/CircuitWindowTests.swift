import InwardTesting
import Testing
import Thoroughness

@testable import InwardFetching

struct CircuitWindowTests {
    private let good = CallOutcome(isFailure: false)
    private let failed = CallOutcome(isFailure: true)
    private let slow = CallOutcome(isFailure: false, isSlow: true)

    /// Returns the counts of a window after outcomes at the given seconds: calls, failures, slow calls.
    private func held(_ window: CircuitBreakerPolicy.Window, _ calls: [(CallOutcome, at: Double)]) -> [Int] {
        var held = CircuitWindow(window)
        for (outcome, moment) in calls { held.record(outcome, at: .seconds(moment)) }
        return [held.counts.calls, held.counts.failures, held.counts.slow]
    }

    @Test func newWindowIsEmpty() {
        #expect(held(.calls(3), []) == [0, 0, 0])
        #expect(held(.time(.seconds(3)), []) == [0, 0, 0])
    }

    @Test func failuresAndSlowCallsAreCounted() {
        let both = CallOutcome(isFailure: true, isSlow: true)
        let calls = [good, failed, slow, both, failed].map { ($0, at: 1.0) }
        #expect(held(.calls(5), calls) == [5, 3, 2])
        #expect(held(.time(.seconds(5)), calls) == [5, 3, 2])
    }

    @Test func countBasedWindowDropsTheOldestCall() {
        #expect(held(.calls(3), [failed, slow, good, good].map { ($0, at: 0) }) == [3, 0, 1])
        #expect(held(.calls(3), [failed, slow, good, good, good].map { ($0, at: 0) }) == [3, 0, 0])
        #expect(held(.calls(1), [failed, good].map { ($0, at: 0) }) == [1, 0, 0])
    }

    @Test func timeBasedWindowDropsOldCalls() {
        for moment in [0, 9.999] { #expect(held(.time(.seconds(10)), [(failed, 0), (good, moment)]) == [2, 1, 0]) }
        #expect(held(.time(.seconds(10)), [(failed, 0), (good, 10)]) == [1, 0, 0])
        // At the end of a tenth, calls of the last nine tenths remain.
        #expect(held(.time(.seconds(10)), [(failed, 0.999), (good, 9.999)]) == [2, 1, 0])
        #expect(held(.time(.seconds(10)), [(failed, 0.999), (good, 10)]) == [1, 0, 0])
    }

    @Test func timeBasedWindowIsEmptyAfterALongIdleTime() {
        let calls = [(failed, at: 3.0), (slow, at: 4.0), (failed, at: 1_000_000.5), (good, at: 1_000_001)]
        #expect(held(.time(.seconds(10)), calls) == [2, 1, 0])
    }

    @Test func timeBeforeTheLatestCallCountsAsTheLatest() {
        #expect(held(.time(.seconds(10)), [(good, 25), (failed, 3), (good, 34)]) == [3, 1, 0])
    }

    @Test(arguments: [1, 2, 31, 32, 33, 64, 100])
    func countBasedWindowMatchesAModel(count: Int) {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SplitMix64(seed: seed)
        var window = CircuitWindow(.calls(count))
        var all: [CallOutcome] = []
        for _ in 0..<500 {
            let outcome = CallOutcome(isFailure: .random(using: &random), isSlow: .random(using: &random))
            window.record(outcome, at: .zero)
            all.append(outcome)
            let last = all.suffix(count)
            #expect(window.counts.calls == last.count)
            #expect(window.counts.failures == last.count { $0.isFailure }, "The seed was \(seed).")
            #expect(window.counts.slow == last.count { $0.isSlow }, "The seed was \(seed).")
        }
    }

    @Test(arguments: Thoroughness.sample([1, 2, 3, 4, 5], every: 3))
    func timeBasedWindowCountsCallsForAtLeastNineTenthsOfItsLength(round: Int) {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SplitMix64(seed: seed)
        var window = CircuitWindow(.time(.seconds(10)))
        var all: [(outcome: CallOutcome, moment: Duration)] = []
        var now = Duration.zero
        for _ in 0..<500 {
            now += .milliseconds(
                Int.random(in: 0..<(Int.random(in: 0..<20, using: &random) == 0 ? 9_000 : 300), using: &random)
            )
            let outcome = CallOutcome(isFailure: .random(using: &random), isSlow: .random(using: &random))
            window.record(outcome, at: now)
            all.append((outcome, now))
            let surely = all.filter { now - $0.moment < .seconds(9) }
            let atMost = all.filter { now - $0.moment <= .seconds(10) }
            #expect((surely.count...atMost.count).contains(window.counts.calls), "The seed was \(seed).")
            let failures = surely.count { $0.outcome.isFailure }...atMost.count { $0.outcome.isFailure }
            #expect(failures.contains(window.counts.failures), "The seed was \(seed).")
            let slow = surely.count { $0.outcome.isSlow }...atMost.count { $0.outcome.isSlow }
            #expect(slow.contains(window.counts.slow), "The seed was \(seed).")
        }
    }
}
