/// A resampler that scales an image, or a part of it, to another size. It works in linear light with premultiplied alpha, so
/// that invisible pixels do not affect the result.
///
/// Rows are resampled horizontally once, in groups of four. Memory holds only the rows that the next row of the result
/// needs, and a few more.
struct Resampler {
    private let columns: ResampledAxis
    private let rows: ResampledAxis
    private let size: ImageSize
    private let isOpaque: Bool
    private let slotCount: Int
    private let transfer = SRGBTransfer.tables

    /// For each column, the pixels of four rows that are resampled together.
    private var decoded: [SIMD16<Float>] = []
    private var band: [SIMD4<Float>] = []
    private var mixed: [SIMD4<Float>] = []

    /// The number of rows that are resampled horizontally together, so that each weight is loaded once for all of them.
    private static let rowsTogether = 4
    /// The number of result rows between cancellation checks.
    private static let rowsBetweenChecks = 8

    /// Resamples the part of an image between columns and rows to a size.
    ///
    /// - Throws: `CancellationError` if the task is cancelled.
    static func resampled(
        _ image: Image,
        columns: Range<Double>,
        rows: Range<Double>,
        to size: ImageSize
    ) throws(CancellationError) -> Image {
        var resampler = Resampler(image, columns, rows, size, isOpaque: image.isOpaque)
        return try Image(size: size, orientation: image.orientation) { pixels throws(CancellationError) in
            try resampler.run(on: image, 0..<size.height, into: &pixels)
        }
    }

    /// Resamples the part of an image between columns and rows to a size. A child task resamples the lower half of a large
    /// image.
    ///
    /// - Throws: `CancellationError` if the task is cancelled.
    static func resample(
        _ image: Image,
        columns: Range<Double>,
        rows: Range<Double>,
        to size: ImageSize
    ) async throws(CancellationError) -> Image {
        guard isLarge(image.size, size) else {
            return try resampled(image, columns: columns, rows: rows, to: size)
        }
        let middle = image.size.height / 2
        async let isLowerOpaque = image.isOpaque(inRows: middle..<image.size.height)
        let isUpperOpaque = image.isOpaque(inRows: 0..<middle)
        let isOpaque = await isLowerOpaque && isUpperOpaque
        let resampler = Resampler(image, columns, rows, size, isOpaque: isOpaque)
        let half = (size.height + 1) / 2
        async let lower = resampler.pixels(of: image, half..<size.height)
        // Has space for the lower half, so that nothing is copied twice.
        var pixels = resampler.pixels(of: image, 0..<half, byteCount: size.byteCount)
        pixels.replaceSubrange(half * size.width * Image.bytesPerPixel..<pixels.count, with: await lower)
        // A half that was cancelled is not complete.
        guard let result = Image(size: size, bytes: pixels, orientation: image.orientation), !Task.isCancelled else {
            throw CancellationError()
        }
        return result
    }

    /// Returns whether resampling takes so long that two tasks pay off.
    private static func isLarge(_ source: ImageSize, _ result: ImageSize) -> Bool {
        max(source.pixelCount, result.pixelCount) >= 1 << 20 && result.height > 1
    }

    /// Resamples a whole image to a size.
    ///
    /// - Throws: `CancellationError` if the task is cancelled.
    static func resampled(_ image: Image, to size: ImageSize) throws(CancellationError) -> Image {
        guard size != image.size else { return image }
        return try resampled(
            image,
            columns: 0..<Double(image.size.width),
            rows: 0..<Double(image.size.height),
            to: size
        )
    }

    /// Returns the number of bytes that resampling needs in addition to the image and the result: the current rows and the
    /// weights. Two tasks need more: the lower half of the result, and rows of their own.
    static func workingBytes(for scaling: Scaling) -> Int {
        let columnTaps = ResampledAxis.tapCount(of: scaling.source.width, scale: scaling.horizontalScale)
        let rowTaps = ResampledAxis.tapCount(of: scaling.source.height, scale: scaling.verticalScale)
        let mixed = scaling.size.width * (slotCount(rowTaps: rowTaps) + 1)
        let weights = scaling.size.width * columnTaps + scaling.size.height * rowTaps
        let starts = scaling.size.width + scaling.size.height
        let currentRows =
            scaling.source.width * MemoryLayout<SIMD16<Float>>.stride + mixed * MemoryLayout<SIMD4<Float>>.stride
        return currentRows + weights * MemoryLayout<Float>.stride + starts * MemoryLayout<Int>.stride
            + (isLarge(scaling.source, scaling.size) ? currentRows + scaling.size.byteCount / 2 : 0)
    }

    /// Returns the number of row slots: enough whole groups for `rowTaps` rows that begin and end anywhere in a group.
    private static func slotCount(rowTaps: Int) -> Int {
        (rowTaps + 2 * (rowsTogether - 1)) / rowsTogether * rowsTogether
    }

    private init(
        _ image: Image,
        _ columns: Range<Double>,
        _ rows: Range<Double>,
        _ size: ImageSize,
        isOpaque: Bool
    ) {
        self.columns = ResampledAxis(of: image.size.width, region: columns, to: size.width)
        self.rows = ResampledAxis(of: image.size.height, region: rows, to: size.height)
        self.size = size
        self.isOpaque = isOpaque
        slotCount = Self.slotCount(rowTaps: self.rows.tapCount)
    }

    /// Returns rows of the result, and zeros after them up to a number of bytes. They are not complete if the task is cancelled.
    private func pixels(of image: Image, _ range: Range<Int>, byteCount: Int? = nil) -> [UInt8] {
        var resampler = self
        let count = range.count * size.width * Image.bytesPerPixel
        var bytes = [UInt8](repeating: 0, count: byteCount ?? count)
        var pixels = bytes.mutableSpan
        try? resampler.run(on: image, range, into: &pixels)
        return bytes
    }

    /// Writes rows of the result.
    private mutating func run(
        on image: Image,
        _ range: Range<Int>,
        into pixels: inout MutableSpan<UInt8>
    ) throws(CancellationError) {
        let source = image.bytes.span
        decoded = [SIMD16<Float>](repeating: .zero, count: image.size.width)
        band = [SIMD4<Float>](repeating: .zero, count: size.width * slotCount)
        mixed = [SIMD4<Float>](repeating: .zero, count: size.width)
        var next = 0
        for y in range {
            if y % Self.rowsBetweenChecks == 0, Task.isCancelled { throw CancellationError() }
            let start = rows.starts[y]
            next = max(next, start - start % Self.rowsTogether)
            while next < start + rows.tapCount {
                // Shrinking needs many rows of the image for each row of the result.
                if Task.isCancelled { throw CancellationError() }
                decode(source, next, of: image.size)
                resampleAcross(into: next % slotCount)
                next += Self.rowsTogether
            }
            mix(y, from: start)
            encode(into: &pixels, at: (y - range.lowerBound) * size.width * Image.bytesPerPixel)
        }
    }

    /// Decodes four rows. Rows below the image repeat the last one, but are never used.
    private mutating func decode(_ source: Span<UInt8>, _ first: Int, of size: ImageSize) {
        // Local copies, which can be read while the decoded rows of `self` are modified. With a constant count, the compiler
        // omits bounds checks for byte indices, which doubles the speed.
        let (transfer, isOpaque) = (transfer, isOpaque)
        let light = transfer.light.span.extracting(0..<256)
        let stride = size.width * Image.bytesPerPixel
        func range(_ row: Int) -> Range<Int> {
            let start = min(first + row, size.height - 1) * stride
            return start..<start + stride
        }
        let (row0, row1) = (source.extracting(range(0)), source.extracting(range(1)))
        let (row2, row3) = (source.extracting(range(2)), source.extracting(range(3)))
        var decoded = self.decoded.mutableSpan
        for x in decoded.indices {
            var pixels = (
                Self.light(row0, 4 * x, light), Self.light(row1, 4 * x, light),
                Self.light(row2, 4 * x, light), Self.light(row3, 4 * x, light)
            )
            if !isOpaque {
                pixels.0 *= Float(row0[4 * x + 3]) * (1 / 255)
                pixels.1 *= Float(row1[4 * x + 3]) * (1 / 255)
                pixels.2 *= Float(row2[4 * x + 3]) * (1 / 255)
                pixels.3 *= Float(row3[4 * x + 3]) * (1 / 255)
            }
            decoded[x] = SIMD16(
                lowHalf: SIMD8(lowHalf: pixels.0, highHalf: pixels.1),
                highHalf: SIMD8(lowHalf: pixels.2, highHalf: pixels.3)
            )
        }
    }

    /// Returns the linear light of a pixel as if it were opaque.
    @inline(__always)
    private static func light(_ row: Span<UInt8>, _ index: Int, _ light: Span<Float>) -> SIMD4<Float> {
        SIMD4(light[Int(row[index])], light[Int(row[index + 1])], light[Int(row[index + 2])], 1)
    }

    private mutating func resampleAcross(into slot: Int) {
        // Local copies, which can be read while the band of `self` is modified.
        let (columns, decodedRows) = (columns, decoded)
        let tapCount = columns.tapCount
        let starts = columns.starts.span
        let weights = columns.weights.span
        let decoded = decodedRows.span
        let width = starts.count
        let start = slot * width
        var band = self.band.mutableSpan
        for x in starts.indices {
            let taps = decoded.extracting(starts[x]..<starts[x] + tapCount)
            let shares = weights.extracting(x * tapCount..<(x + 1) * tapCount)
            var sum = SIMD16<Float>.zero
            for tap in taps.indices { sum += taps[tap] * shares[tap] }
            band[start + x] = sum.lowHalf.lowHalf
            band[start + width + x] = sum.lowHalf.highHalf
            band[start + 2 * width + x] = sum.highHalf.lowHalf
            band[start + 3 * width + x] = sum.highHalf.highHalf
        }
    }

    private mutating func mix(_ y: Int, from start: Int) {
        // Local copies, which can be read while the mixed row of `self` is modified.
        let (rows, rowsOfBand, width, slotCount) = (rows, band, size.width, slotCount)
        let band = rowsOfBand.span
        func range(_ tap: Int) -> Range<Int> {
            let slot = (start + tap) % slotCount
            return slot * width..<(slot + 1) * width
        }
        let shares = rows.weights.span.extracting(y * rows.tapCount..<(y + 1) * rows.tapCount)
        var mixed = self.mixed.mutableSpan
        mixed.update(repeating: .zero)
        var tap = 0
        // Three rows at a time, so that sums are loaded and stored a third as often.
        while tap + 3 <= shares.count {
            let (row0, row1) = (band.extracting(range(tap)), band.extracting(range(tap + 1)))
            let row2 = band.extracting(range(tap + 2))
            let (share0, share1, share2) = (shares[tap], shares[tap + 1], shares[tap + 2])
            for x in mixed.indices {
                mixed[x] = mixed[x] + row0[x] * share0 + row1[x] * share1 + row2[x] * share2
            }
            tap += 3
        }
        while tap < shares.count {
            let (row, share) = (band.extracting(range(tap)), shares[tap])
            for x in mixed.indices { mixed[x] += row[x] * share }
            tap += 1
        }
    }

    private func encode(into pixels: inout MutableSpan<UInt8>, at start: Int) {
        let levels = transfer.levels.span.extracting(0..<SRGBTransfer.binCount)
        let bounds = transfer.bounds.span.extracting(0..<256)
        let mixed = mixed.span
        for x in mixed.indices {
            let i = start + 4 * x
            var color = mixed[x]
            if !isOpaque {
                let alpha = UInt8((min(max(color.w, 0), 1) * 255).rounded())
                pixels[i + 3] = alpha
                // Invisible pixels stay clear, as they were initialized.
                if alpha == 0 { continue }
                color /= color.w
            } else {
                pixels[i + 3] = 255
            }
            pixels[i] = SRGBTransfer.level(of: color.x, levels, bounds)
            pixels[i + 1] = SRGBTransfer.level(of: color.y, levels, bounds)
            pixels[i + 2] = SRGBTransfer.level(of: color.z, levels, bounds)
        }
    }
}

/// The source pixels and weights for each pixel of a resampled row or column.
///
/// The kernel is Catmull-Rom (Keys 1981, with a = -1/2). It keeps edges sharp and overshoots less than a three-lobed Lanczos
/// kernel, which matters in linear light, where the dark side of an edge has little headroom. When the image shrinks, the
/// kernel is widened, so that every pixel contributes and no aliasing occurs.
struct ResampledAxis {
    /// The number of source pixels per result pixel.
    let tapCount: Int
    /// The first source pixel of each result pixel, in nondecreasing order.
    let starts: [Int]
    /// The weights of the source pixels, `tapCount` for each result pixel. They add up to 1.
    let weights: [Float]

    /// Computes the weights for an axis.
    ///
    /// - Parameters:
    ///   - source: The number of source pixels.
    ///   - region: The part to resample, in pixels from the edge of the first.
    ///   - count: The number of result pixels.
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
            // Normalizing redistributes the weight of taps beyond the edges.
            for weight in row { weights.append(Float(weight / sum)) }
        }
        self.tapCount = tapCount
        self.starts = starts
        self.weights = weights
    }

    /// Returns the number of source pixels per result pixel. `scale` is the ratio of source length to result length.
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
