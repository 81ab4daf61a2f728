/// How sRGB encodes light (IEC 61966-2-1), in tables. What is mixed has to be mixed as light: the mean of two levels is not the
/// level of what two such pixels look like from afar.
struct SRGBTransfer: Sendable {
    /// The tables, made when they are first asked for.
    static let tables = SRGBTransfer()

    /// How many steps there are from no light to all. What is nearest to a step is a bin, narrower than any level is.
    private static let stepCount = 4096

    /// How many bins the table of levels has: as many as there are numbers of 13 bits, lest a look-up by one has to be checked.
    static let binCount = 8192

    /// How much light each level stands for, from 0 to 1.
    let light: [Float]
    /// The level at which each bin begins.
    let levels: [UInt8]
    /// How much light it takes for the level above each one: what is halfway between them, as they are encoded.
    let bounds: [Float]

    private init() {
        light = (0...255).map { Float(Self.light(ofEncoded: Double($0) / 255)) }
        let bounds = (0...255).map { level in
            level < 255 ? Float(Self.light(ofEncoded: (Double(level) + 0.5) / 255)) : .infinity
        }
        self.bounds = bounds
        var level = 0
        levels = (0..<Self.binCount).map { bin in
            while level < 255, (Float(bin) - 0.5) / Float(Self.stepCount) >= bounds[level] { level += 1 }
            return UInt8(level)
        }
    }

    /// The level that is nearest to some light, which is taken for 0 or 1 beyond them, and must be a number.
    /// The tables are handed over, because whoever asks for many levels takes hold of them once.
    @inline(__always)
    static func level(of light: Float, _ levels: Span<UInt8>, _ bounds: Span<Float>) -> UInt8 {
        let light = min(max(light, 0), 1)
        // Of a number from 2²³ to 2²⁴ the last bits are those of the whole number it was rounded to, which is faster than to
        // convert it.
        let step = (light * Float(stepCount) + 8_388_608).bitPattern & 0x1FFF
        let level = levels[Int(step)]
        // No bin holds more than one bound, so it is this level or the next.
        return level &+ (light < bounds[Int(level)] ? 0 : 1)
    }

    /// The light that an encoded value from 0 to 1 stands for.
    static func light(ofEncoded value: Double) -> Double {
        guard value > 0.04045 else { return value / 12.92 }
        let base = (value + 0.055) / 1.055
        // The power of 2.4, which is the square times the square of the fifth root.
        let root = fifthRoot(of: base)
        return base * base * root * root
    }

    /// The fifth root of a number from 0.01 to 1, by Newton's method.
    private static func fifthRoot(of value: Double) -> Double {
        var root = 1.0
        // It comes from above, falls at first by a fifth a step, and has every digit a few steps after that.
        for _ in 0..<24 { root = (4 * root + value / (root * root * root * root)) / 5 }
        return root
    }
}
