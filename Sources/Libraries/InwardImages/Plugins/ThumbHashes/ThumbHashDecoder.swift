/// Makes the blur of a hash.
struct ThumbHashDecoder {
    private let header: ThumbHashHeader
    /// How much of each wave there is in each channel, up to seven across and seven down, row by row.
    private var table: [SIMD4<Float>]

    private static let longestSide = 7

    /// Reads the waves; `nil` if there are not enough bytes for them.
    init?(_ bytes: [UInt8]) {
        guard let header = ThumbHashHeader(bytes), header.byteCount <= bytes.count else { return nil }
        self.header = header
        table = [SIMD4<Float>](repeating: .zero, count: Self.longestSide * Self.longestSide)
        table[0] = header.mean
        // The format makes colours stronger than they were, for what of them the steps have lost.
        let scale = header.scale * SIMD4(1, 1.25, 1.25, 1)
        var nibble = 2 * header.start
        for (channel, waves) in header.waves.enumerated() {
            for pair in waves.pairs {
                let step = bytes[nibble / 2] >> (nibble % 2 == 0 ? 0 : 4) & 15
                // The format shows each wave with twice what there was of it.
                table[pair.down * Self.longestSide + pair.across][channel] =
                    (Float(step) / 7.5 - 1) * scale[channel] * 2
                nibble += 1
            }
        }
    }

    /// The blur at a size.
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
