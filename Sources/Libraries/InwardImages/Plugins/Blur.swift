/// Blurs an image, nearly as a Gaussian does.
///
/// The encoded values are mixed, as the filter `blur()` of CSS does, so an image blurs here as it does on a page. They count
/// by what can be seen of them, and beyond the edges the image goes on as it ends there.
public struct Blur: ImageFilter {
    /// The standard deviation of the Gaussian in pixels.
    public let radius: Double

    /// The largest radius, in pixels.
    public static let maximumRadius = 1000.0

    /// Blurs images.
    ///
    /// - Parameter radius: The standard deviation of the Gaussian in pixels. One that is less than 0 or no number is taken for
    ///   0, and one that is more than ``maximumRadius`` for that. Less than 0.798 changes nothing.
    public init(radius: Double) {
        self.radius = radius > 0 ? min(radius, Self.maximumRadius) : 0
    }

    /// The blurred image.
    ///
    /// - Complexity: O(n) in the number of pixels, whatever the radius, and twice the memory of the image meanwhile.
    /// - Throws: `CancellationError` if the task is cancelled before it is done.
    public func filtered(_ image: Image) throws(CancellationError) -> Image {
        try BoxBlur.blurred(image, radius: radius)
    }

    /// Three times the image: the result, and what is blurred in one direction.
    public func workingBytes(for size: ImageSize) -> Int { 3 * size.byteCount }
}

/// A Gaussian by three boxes, as the section on `feGaussianBlur` of Filter Effects describes them: each takes the mean of
/// neighbours, by a sum that a pixel enters in front as another leaves it behind.
struct BoxBlur {
    /// How many pixels each box reaches to the left and to the right, or up and down.
    private let boxes: [(before: Int, after: Int)]
    /// How fine the parts of a pixel, multiplied by alpha, are counted while they are mixed: so many steps for a level. They
    /// are whole numbers, so that sums of them have no error that would grow along a row: a Float counts to 2²⁴.
    private let steps: Float
    private var line: [SIMD4<Float>]
    private var mixed: [SIMD4<Float>]

    private static let rowsBetweenChecks = 16

    /// The image blurred in both directions by a standard deviation in pixels, at most ``Blur/maximumRadius``.
    ///
    /// - Throws: `CancellationError` if the task is cancelled before it is done.
    static func blurred(_ image: Image, radius: Double) throws(CancellationError) -> Image {
        // 3 · √(2π) / 4 of that many pixels, rounded.
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
        // What is blurred across, with columns as rows.
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
        // Held beside the struct, of which the other line is changed.
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
            // What cannot be seen stays clear, as the pixels are.
            if alpha == 0 { continue }
            let color = Self.rounded(value * (255 / value.w))
            let i = (y * size.width + column) * Image.bytesPerPixel
            pixels[i] = UInt8(color.x)
            pixels[i + 1] = UInt8(color.y)
            pixels[i + 2] = UInt8(color.z)
            pixels[i + 3] = alpha
        }
    }

    /// Numbers from 0 to 2²² rounded to whole ones: there is no room for a fraction beside 3 · 2²².
    @inline(__always)
    private static func rounded(_ value: SIMD4<Float>) -> SIMD4<Float> {
        (value + 12_582_912) - 12_582_912
    }
}
