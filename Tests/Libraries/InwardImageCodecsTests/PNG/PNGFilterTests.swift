import InwardTesting
import Testing
import Thoroughness

@testable import InwardImageCodecs

struct PNGFilterTests {
    /// The Paeth predictor as ISO/IEC 15948, section 9.4, defines it.
    private func paeth(_ a: Int, _ b: Int, _ c: Int) -> Int {
        let p = a + b - c
        let (toA, toB, toC) = (abs(p - a), abs(p - b), abs(p - c))
        if toA <= toB, toA <= toC { return a }
        return toB <= toC ? b : c
    }

    private func expected(_ filter: PNGFilter, _ a: Int, _ b: Int, _ c: Int) -> Int {
        switch filter {
        case .none: 0
        case .sub: a
        case .up: b
        case .average: (a + b) / 2
        case .paeth: paeth(a, b, c)
        }
    }

    @Test(arguments: PNGFilter.allCases)
    func predictionFollowsTheStandard(filter: PNGFilter) {
        let values = [0, 1, 2, 63, 64, 65, 127, 128, 129, 170, 200, 254, 255]
        for a in values {
            for b in values {
                for c in values {
                    let predicted = filter.predicted(UInt8(a), UInt8(b), UInt8(c))
                    #expect(Int(predicted) == expected(filter, a, b, c))
                }
            }
        }
    }

    @Test(arguments: PNGFilter.allCases, [3, 4])
    func pixelsAndBytesAreReconstructedAlike(filter: PNGFilter, samples: Int) {
        let seed = UInt64.random(in: 0 ... .max)
        var generator = SplitMix64(seed: seed)
        let edges: [UInt8] = [0, 1, 2, 127, 128, 129, 254, 255]
        for round in 0..<20 {
            let columns = Int.random(in: 1...40, using: &generator)
            var source = (0..<(2 * columns * samples + 8)).map { _ in
                round % 2 == 0
                    ? UInt8.random(in: 0...255, using: &generator) : edges.randomElement(using: &generator) ?? 0
            }
            source[0] = 3
            var pixels = [UInt8](repeating: 0, count: 2 * columns * 4)
            var row = [UInt8](repeating: 0, count: columns * samples)
            var above = row
            for index in 0..<2 {
                let start = index * columns * samples
                var span = pixels.mutableSpan
                filter.reconstructPixels(
                    &span,
                    row: index * columns * 4,
                    columns: columns,
                    from: source.span,
                    at: start,
                    samples: samples
                )
                var bytes = row.mutableSpan
                filter.reconstruct(&bytes, above: above.span, from: source.span, at: start, distance: samples)
                let made = pixels[(index * columns * 4)..<((index + 1) * columns * 4)]
                let isSame = (0..<columns * 4).allSatisfy { place in
                    let (column, sample) = (place / 4, place % 4)
                    let expected = sample < samples ? row[column * samples + sample] : 255
                    return made[made.startIndex + place] == expected
                }
                #expect(isSame, "seed \(seed)")
                above = row
            }
        }
    }

    @Test(arguments: [1, 2, 3, 4])
    func rowsGetTheFilterWithTheSmallestResidual(distance: Int) {
        let seed = UInt64.random(in: 0 ... .max)
        var generator = SplitMix64(seed: seed)
        var chosen: Set<UInt8> = []
        for round in Array(0..<190) + Thoroughness.sample(190..<200, every: 5) {
            // The last ones need more vectors than a lane can add up at once.
            let count = round < 190 ? Int.random(in: 1...40, using: &generator) : 2_048 + round
            let step = Int.random(in: 1...255, using: &generator)
            let stride = PNGRowFilter.padding + count
            var rows = [UInt8](repeating: 0, count: 2 * stride)
            for index in 0..<count {
                let level = UInt8(truncatingIfNeeded: index * step)
                let noise = (0..<2).map { _ in UInt8.random(in: 0...3, using: &generator) }
                let isEven = round % 2 == 0
                rows[PNGRowFilter.padding + index] = isEven ? level &+ noise[0] : noise[0] &* 85
                rows[stride + PNGRowFilter.padding + index] = round % 3 == 0 ? level &+ noise[1] : noise[1] &* 60
            }
            let (above, row) = (PNGRowFilter.padding, stride + PNGRowFilter.padding)
            let residuals = PNGFilter.allCases.map { filter in
                (0..<count).map { index -> UInt8 in
                    let left = index < distance ? 0 : Int(rows[row + index - distance])
                    let corner = index < distance ? 0 : Int(rows[above + index - distance])
                    return rows[row + index] &- UInt8(expected(filter, left, Int(rows[above + index]), corner))
                }
            }
            let sums = residuals.map { $0.reduce(0) { $0 + Int(Int8(bitPattern: $1).magnitude) } }
            let best = sums.firstIndex(of: sums.min() ?? 0) ?? 0
            var output = [UInt8](repeating: 0, count: count + 1)
            var span = output.mutableSpan
            let filter = PNGRowFilter(rowCount: count, distance: distance)
            filter.filter(rows.span, row, above: above, to: &span, at: 0)
            #expect(output == [UInt8(best)] + residuals[best], "seed \(seed)")
            chosen.insert(output[0])
        }
        #expect(chosen.count > 2, "seed \(seed)")
    }
}
