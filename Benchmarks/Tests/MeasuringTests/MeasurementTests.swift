import Comparing
import Measuring
import Testing

struct MeasurementTests {
    private final class Block {
        var number = 0
    }

    @Test(arguments: [([3, 1, 2], 2), ([1], 1), ([], 0), ([1, 2, 3, 100], 3)] as [([Double], Double)])
    func medianIsTheMiddleValue(values: [Double], median: Double) {
        #expect(values.median == median)
    }

    @Test func everyCallOfEveryRoundIsMade() async {
        var calls = 0
        _ = await Measurement(rounds: 3, calls: 100) { calls += 1 }
        // And a tenth of a round before, to warm up.
        #expect(calls == 310)
    }

    @Test func allocationsAreCounted() async {
        var blocks: [Block] = []
        blocks.reserveCapacity(10_000)
        let cost = await Measurement(rounds: 3, calls: 1_000) { blocks.append(Block()) }
        #expect(cost.allocations >= 1 && cost.allocations < 1.5)
        #expect(cost.nanoseconds > 0)
        let nothing = await Measurement(rounds: 3, calls: 1_000) {}
        #expect(nothing.allocations < 0.5)
    }

    @Test func tableListsCostsAboveTheBase() async {
        let base = await Measurement(rounds: 1, calls: 10) {}
        var table = CostTable(base: base)
        table.add("the same", atMost: 60, base)
        let lines = table.description.split(separator: "\n")
        #expect(lines.count == 3)
        #expect(lines.last == "| the same | 0 | 60 | 0 | 0 |")
    }
}
