import InwardTesting
import Testing

@testable import InwardCore

struct SieveCacheTests {
    @Test func readValueOutlivesUnreadOnes() {
        var cache = SieveCache<String, Int>(limit: 3)
        for (value, key) in ["a", "b", "c"].enumerated() { cache.insert(value, for: key, cost: 1) }
        #expect(cache.value(for: "a") == 0)
        #expect(cache.insert(3, for: "d", cost: 1) == [1])
        // The hand has passed a, and points at c.
        #expect(cache.insert(4, for: "e", cost: 1) == [2])
        #expect(cache.value(for: "a") == 0 && cache.count == 3)
    }

    @Test func scanDoesNotEvictValuesThatAreReadRepeatedly() {
        var cache = SieveCache<Int, Int>(limit: 10)
        for key in 0..<5 { cache.insert(key, for: key, cost: 1) }
        for scanned in 100..<1_000 {
            for key in 0..<5 { _ = cache.value(for: key) }
            cache.insert(scanned, for: scanned, cost: 1)
        }
        for key in 0..<5 { #expect(cache.value(for: key) == key) }
    }

    @Test func valueLargerThanTheLimitIsNotKeptAndEvictsNothing() {
        var cache = SieveCache<String, Int>(limit: 3)
        cache.insert(1, for: "a", cost: 3)
        #expect(cache.insert(2, for: "b", cost: 4) == [2])
        #expect(cache.value(for: "a") == 1 && cache.value(for: "b") == nil)
    }

    @Test func negativeLimitsCountAsZero() {
        var cache = SieveCache<String, Int>(limit: -1)
        #expect(cache.insert(1, for: "a", cost: 1) == [1])
        #expect(cache.insert(2, for: "b", cost: 0) == [])
        var small = SieveCache<String, Int>(limit: 3, countLimit: -1)
        #expect(small.insert(1, for: "a", cost: 0) == [1])
    }

    @Test(arguments: 0...3) func countLimitBoundsTheNumberOfValues(limit: Int) {
        var cache = SieveCache<Int, Int>(limit: .max, countLimit: limit)
        for number in 0..<9 { cache.insert(number, for: number, cost: 1) }
        #expect(cache.count == limit && cache.cost == limit)
        #expect(cache.keys.sorted() == Array((9 - limit)..<9))
    }

    @Test func keyThatIsNotEqualToItselfIsNotKept() {
        var cache = SieveCache<Double, Int>(limit: 3)
        #expect(cache.insert(1, for: .nan, cost: 1) == [1])
        #expect(cache.count == 0 && cache.cost == 0)
    }

    @Test func newValueForAKeyReplacesTheOld() {
        var cache = SieveCache<String, Int>(limit: 3)
        cache.insert(1, for: "a", cost: 1)
        #expect(cache.insert(2, for: "a", cost: 3) == [1])
        #expect(cache.value(for: "a") == 2 && cache.cost == 3 && cache.count == 1)
    }

    @Test func randomUseStaysWithinTheLimitAndReturnsTheRightValues() {
        let seed = UInt64.random(in: 0 ... .max)
        print("randomUseStaysWithinTheLimitAndReturnsTheRightValues: seed \(seed)")
        var random = SplitMix64(seed: seed)
        var cache = SieveCache<Int, Int>(limit: 50)
        var inserted: [Int: (value: Int, cost: Int)] = [:]
        for step in 0..<2_000 {
            let key = Int.random(in: 0..<40, using: &random)
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<5:
                if let value = cache.value(for: key) { #expect(value == inserted[key]?.value, "seed \(seed)") }
            case 5..<9:
                let cost = Int.random(in: 0...12, using: &random)
                inserted[key] = (step, cost)
                cache.insert(step, for: key, cost: cost)
                #expect(cache.value(for: key) == step)
            default:
                #expect(cache.remove(key) == nil || inserted[key] != nil)
                #expect(cache.value(for: key) == nil)
            }
            #expect(cache.cost <= 50, "seed \(seed)")
            let cost = (0..<40).reduce(0) { cost, key in
                var copy = cache
                return cost + (copy.value(for: key) == nil ? 0 : inserted[key]?.cost ?? 0)
            }
            #expect(cache.cost == cost, "seed \(seed)")
        }
        let count = cache.count
        #expect(cache.removeAll { _, _ in true }.count == count)
        #expect(cache.cost == 0 && cache.count == 0)
    }

    @Test func raisingACostEvictsOtherValues() {
        var cache = SieveCache<Int, Int>(limit: 10)
        for key in 1...5 { cache.insert(key, for: key, cost: 2) }
        // Read again, so that another value is evicted first.
        #expect(cache.value(for: 1) == 1)
        #expect(cache.setCost(5, for: 1) == [2, 3])
        #expect(cache.cost == 9 && cache.count == 3 && cache.peek(1) == 1)
        #expect(cache.setCost(1, for: 1) == [])
        #expect(cache.cost == 5)
        #expect(cache.setCost(11, for: 1) == [1])
        #expect(cache.cost == 4 && cache.count == 2 && cache.peek(1) == nil)
        #expect(cache.setCost(3, for: 7) == [] && cache.cost == 4)
    }
}
