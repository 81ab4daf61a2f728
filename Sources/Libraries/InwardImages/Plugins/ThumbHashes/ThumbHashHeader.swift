/// What the first five or six bytes of a hash say.
struct ThumbHashHeader {
    /// The means of brightness, yellow against blue, red against green, and alpha.
    let mean: SIMD4<Float>
    /// How far the waves of each go from the mean.
    let scale: SIMD4<Float>
    /// Whether the picture can be seen through.
    let hasAlpha: Bool
    /// How many waves of brightness there are across, at least 1.
    let columns: Int
    /// How many waves of brightness there are down, at least 1.
    let rows: Int

    /// Reads it; `nil` if there are not enough bytes for it.
    init?(_ bytes: [UInt8]) {
        guard bytes.count >= 5 else { return nil }
        let color = UInt32(bytes[0]) | UInt32(bytes[1]) << 8 | UInt32(bytes[2]) << 16
        let shape = UInt32(bytes[3]) | UInt32(bytes[4]) << 8
        hasAlpha = color >> 23 == 1
        guard !hasAlpha || bytes.count >= 6 else { return nil }
        let alpha = hasAlpha ? bytes[5] : 0x0F
        mean = SIMD4(
            Float(color & 63) / 63,
            Float(color >> 6 & 63) / 31.5 - 1,
            Float(color >> 12 & 63) / 31.5 - 1,
            Float(alpha & 15) / 15
        )
        scale = SIMD4(
            Float(color >> 18 & 31) / 31,
            Float(shape >> 3 & 63) / 63,
            Float(shape >> 9 & 63) / 63,
            Float(alpha >> 4) / 15
        )
        let longer = hasAlpha ? 5 : 7
        let shorter = max(1, Int(shape & 7))
        let isLandscape = shape >> 15 == 1
        columns = isLandscape ? longer : shorter
        rows = isLandscape ? shorter : longer
    }

    /// Where the waves begin.
    var start: Int { hasAlpha ? 6 : 5 }

    /// How many waves there are across and down, of brightness, of each of the colours, and of alpha.
    var waves: [ThumbHashWaves] {
        let colors = [
            ThumbHashWaves(columns: max(3, columns), rows: max(3, rows)), ThumbHashWaves(columns: 3, rows: 3),
            ThumbHashWaves(columns: 3, rows: 3),
        ]
        return hasAlpha ? colors + [ThumbHashWaves(columns: 5, rows: 5)] : colors
    }

    /// How many bytes the hash has, with half of one for each wave.
    var byteCount: Int { start + (waves.reduce(0) { $0 + $1.pairs.count } + 1) / 2 }
}
