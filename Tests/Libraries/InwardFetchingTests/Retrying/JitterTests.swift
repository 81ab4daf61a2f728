import InwardTesting
import Testing

@testable import InwardFetching

struct JitterTests {
    @Test func seededJitterIsReproducibleAndInRange() {
        let seed = UInt64.random(in: .min ... .max)
        let (first, second) = (Jitter(SplitMix64(seed: seed)), Jitter(SplitMix64(seed: seed)))
        var numbers: Set<Double> = []
        for _ in 0..<1_000 {
            let number = first.fraction()
            #expect((0..<1).contains(number), "seed \(seed)")
            #expect(number == second.fraction(), "seed \(seed)")
            numbers.insert(number)
        }
        #expect(numbers.count > 900, "seed \(seed)")
    }

    @Test func randomJitterIsInRange() {
        let numbers = (0..<1_000).map { _ in Jitter.random.fraction() }
        #expect(numbers.allSatisfy { (0..<1).contains($0) })
        #expect(Set(numbers).count > 900)
    }

    @Test(arguments: [
        (0.5, 0.5), (-1, 0), (1, 1.0.nextDown), (.infinity, 1.0.nextDown), (-.infinity, 0), (.nan, 0),
    ])
    func numbersOutOfRangeAreClamped(number: Double, fraction: Double) {
        #expect(Jitter { number }.fraction() == fraction)
    }
}
