/// The waves that pixels are made of: cos(π · k · (x + ½) / n) for the frequencies k and the pixels x of a side of n pixels.
struct CosineTable {
    /// How many pixels the side has.
    let count: Int
    /// A wave behind the other.
    let values: [Float]

    /// Makes the waves of some frequencies, from 0 on.
    init(frequencies: Int, count: Int) {
        self.count = count
        var values: [Float] = []
        values.reserveCapacity(frequencies * count)
        for frequency in 0..<frequencies {
            for x in 0..<count {
                values.append(Float(Self.cosine(halfTurns: frequency * (2 * x + 1), over: 2 * count)))
            }
        }
        self.values = values
    }

    /// The cosine of a fraction of half a turn, neither part of which is negative.
    static func cosine(halfTurns numerator: Int, over denominator: Int) -> Double {
        var part = numerator % (2 * denominator)
        // It falls in the first half of a turn as it rises in the second, and is negative in the second quarter.
        if part > denominator { part = 2 * denominator - part }
        if 2 * part > denominator { return -cosine(halfTurns: denominator - part, over: denominator) }
        let angle = Double.pi * Double(part) / Double(denominator)
        // Taylor's series up to a quarter of a turn, whose next term is less than 1e-16.
        let square = angle * angle
        var term = 1.0
        var sum = 1.0
        for n in stride(from: 2, through: 20, by: 2) {
            term *= -square / Double(n * (n - 1))
            sum += term
        }
        return sum
    }
}
