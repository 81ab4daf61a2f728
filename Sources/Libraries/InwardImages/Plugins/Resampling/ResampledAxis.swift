/// What each pixel of a resampled row, or column, is made of: how much of which pixels.
///
/// The kernel is that of Catmull and Rom, the cubic of Keys (1981) with a = -1/2. It keeps edges sharp and overshoots less
/// than Lanczos' of three lobes, which shows in linear light, where dark sides of an edge have little room. It is widened
/// where the picture shrinks, so that every pixel counts and none is aliased.
struct ResampledAxis {
    /// How many pixels are mixed into one.
    let tapCount: Int
    /// The first pixel that is mixed into each; none is before the one in front of it.
    let starts: [Int]
    /// How much each of the mixed pixels counts, `tapCount` for each; in sum 1.
    let weights: [Float]

    /// Makes the weights for some pixels.
    ///
    /// - Parameters:
    ///   - source: How many pixels there are.
    ///   - region: The part of them that is resampled, counted in pixels from the edge of the first.
    ///   - count: How many pixels the part becomes.
    init(of source: Int, region: Range<Double>, to count: Int) {
        let scale = (region.upperBound - region.lowerBound) / Double(count)
        let width = max(1, scale)
        let tapCount = Self.tapCount(of: source, scale: scale)
        var starts: [Int] = []
        var weights: [Float] = []
        starts.reserveCapacity(count)
        weights.reserveCapacity(count * tapCount)
        var row = [Double](repeating: 0, count: tapCount)
        for index in 0..<count {
            let center = region.lowerBound + (Double(index) + 0.5) * scale
            let start = min(max(0, Int((center - 2 * width).rounded(.down))), source - tapCount)
            var sum = 0.0
            for tap in 0..<tapCount {
                row[tap] = Self.kernel((Double(start + tap) + 0.5 - center) / width)
                sum += row[tap]
            }
            starts.append(start)
            // What would lie beyond the edges is left out, and the rest counts for it.
            for weight in row { weights.append(Float(weight / sum)) }
        }
        self.tapCount = tapCount
        self.starts = starts
        self.weights = weights
    }

    /// How many of so many pixels are mixed into one, where as many as the scale says become one.
    static func tapCount(of source: Int, scale: Double) -> Int {
        min(Int((4 * max(1, scale)).rounded(.up)) + 1, source)
    }

    private static func kernel(_ distance: Double) -> Double {
        let x = abs(distance)
        if x < 1 { return (1.5 * x - 2.5) * x * x + 1 }
        if x < 2 { return ((2.5 - 0.5 * x) * x - 4) * x + 2 }
        return 0
    }
}
