/// An encoder for the hash of an image with sides of at most 100 pixels.
struct ThumbHashEncoder {
    /// The luminance, yellow versus blue, red versus green, and alpha of each pixel.
    private let pixels: [SIMD4<Float>]
    private let size: ImageSize
    private let hasAlpha: Bool

    private static let longestSide = 7

    /// Converts the image to the channels of the hash.
    init(_ image: Image) {
        size = image.size
        var colors = [SIMD4<Float>](repeating: .zero, count: size.pixelCount)
        var sum = SIMD4<Float>.zero
        let bytes = image.bytes.span
        for index in colors.indices {
            let i = 4 * index
            let alpha = Float(bytes[i + 3]) / 255
            let color = SIMD4(Float(bytes[i]), Float(bytes[i + 1]), Float(bytes[i + 2]), 255) / 255
            colors[index] = color * alpha
            sum += colors[index]
        }
        hasAlpha = !image.isOpaque
        // Transparent pixels are blended with the average color.
        let mean = sum.w > 0 ? sum / sum.w : .zero
        pixels = colors.map { color in
            let shown = color + mean * (1 - color.w)
            return SIMD4(
                (shown.x + shown.y + shown.z) / 3,
                (shown.x + shown.y) / 2 - shown.z,
                shown.x - shown.y,
                color.w
            )
        }
    }

    /// Returns the bytes of the hash.
    func bytes() -> [UInt8] {
        let isLandscape = size.width > size.height
        let longer = hasAlpha ? 5 : 7
        let shorter = Self.rounded(
            Float(longer) * Float(min(size.width, size.height)) / Float(size.longerSide),
            in: 1...UInt32(longer)
        )
        let (columns, rows) = isLandscape ? (longer, Int(shorter)) : (Int(shorter), longer)
        let table = transformed()
        let mean = table[0]
        let luminance = channel(0, of: table, ThumbHashWaves(columns: max(3, columns), rows: max(3, rows)))
        let yellow = channel(1, of: table, ThumbHashWaves(columns: 3, rows: 3))
        let red = channel(2, of: table, ThumbHashWaves(columns: 3, rows: 3))

        var color = Self.rounded(63 * mean.x, in: 0...63)
        color |= Self.rounded(31.5 + 31.5 * mean.y, in: 0...63) << 6
        color |= Self.rounded(31.5 + 31.5 * mean.z, in: 0...63) << 12
        color |= Self.rounded(31 * luminance.scale, in: 0...31) << 18
        color |= hasAlpha ? 1 << 23 : 0
        var shape = shorter
        shape |= Self.rounded(63 * yellow.scale, in: 0...63) << 3
        shape |= Self.rounded(63 * red.scale, in: 0...63) << 9
        shape |= isLandscape ? 1 << 15 : 0
        var bytes = [color, color >> 8, color >> 16, shape, shape >> 8].map { UInt8(truncatingIfNeeded: $0) }
        var nibbles = luminance.nibbles + yellow.nibbles + red.nibbles
        if hasAlpha {
            let alpha = channel(3, of: table, ThumbHashWaves(columns: 5, rows: 5))
            let low = Self.rounded(15 * mean.w, in: 0...15)
            bytes.append(UInt8(low | Self.rounded(15 * alpha.scale, in: 0...15) << 4))
            nibbles += alpha.nibbles
        }
        for index in stride(from: 0, to: nibbles.count, by: 2) {
            bytes.append(nibbles[index] | (index + 1 < nibbles.count ? nibbles[index + 1] << 4 : 0))
        }
        return bytes
    }

    /// Returns the amplitude of each wave, up to seven across and seven down, row by row.
    private func transformed() -> [SIMD4<Float>] {
        let side = Self.longestSide
        let across = CosineTable(frequencies: side, count: size.width).values.span
        let down = CosineTable(frequencies: side, count: size.height).values.span
        let pixels = pixels.span
        var table = [SIMD4<Float>](repeating: .zero, count: side * side)
        for y in 0..<size.height {
            for column in 0..<side {
                var sum = SIMD4<Float>.zero
                for x in 0..<size.width { sum += pixels[y * size.width + x] * across[column * size.width + x] }
                for row in 0..<side { table[row * side + column] += sum * down[row * size.height + y] }
            }
        }
        // A side of n pixels has only n waves. Sums for higher frequencies would be aliases of lower ones.
        for row in 0..<side {
            for column in 0..<side where column >= size.width || row >= size.height {
                table[row * side + column] = .zero
            }
        }
        return table.map { $0 / Float(size.pixelCount) }
    }

    /// Returns the maximum amplitude of a channel's waves, and each amplitude quantized to sixteen steps between the negative
    /// and the positive maximum.
    private func channel(
        _ channel: Int,
        of table: [SIMD4<Float>],
        _ waves: ThumbHashWaves
    ) -> (scale: Float, nibbles: [UInt8]) {
        let values = waves.pairs.map { table[$0.down * Self.longestSide + $0.across][channel] }
        let scale = values.reduce(0) { max($0, abs($1)) }
        guard scale > 0 else { return (0, values.map { _ in 0 }) }
        return (scale, values.map { UInt8(Self.rounded(15 * (0.5 + 0.5 * $0 / scale), in: 0...15)) })
    }

    private static func rounded(_ value: Float, in range: ClosedRange<UInt32>) -> UInt32 {
        min(max(range.lowerBound, UInt32(max(0, value.rounded()))), range.upperBound)
    }
}

/// A decoder for the blurred preview of a hash.
struct ThumbHashDecoder {
    private let header: ThumbHashHeader
    /// The amplitude of each wave in each channel, up to seven across and seven down, row by row.
    private var table: [SIMD4<Float>]

    private static let longestSide = 7

    /// Reads the waves, or returns `nil` if there are not enough bytes.
    init?(_ bytes: [UInt8]) {
        guard let header = ThumbHashHeader(bytes), header.byteCount <= bytes.count else { return nil }
        self.header = header
        table = [SIMD4<Float>](repeating: .zero, count: Self.longestSide * Self.longestSide)
        table[0] = header.mean
        // The format amplifies color to compensate for quantization.
        let scale = header.scale * SIMD4(1, 1.25, 1.25, 1)
        var nibble = 2 * header.start
        for (channel, waves) in header.waves.enumerated() {
            for pair in waves.pairs {
                let step = bytes[nibble / 2] >> (nibble % 2 == 0 ? 0 : 4) & 15
                // The format doubles the amplitude of each wave.
                table[pair.down * Self.longestSide + pair.across][channel] =
                    (Float(step) / 7.5 - 1) * scale[channel] * 2
                nibble += 1
            }
        }
    }

    /// Returns the preview at a size.
    func image(size: ImageSize) -> Image {
        let side = Self.longestSide
        let across = CosineTable(frequencies: side, count: size.width).values.span
        let down = CosineTable(frequencies: side, count: size.height).values.span
        return Image(size: size) { pixels in
            var waves = [SIMD4<Float>](repeating: .zero, count: side)
            var index = 0
            for y in 0..<size.height {
                for column in 0..<side {
                    waves[column] = .zero
                    for row in 0..<side { waves[column] += table[row * side + column] * down[row * size.height + y] }
                }
                let waves = waves.span
                for x in 0..<size.width {
                    var parts = waves[0]
                    for column in 1..<side { parts += waves[column] * across[column * size.width + x] }
                    let color = ThumbHash.color(of: parts)
                    pixels[index] = color.red
                    pixels[index + 1] = color.green
                    pixels[index + 2] = color.blue
                    pixels[index + 3] = color.alpha
                    index += Image.bytesPerPixel
                }
            }
        }
    }
}

/// The basis of the cosine transform: cos(π · k · (x + ½) / n) for frequencies k and the pixels x of a side with n pixels.
struct CosineTable {
    /// The number of pixels of the side.
    let count: Int
    /// The waves, one after another.
    let values: [Float]

    /// Computes the waves of the first `frequencies` frequencies, starting at 0.
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

    /// Returns the cosine of π · `numerator` / `denominator`. Both must be nonnegative.
    static func cosine(halfTurns numerator: Int, over denominator: Int) -> Double {
        var part = numerator % (2 * denominator)
        // Uses symmetry: the second half-turn mirrors the first, and the second quarter-turn mirrors the first with the
        // opposite sign.
        if part > denominator { part = 2 * denominator - part }
        if 2 * part > denominator { return -cosine(halfTurns: denominator - part, over: denominator) }
        let angle = Double.pi * Double(part) / Double(denominator)
        // Taylor series for at most a quarter-turn. The first omitted term is less than 1e-16.
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
