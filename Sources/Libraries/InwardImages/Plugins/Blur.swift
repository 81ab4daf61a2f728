/// A filter that blurs an image with an approximate Gaussian.
///
/// ```swift
/// loader.addPlugin(Blur(radius: 8))
/// ```
///
/// It blurs sRGB-encoded values, as the CSS function `blur()` does, so the result looks the same as on a web page. Pixels are
/// weighted by alpha, and edge pixels are repeated beyond the edges.
public struct Blur: ImageFilter {
    /// The standard deviation of the Gaussian, in pixels.
    public let radius: Double

    /// The maximum radius, in pixels.
    public static let maximumRadius = 1000.0

    /// Creates a blur filter.
    ///
    /// - Parameter radius: The standard deviation of the Gaussian, in pixels. It is clamped to the range from 0 to
    ///   ``maximumRadius``, and NaN counts as 0. A radius less than 0.798 changes nothing.
    public init(radius: Double) {
        self.radius = radius > 0 ? min(radius, Self.maximumRadius) : 0
    }

    /// Returns the blurred image.
    ///
    /// - Complexity: O(n) in the number of pixels, independent of the radius. In addition to the result, it needs twice the
    ///   memory of the image while it runs.
    /// - Throws: `CancellationError` if the task is cancelled.
    public func filtered(_ image: Image) throws(CancellationError) -> Image {
        try BoxBlur.blurred(image, radius: radius)
    }

    /// Returns three times the byte count of the image: one for the result, and two for the intermediate image, which is
    /// blurred horizontally.
    public func workingBytes(for size: ImageSize) -> Int { 3 * size.byteCount }
}

/// A Gaussian approximated by three box blurs, as described for `feGaussianBlur` in the Filter Effects specification. Each box
/// is a running mean: one pixel enters the sum as another leaves it.
struct BoxBlur {
    /// How many pixels each box extends to the left and to the right, or up and down.
    private let boxes: [(before: Int, after: Int)]
    /// The number of fixed-point steps per level for premultiplied components. The components are whole numbers, so that
    /// running sums accumulate no rounding error. Float represents whole numbers exactly up to 2²⁴.
    private let steps: Float
    private var line: [SIMD4<Float>]
    private var mixed: [SIMD4<Float>]

    private static let rowsBetweenChecks = 16

    /// Returns the image blurred in both directions by a standard deviation in pixels, at most ``Blur/maximumRadius``.
    ///
    /// - Throws: `CancellationError` if the task is cancelled.
    static func blurred(_ image: Image, radius: Double) throws(CancellationError) -> Image {
        // radius · 3 · √(2π) / 4, rounded.
        let width = Int((radius * 1.879971205598873 + 0.5).rounded(.down))
        guard width > 1 else { return image }
        var blur = BoxBlur(width: width, longestLine: image.size.longerSide)
        return try blur.run(on: image)
    }

    private init(width: Int, longestLine: Int) {
        let half = width / 2
        boxes =
            width % 2 == 1
            ? [(half, half), (half, half), (half, half)]
            : [(half, half - 1), (half - 1, half), (half, half)]
        steps = Float(min(255, (1 << 24) / (255 * (width + 1))))
        line = [SIMD4<Float>](repeating: .zero, count: longestLine)
        mixed = line
    }

    private mutating func run(on image: Image) throws(CancellationError) -> Image {
        let (width, height) = (image.size.width, image.size.height)
        // The horizontally blurred image, transposed.
        var turned = [SIMD4<UInt16>](repeating: .zero, count: image.size.pixelCount)
        for y in 0..<height {
            if y % Self.rowsBetweenChecks == 0, Task.isCancelled { throw CancellationError() }
            load(image.bytes.span.extracting(y * width * 4..<(y + 1) * width * 4))
            for box in boxes { apply(box, to: width) }
            var turned = turned.mutableSpan
            let line = line.span
            for x in 0..<width {
                let value = line[x]
                turned[x * height + y] = SIMD4(UInt16(value.x), UInt16(value.y), UInt16(value.z), UInt16(value.w))
            }
        }
        return try Image(size: image.size, orientation: image.orientation) { pixels throws(CancellationError) in
            for x in 0..<width {
                if x % Self.rowsBetweenChecks == 0, Task.isCancelled { throw CancellationError() }
                load(turned.span.extracting(x * height..<(x + 1) * height))
                for box in boxes { apply(box, to: height) }
                store(column: x, of: image.size, into: &pixels)
            }
        }
    }

    private mutating func load(_ row: Span<UInt8>) {
        let scale = steps / 255
        var line = self.line.mutableSpan
        for x in 0..<row.count / 4 {
            let i = 4 * x
            let alpha = Float(row[i + 3])
            let color = SIMD4(Float(row[i]), Float(row[i + 1]), Float(row[i + 2]), 255)
            line[x] = Self.rounded(color * alpha * scale)
        }
    }

    private mutating func load(_ row: Span<SIMD4<UInt16>>) {
        var line = line.mutableSpan
        for x in row.indices {
            let value = row[x]
            line[x] = SIMD4(Float(value.x), Float(value.y), Float(value.z), Float(value.w))
        }
    }

    private mutating func apply(_ box: (before: Int, after: Int), to count: Int) {
        mix(box, count)
        swap(&line, &mixed)
    }

    private mutating func mix(_ box: (before: Int, after: Int), _ count: Int) {
        let share = 1 / Float(box.before + box.after + 1)
        // A local copy, which can be read while the other line of `self` is modified.
        let unmixed = self.line
        let line = unmixed.span
        var mixed = self.mixed.mutableSpan
        let last = count - 1
        var sum = line[0] * Float(box.before)
        for x in 0...box.after { sum += line[min(x, last)] }
        for x in 0..<count {
            mixed[x] = Self.rounded(sum * share)
            sum += line[min(x + box.after + 1, last)] - line[max(x - box.before, 0)]
        }
    }

    private func store(column: Int, of size: ImageSize, into pixels: inout MutableSpan<UInt8>) {
        let line = line.span
        for y in 0..<size.height {
            let value = line[y]
            let alpha = UInt8((value.w / steps).rounded())
            // Invisible pixels stay clear, as they were initialized.
            if alpha == 0 { continue }
            let color = Self.rounded(value * (255 / value.w))
            let i = (y * size.width + column) * Image.bytesPerPixel
            pixels[i] = UInt8(color.x)
            pixels[i + 1] = UInt8(color.y)
            pixels[i + 2] = UInt8(color.z)
            pixels[i + 3] = alpha
        }
    }

    /// Rounds numbers from 0 to 2²² to whole numbers: adding 3 · 2²² leaves no bits for a fraction.
    @inline(__always)
    private static func rounded(_ value: SIMD4<Float>) -> SIMD4<Float> {
        (value + 12_582_912) - 12_582_912
    }
}
