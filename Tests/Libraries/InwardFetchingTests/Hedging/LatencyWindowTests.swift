import InwardTesting
import Testing

@testable import InwardFetching

struct LatencyWindowTests {
    @Test(arguments: [1, 2, 3, 10, 57])
    func percentilesMatchASortedModel(capacity: Int) {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SplitMix64(seed: seed)
        var window = LatencyWindow(capacity: capacity)
        var all: [Duration] = []
        for _ in 0..<200 {
            // Few values, so that some are equal.
            let duration = Duration.milliseconds(Int.random(in: 0..<40, using: &random))
            window.record(duration)
            all.append(duration)
            let recent = all.suffix(capacity)
            #expect(window.count == recent.count)
            for percent in [1, 50, 90, 99, 100] {
                let expected = recent.filter { candidate in
                    recent.count { $0 <= candidate } * 100 >= percent * recent.count
                }.min()
                #expect(window.percentile(percent) == expected, "The seed was \(seed).")
            }
        }
    }

    @Test func emptyWindowHasNoPercentile() {
        #expect(LatencyWindow(capacity: 5).percentile(50) == nil)
    }

    @Test func valuesOutOfRangeAreClamped() {
        var window = LatencyWindow(capacity: -3)
        for second in 1...3 { window.record(.seconds(second)) }
        #expect(window.count == 1)
        #expect([Int.min, 0, 101, .max].map { window.percentile($0) } == Array(repeating: .seconds(3), count: 4))
    }
}
