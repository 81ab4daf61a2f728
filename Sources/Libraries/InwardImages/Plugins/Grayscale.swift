/// A filter that converts an image to grayscale.
///
/// ```swift
/// let gray = try Grayscale().filtered(image)
/// ```
///
/// Each pixel becomes the gray with the same luminance: 0.2126 of its linear red, 0.7152 of its linear green, and 0.0722 of its
/// linear blue (Rec. ITU-R BT.709, which has the same primaries as sRGB). Weighting the sRGB-encoded values instead would be
/// faster, but would make saturated colors too dark.
public struct Grayscale: ImageFilter {
    /// Creates a grayscale filter.
    public init() {}

    /// Returns the image in grayscale, with its alpha unchanged.
    ///
    /// - Throws: `CancellationError` if the task is cancelled.
    public func filtered(_ image: Image) throws(CancellationError) -> Image {
        let transfer = SRGBTransfer.tables
        // With constant counts, the compiler can omit bounds checks for byte indices.
        let light = transfer.light.span.extracting(0..<256)
        let levels = transfer.levels.span.extracting(0..<SRGBTransfer.binCount)
        let bounds = transfer.bounds.span.extracting(0..<256)
        let (width, height) = (image.size.width, image.size.height)
        var image = image
        try image.update { pixels throws(CancellationError) in
            var index = 0
            for y in 0..<height {
                if y % 64 == 0, Task.isCancelled { throw CancellationError() }
                for _ in 0..<width {
                    let red = light[Int(pixels[index])] * 0.2126
                    let green = light[Int(pixels[index + 1])] * 0.7152
                    let blue = light[Int(pixels[index + 2])] * 0.0722
                    let level = SRGBTransfer.level(of: red + green + blue, levels, bounds)
                    pixels[index] = level
                    pixels[index + 1] = level
                    pixels[index + 2] = level
                    index += Image.bytesPerPixel
                }
            }
        }
        return image
    }
}

/// Tables of the sRGB transfer function (IEC 61966-2-1). Convert levels to linear light before you mix colors. The mean of two
/// encoded levels looks darker than two adjacent pixels with these levels.
struct SRGBTransfer: Sendable {
    /// The shared tables, which are created on first use.
    static let tables = SRGBTransfer()

    /// The number of steps from no light to full light. Each step has a bin, which is narrower than the range of any level.
    private static let stepCount = 4096

    /// The number of bins in the table of levels. It covers all 13-bit indices, so that lookups need no bounds check.
    static let binCount = 8192

    /// The linear light of each level, from 0 to 1.
    let light: [Float]
    /// The level at the start of each bin.
    let levels: [UInt8]
    /// For each level, the light at which the next level starts, halfway between the encoded levels.
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

    /// Returns the level nearest to a linear light value, which is clamped to the range from 0 to 1 and must not be NaN. The
    /// tables are parameters so that callers can load them once for many pixels.
    @inline(__always)
    static func level(of light: Float, _ levels: Span<UInt8>, _ bounds: Span<Float>) -> UInt8 {
        let light = min(max(light, 0), 1)
        // The low bits of a float between 2²³ and 2²⁴ are those of its rounded integer, which is faster than a conversion.
        let step = (light * Float(stepCount) + 8_388_608).bitPattern & 0x1FFF
        let level = levels[Int(step)]
        // A bin contains at most one bound, so the result is this level or the next.
        return level &+ (light < bounds[Int(level)] ? 0 : 1)
    }

    /// Returns the linear light of an encoded value from 0 to 1.
    static func light(ofEncoded value: Double) -> Double {
        guard value > 0.04045 else { return value / 12.92 }
        let base = (value + 0.055) / 1.055
        // x^2.4 = x² · (x^⅕)².
        let root = fifthRoot(of: base)
        return base * base * root * root
    }

    /// Returns the fifth root of a number from 0.01 to 1, by Newton's method.
    private static func fifthRoot(of value: Double) -> Double {
        var root = 1.0
        // Converges from above. It shrinks by a fifth per step at first, and reaches full precision a few steps later.
        for _ in 0..<24 { root = (4 * root + value / (root * root * root * root)) / 5 }
        return root
    }
}
