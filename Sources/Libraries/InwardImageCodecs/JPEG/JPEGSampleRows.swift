import InwardImages

/// Makes the samples of a row of MCUs from pixels (T.871 section 7): those of brightness first, then those of blue and of red.
struct JPEGSampleRows {
    /// How far a row is from the next.
    let stride: Int
    /// Where the samples of blue begin.
    let blue: Int
    /// Where the samples of red begin.
    let red: Int
    /// How many samples there is room for.
    let sampleCount: Int
    private let size: ImageSize
    private let isGray: Bool
    private let horizontal: Int
    private let vertical: Int

    init(_ size: ImageSize, isGray: Bool, horizontal: Int, vertical: Int) {
        self.size = size
        self.isGray = isGray
        self.horizontal = horizontal
        self.vertical = vertical
        // Whole MCUs, and as far as vectors reach.
        stride = size.divided(by: 8 * horizontal).width * 8 * horizontal + 16
        let rows = 8 * vertical
        blue = rows * stride
        red = isGray ? blue : 2 * rows * stride
        sampleCount = isGray ? blue : 3 * rows * stride
    }

    /// Fills in a row of MCUs. Beyond the edges of the picture its last pixels are repeated.
    func fill(_ samples: inout MutableSpan<UInt8>, band: Int, from pixels: Span<UInt8>) {
        for row in 0..<8 * vertical {
            let y = min(band * 8 * vertical + row, size.height - 1)
            let start = row * stride
            convert(&samples, start, from: pixels, 4 * y * size.width)
            for plane in isGray ? [0] : [0, blue, red] {
                let last = samples[plane + start + size.width - 1]
                for column in size.width..<stride { samples[plane + start + column] = last }
            }
        }
        guard horizontal > 1 else { return }
        for plane in [blue, red] {
            for row in 0..<8 {
                let upper = plane + row * vertical * stride
                let lower = plane + (row * vertical + vertical - 1) * stride
                Self.halve(&samples, upper, lower, to: plane + row * stride, count: stride / 2 - 8)
            }
        }
    }

    private func convert(_ samples: inout MutableSpan<UInt8>, _ start: Int, from pixels: Span<UInt8>, _ first: Int) {
        var column = 0
        while column &+ 8 <= size.width {
            let eight = pixels.eightPixels(at: first &+ 4 &* column)
            write(&samples, start &+ column, Self.onWhite(eight))
            column &+= 8
        }
        guard column < size.width else { return }
        var rest = SIMD32<UInt8>(repeating: 0)
        for byte in 0..<4 * (size.width - column) { rest[byte] = pixels[first + 4 * column + byte] }
        write(&samples, start + column, Self.onWhite(rest))
    }

    /// Eight pixels as they are seen on white.
    @inline(__always)
    private static func onWhite(_ pixels: SIMD32<UInt8>) -> SIMD32<UInt8> {
        let alpha = pixels.oddHalf.oddHalf
        return alpha == SIMD8(repeating: 255) ? pixels : blended(pixels)
    }

    @inline(never)
    private static func blended(_ pixels: SIMD32<UInt8>) -> SIMD32<UInt8> {
        var pixels = pixels
        for pixel in 0..<8 {
            let alpha = Int(pixels[4 * pixel + 3])
            for part in 4 * pixel..<4 * pixel + 3 {
                pixels[part] = UInt8((Int(pixels[part]) * alpha + 255 * (255 - alpha) + 127) / 255)
            }
        }
        return pixels
    }

    @inline(__always)
    private func write(_ samples: inout MutableSpan<UInt8>, _ position: Int, _ pixels: SIMD32<UInt8>) {
        let redAndBlue = pixels.evenHalf
        let redLevels = redAndBlue.evenHalf.levels
        let greenLevels = pixels.oddHalf.evenHalf.levels
        let blueLevels = redAndBlue.oddHalf.levels
        if isGray {
            samples.store(redLevels.bytes, at: position)
            return
        }
        // 15 bits behind the point. The factors of a sum add up to 1, or to 0; none is larger than half of 16 bits.
        let brightness =
            (JPEGBlockRows.sum(redLevels, 9798, greenLevels, 19235) &+ blueLevels.wide &* 3735 &+ 16384) &>> 15
        let blueness =
            (JPEGBlockRows.sum(redLevels, -5529, greenLevels, -10855) &+ blueLevels.wide &* 16384 &+ (128 << 15 + 16383))
            &>> 15
        let redness =
            (JPEGBlockRows.sum(greenLevels, -13720, blueLevels, -2664) &+ redLevels.wide &* 16384 &+ (128 << 15 + 16383))
            &>> 15
        samples.store(brightness.narrow.bytes, at: position)
        samples.store(blueness.narrow.bytes, at: blue &+ position)
        samples.store(redness.narrow.bytes, at: red &+ position)
    }

    /// Makes one sample of two beside each other in two rows, which may be the same; the halves that are dropped in turn do not
    /// make the colour darker.
    @inline(never)
    private static func halve(
        _ samples: inout MutableSpan<UInt8>,
        _ upper: Int,
        _ lower: Int,
        to position: Int,
        count: Int
    ) {
        let rounding: SIMD8<Int16> =
            upper == lower ? SIMD8(0, 2, 0, 2, 0, 2, 0, 2) : SIMD8(1, 2, 1, 2, 1, 2, 1, 2)
        var index = 0
        while index < count {
            let first = samples.eightSamples(at: upper &+ 2 &* index)
            let second = samples.eightSamples(at: upper &+ 2 &* index &+ 8)
            let third = samples.eightSamples(at: lower &+ 2 &* index)
            let fourth = samples.eightSamples(at: lower &+ 2 &* index &+ 8)
            let above = SIMD16(lowHalf: first, highHalf: second)
            let below = SIMD16(lowHalf: third, highHalf: fourth)
            let sum = above.evenHalf.levels &+ above.oddHalf.levels &+ below.evenHalf.levels &+ below.oddHalf.levels
            samples.store(((sum &+ rounding) &>> 2).bytes, at: position &+ index)
            index &+= 8
        }
    }
}
