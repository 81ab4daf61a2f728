import InwardTesting
import Testing

@testable import InwardFetching

struct TokenBucketTests {
    /// Returns a span of time with more admissions than the burst and the rate allow; `nil` if there is none.
    private func violation(_ moments: [Duration], count: Int, period: Duration, burst: Int) -> String? {
        let moments = moments.sorted()
        for first in moments.indices {
            for last in first..<moments.endIndex {
                let window = moments[last] - moments[first]
                let allowed = Double(burst) + Double(count) * (window / period)
                if Double(last - first + 1) > allowed + 1e-9 {
                    return "\(last - first + 1) within \(window)"
                }
            }
        }
        return nil
    }

    @Test(arguments: [(10, 1, 1), (10, 1, 5), (3, 1, 2), (1, 7, 3), (7, 60, 100), (1_000, 1, 10)])
    func admissionsNeverExceedTheBurstPlusTheRate(count: Int, seconds: Int, burst: Int) {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SplitMix64(seed: seed)
        let period = Duration.seconds(seconds)
        var bucket = TokenBucket(count, per: period, burst: burst)
        var now = Duration.zero
        var sent: [Duration] = []
        var waiting: [TokenBucket.Turn] = []
        for _ in 0..<600 {
            // Mostly faster than the rate, with occasional pauses.
            let pause = Double.random(in: 0..<1, using: &random) < 0.05 ? 20.0 : 1.2
            now += .seconds(Double.random(in: 0..<pause, using: &random) * Double(seconds) / Double(count))
            sent += waiting.filter { $0.moment <= now }.map(\.moment)
            waiting.removeAll { $0.moment <= now }
            if Bool.random(using: &random) {
                if bucket.isTaken(at: now) { sent.append(now) }
            } else if let turn = bucket.reserve(at: now, by: now + period) {
                waiting.append(turn)
            }
            if Int.random(in: 0..<3, using: &random) == 0, let index = waiting.indices.randomElement(using: &random) {
                bucket.putBack(waiting.remove(at: index))
            }
        }
        #expect(sent.count > 50)
        let violation = violation(sent + waiting.map(\.moment), count: count, period: period, burst: burst)
        #expect(violation == nil, "The seed was \(seed).")
    }

    @Test(arguments: [(1, Duration.zero), (0, .nanoseconds(1)), (1, .seconds(-1))])
    func ratesOutOfRangeAreClamped(count: Int, period: Duration) {
        #expect(TokenBucket(count, per: period, burst: 0).interval == .nanoseconds(1))
    }

    /// Rounding down would exceed the rate.
    @Test(arguments: [(3, 333_333_333_333_333_334), (7, 142_857_142_857_142_858), (4, 250_000_000_000_000_000)])
    func intervalIsRoundedUp(count: Int, attoseconds: Int64) {
        let interval = TokenBucket(count, per: .seconds(1), burst: 1).interval
        #expect(interval == Duration(secondsComponent: 0, attosecondsComponent: attoseconds))
    }

    @Test func burstIsAdmittedImmediatelyAndThenOnePerInterval() {
        var bucket = TokenBucket(10, per: .seconds(1), burst: 3)
        let atOnce = (0..<4).map { _ in bucket.isTaken(at: .zero) }
        #expect(atOnce == [true, true, true, false])
        #expect(bucket.next(at: .zero) == .milliseconds(100))
        let later = [99, 100, 101, 199, 200].map { bucket.isTaken(at: .milliseconds($0)) }
        #expect(later == [false, true, false, false, true])
        // It fills up to its capacity.
        let muchLater = (0..<4).map { _ in bucket.isTaken(at: .seconds(100)) }
        #expect(muchLater == [true, true, true, false])
    }

    @Test func slotsAreReservedInOrder() {
        var bucket = TokenBucket(1, per: .seconds(1), burst: 1)
        let turns = (0..<4).map { _ in bucket.reserve(at: .zero, by: .seconds(2))?.moment }
        #expect(turns == [.zero, .seconds(1), .seconds(2), nil])
        let isTaken = bucket.isTaken(at: .milliseconds(2_999))
        #expect(!isTaken)
        let isTakenInTime = bucket.isTaken(at: .seconds(3))
        #expect(isTakenInTime)
    }

    @Test func slotsCanBeReturnedInReverseOrder() throws {
        var bucket = TokenBucket(1, per: .seconds(1), burst: 1)
        let turns = (0..<3).compactMap { _ in bucket.reserve(at: .zero, by: .seconds(9)) }
        #expect(turns.count == 3)
        bucket.putBack(turns[2])
        #expect(bucket.next(at: .zero) == .seconds(2))
        bucket.putBack(turns[1])
        #expect(bucket.next(at: .zero) == .seconds(1))
    }

    @Test func returnedSlotIsReusedUntilItsTimePasses() {
        var bucket = TokenBucket(1, per: .seconds(1), burst: 1)
        let turns = (0..<5).compactMap { _ in bucket.reserve(at: .zero, by: .seconds(9)) }
        bucket.putBack(turns[3])
        bucket.putBack(turns[1])
        #expect(bucket.next(at: .zero) == .seconds(1))
        let isTaken = bucket.isTaken(at: .milliseconds(999))
        #expect(!isTaken)
        let next = bucket.reserve(at: .milliseconds(999), by: .seconds(9))
        #expect(next == turns[1])
        // The slot at four seconds is still taken, so nothing fits into the second before it.
        #expect(bucket.next(at: .milliseconds(3_001)) == .seconds(5))
        let last = bucket.reserve(at: .milliseconds(3_001), by: .seconds(9))?.moment
        #expect(last == .seconds(5))
    }

    @Test func slotsReturnedInAnyOrderAreReused() {
        var bucket = TokenBucket(1, per: .seconds(1), burst: 3)
        let turns = (0..<20).compactMap { _ in bucket.reserve(at: .zero, by: .seconds(100)) }
        for turn in turns.shuffled() { bucket.putBack(turn) }
        let again = (0..<20).compactMap { _ in bucket.reserve(at: .zero, by: .seconds(100)) }
        #expect(again == turns)
    }

    @Test func roundedIntervalIsExactToANanosecond() {
        let bucket = TokenBucket(3, per: .seconds(1), burst: 1)
        #expect(bucket.interval * 3 >= .seconds(1))
        #expect(bucket.interval * 3 < .seconds(1) + .nanoseconds(1))
    }

    @Test(arguments: [(0, Duration.zero, 0), (.min, .seconds(Int64.min), .min), (.max, .seconds(Int64.max), .max)])
    func valuesOutOfRangeAreClamped(count: Int, period: Duration, burst: Int) {
        var bucket = TokenBucket(count, per: period, burst: burst)
        let isTaken = bucket.isTaken(at: .seconds(1))
        #expect(isTaken)
        _ = bucket.reserve(at: .seconds(1), by: .seconds(TokenBucket.most))
        #expect(bucket.interval > .zero)
    }
}

extension TokenBucket {
    /// Takes a token if one is available now.
    fileprivate mutating func isTaken(at now: Duration) -> Bool { reserve(at: now, by: now) != nil }
}
