import InwardTesting
import Testing

@testable import InwardRepositories

struct FIFOQueueTests {
    @Test func randomOperationsMatchAnArray() {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SplitMix64(seed: seed)
        var queue = FIFOQueue<Int>()
        var model: [Int] = []
        for step in 0..<5_000 {
            let place: Comment = "The seed was \(seed), in the step \(step)."
            switch Int.random(in: 0..<20, using: &random) {
            case 0..<10:
                queue.append(step)
                model.append(step)
            case 10..<18: #expect(queue.popFirst() == (model.isEmpty ? nil : model.removeFirst()), place)
            case 18:
                let odd = Int.random(in: 2..<5, using: &random)
                queue.removeAll { $0.isMultiple(of: odd) }
                model.removeAll { $0.isMultiple(of: odd) }
            default:
                let last = model.last
                queue.replace({ $0 == last }, by: { _ in -step })
                model = model.map { $0 == last ? -step : $0 }
                queue.first = step * 2
                if !model.isEmpty { model[0] = step * 2 }
            }
            #expect(queue.first == model.first, place)
            #expect(queue.count == model.count, place)
            #expect(Array(queue.all) == model, place)
        }
    }

    @Test func removedElementIsReleased() {
        final class Thing: Sendable {}
        var queue = FIFOQueue<Thing>()
        for _ in 0..<8 { queue.append(Thing()) }
        weak let first = queue.popFirst()
        #expect(first == nil)
        #expect(queue.count == 7)
    }

    @Test func removingAllElementsMovesEachAtMostOnce() {
        let count = 4_000
        var queue = FIFOQueue<Int>()
        for number in 0..<count { queue.append(number) }
        var movedCount = 0
        for number in 0..<count {
            let before = queue.elements.count
            #expect(queue.popFirst() == number)
            // If the array became shorter, the remaining elements were moved to its beginning.
            if queue.elements.count < before { movedCount += queue.elements.count }
        }
        #expect(movedCount <= count)
        #expect(queue.elements.isEmpty)
    }
}
