import InwardTesting
import Testing

@testable import InwardRepositories

struct PriorityQueueTests {
    @Test func whatComesFirstIsTakenOutFirst() {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SplitMix64(seed: seed)
        var queue = PriorityQueue<Int, Int>()
        var expected: [Int] = []
        for _ in 0..<2_000 {
            if Int.random(in: 0..<3, using: &random) > 0 {
                let number = Int.random(in: 0..<100, using: &random)
                queue.insert(number, number)
                expected.append(number)
                expected.sort()
            } else {
                #expect(queue.first?.priority == expected.first, "The seed was \(seed).")
                #expect(queue.popFirst() == expected.first, "The seed was \(seed).")
                if !expected.isEmpty { expected.removeFirst() }
            }
            #expect(queue.count == expected.count, "The seed was \(seed).")
        }
    }
}
