import InwardImages

/// An encoder for baseline JPEG files with a single scan and the Huffman tables of T.81 annex K.
///
/// Large images have restart markers between a few strips, which can be encoded independently.
struct JPEGEncoder {
    /// The number of bytes that are encoded before they are appended to the file.
    private static let bufferCount = 32_768
    /// The size from which an image has several strips.
    private static let leastPixelsOfTwoStrips = 1 << 20

    private let size: ImageSize
    private let orientation: Orientation
    private let isGray: Bool
    /// The number of pixels that a chrominance sample covers in each direction.
    private let horizontal: Int
    private let vertical: Int
    /// The number of MCUs in a row, and the number of rows.
    private let mcus: ImageSize
    /// The number of rows of MCUs in each strip but the last.
    private let rowsOfStrip: Int
    private let brightness: JPEGQuantizer
    private let color: JPEGQuantizer

    /// Creates an encoder.
    ///
    /// - Parameters:
    ///   - image: The image.
    ///   - encoding: The quality and the subsampling.
    ///   - rowsOfStrip: The number of rows of MCUs in each strip, or `nil` for the usual number.
    init(_ image: Image, _ encoding: ImageEncoding, rowsOfStrip: Int? = nil) {
        size = image.size
        orientation = image.orientation
        isGray = Self.isGray(image.bytes.span)
        horizontal = isGray || encoding.subsampling == .none ? 1 : 2
        vertical = !isGray && encoding.subsampling == .quarter ? 2 : 1
        mcus = ImageSize(clamping: (size.width - 1) / (8 * horizontal) + 1, (size.height - 1) / (8 * vertical) + 1)
        self.rowsOfStrip = rowsOfStrip ?? Self.rowsOfStrip(mcus, size)
        brightness = JPEGQuantizer(0, quality: encoding.quality)
        color = JPEGQuantizer(1, quality: encoding.quality)
    }

    /// Returns the number of rows of MCUs in a strip: half of a large image, or of an even number of equal strips, if that is more
    /// MCUs than the 16 bits between restart markers allow.
    static func rowsOfStrip(_ mcus: ImageSize, _ size: ImageSize) -> Int {
        guard size.pixelCount >= leastPixelsOfTwoStrips else { return mcus.height }
        let most = max(1, Int(UInt16.max) / mcus.width)
        let pairs = (mcus.height - 1) / (2 * most) + 1
        return (mcus.height - 1) / (2 * pairs) + 1
    }

    /// Returns whether all pixels are gray.
    private static func isGray(_ pixels: Span<UInt8>) -> Bool {
        var index = 0
        while index < pixels.count {
            guard pixels[index] == pixels[index + 1], pixels[index] == pixels[index + 2] else { return false }
            index += 4
        }
        return true
    }

    private var stripCount: Int { (mcus.height - 1) / rowsOfStrip + 1 }

    /// Returns the encoded file.
    ///
    /// - Throws: An error if the task is cancelled, which is checked at each row of MCUs.
    func encode(_ pixels: Span<UInt8>) throws(ImageCodecError) -> [UInt8] {
        var bytes = header()
        bytes.reserveCapacity(bytes.count + size.pixelCount / 4)
        for strip in 0..<stripCount { try encode(strip, of: pixels, to: &bytes) }
        return bytes
    }

    /// Returns the encoded file. A child task encodes half of the strips.
    ///
    /// - Throws: An error if the task is cancelled.
    func encode(_ pixels: [UInt8]) async throws(ImageCodecError) -> [UInt8] {
        guard stripCount > 1 else { return try encode(pixels.span) }
        let half = (stripCount + 1) / 2
        async let lower = encoded(half..<stripCount, of: pixels)
        var bytes = try encoded(0..<half, of: pixels, after: header()).get()
        bytes += try await lower.get()
        return bytes
    }

    private func encoded(
        _ strips: Range<Int>,
        of pixels: [UInt8],
        after start: [UInt8] = []
    ) -> Result<[UInt8], ImageCodecError> {
        var bytes = start
        bytes.reserveCapacity(start.count + size.pixelCount / 4)
        do throws(ImageCodecError) {
            for strip in strips { try encode(strip, of: pixels.span, to: &bytes) }
            return .success(bytes)
        } catch {
            return .failure(error)
        }
    }

    /// Appends a strip and the marker that follows it.
    private func encode(_ strip: Int, of pixels: Span<UInt8>, to bytes: inout [UInt8]) throws(ImageCodecError) {
        let rows = JPEGSampleRows(size, isGray: isGray, horizontal: horizontal, vertical: vertical)
        var storage = [UInt8](repeating: 0, count: rows.sampleCount)
        var samples = storage.mutableSpan
        var coefficientStorage = [Int16](repeating: 0, count: 64)
        var coefficients = coefficientStorage.mutableSpan
        // Space for the largest MCU after the others, because the number of bytes is only checked after each.
        var buffer = [UInt8](repeating: 0, count: Self.bufferCount + 6 * JPEGBlockEncoder.mostBytes)
        var blocks = JPEGBlockEncoder()
        var writer = JPEGBitWriter()
        for band in strip * rowsOfStrip..<min((strip + 1) * rowsOfStrip, mcus.height) {
            try ImageCodecError.checkCancellation()
            rows.fill(&samples, band: band, from: pixels)
            var mcu = 0
            while mcu < mcus.width {
                writer.count = 0
                var output = buffer.mutableSpan
                while mcu < mcus.width, writer.count < Self.bufferCount {
                    encode(samples.span, rows, mcu, with: &blocks, &coefficients, by: &writer, to: &output)
                    mcu += 1
                }
                bytes += buffer[..<writer.count]
            }
        }
        writer.count = 0
        var output = buffer.mutableSpan
        writer.finish(&output)
        bytes += buffer[..<writer.count]
        let isLast = strip == stripCount - 1
        bytes += [0xFF, isLast ? JPEGMarker.endOfImage : JPEGMarker.firstRestart + UInt8(strip % 8)]
    }

    /// Encodes an MCU.
    private func encode(
        _ samples: Span<UInt8>,
        _ rows: JPEGSampleRows,
        _ mcu: Int,
        with blocks: inout JPEGBlockEncoder,
        _ coefficients: inout MutableSpan<Int16>,
        by writer: inout JPEGBitWriter,
        to output: inout MutableSpan<UInt8>
    ) {
        for row in 0..<vertical {
            for column in 0..<horizontal {
                let position = 8 * row * rows.stride + 8 * (mcu * horizontal + column)
                blocks.encode(samples, position, rows.stride, 0, brightness, &coefficients, by: &writer, to: &output)
            }
        }
        guard !isGray else { return }
        blocks.encode(samples, rows.blue + 8 * mcu, rows.stride, 1, color, &coefficients, by: &writer, to: &output)
        blocks.encode(samples, rows.red + 8 * mcu, rows.stride, 2, color, &coefficients, by: &writer, to: &output)
    }

    /// Returns everything before the entropy-coded data.
    private func header() -> [UInt8] {
        var bytes: [UInt8] = [0xFF, JPEGMarker.startOfImage]
        // Version 1.01, square pixels, no thumbnail.
        bytes += Self.segment(JPEGMarker.jfif, Array("JFIF\0".utf8) + [1, 1, 0, 0, 1, 0, 1, 0, 0])
        if orientation != .up { bytes += Self.segment(JPEGMarker.exif, Array("Exif\0\0".utf8) + orientation.exif) }
        let tables = isGray ? [brightness] : [brightness, color]
        for (number, quantizer) in tables.enumerated() {
            let table = JPEGZigzag.order.map { quantizer.table[Int($0)] }
            bytes += Self.segment(JPEGMarker.quantizationTables, [UInt8(number)] + table)
        }
        let (height, width) = (UInt16(size.height), UInt16(size.width))
        var frame: [UInt8] = [8, UInt8(height >> 8), UInt8(height & 255), UInt8(width >> 8), UInt8(width & 255)]
        frame += isGray ? [1, 1, 0x11, 0] : [3, 1, UInt8(horizontal << 4 | vertical), 0, 2, 0x11, 1, 3, 0x11, 1]
        bytes += Self.segment(JPEGMarker.baselineFrame, frame)
        for number in tables.indices {
            for isAC in [false, true] {
                let table = JPEGStandardTables.huffman(ac: isAC, number)
                let name = UInt8(isAC ? 0x10 : 0) | UInt8(number)
                bytes += Self.segment(JPEGMarker.huffmanTables, [name] + table.counts + table.values)
            }
        }
        if stripCount > 1 {
            let interval = rowsOfStrip * mcus.width
            bytes += Self.segment(JPEGMarker.restartInterval, [UInt8(interval >> 8), UInt8(interval & 255)])
        }
        let scan: [UInt8] = isGray ? [1, 1, 0, 0, 63, 0] : [3, 1, 0, 2, 0x11, 3, 0x11, 0, 63, 0]
        return bytes + Self.segment(JPEGMarker.startOfScan, scan)
    }

    private static func segment(_ marker: UInt8, _ content: [UInt8]) -> [UInt8] {
        let length = content.count + 2
        return [0xFF, marker, UInt8(length >> 8), UInt8(length & 255)] + content
    }
}

/// The samples of a row of MCUs (T.871 section 7): luminance, blue difference and red difference, converted from pixels.
struct JPEGSampleRows {
    /// The distance between rows.
    let stride: Int
    /// The offset of the blue-difference samples.
    let blue: Int
    /// The offset of the red-difference samples.
    let red: Int
    /// The capacity in samples.
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
        // Complete MCUs, and space for the last vector.
        stride = size.divided(by: 8 * horizontal).width * 8 * horizontal + 16
        let rows = 8 * vertical
        blue = rows * stride
        red = isGray ? blue : 2 * rows * stride
        sampleCount = isGray ? blue : 3 * rows * stride
    }

    /// Fills a row of MCUs. Beyond the image's edges, the last pixels are repeated.
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
        var rest = SIMD8<UInt32>(repeating: 0)
        for pixel in 0..<size.width - column { rest[pixel] = pixels.quad(at: first + 4 * (column + pixel)) }
        write(&samples, start + column, Self.onWhite(rest))
    }

    /// Returns eight pixels blended with white.
    @inline(__always)
    private static func onWhite(_ pixels: SIMD8<UInt32>) -> SIMD8<UInt32> {
        // The comparison of whole vectors is a loop.
        let both = pixels.lowHalf & pixels.highHalf
        return both[0] & both[1] & both[2] & both[3] >= 0xFF00_0000 ? pixels : blended(pixels)
    }

    @inline(never)
    private static func blended(_ pixels: SIMD8<UInt32>) -> SIMD8<UInt32> {
        var result = SIMD8<UInt32>(repeating: 0)
        for pixel in 0..<8 {
            let alpha = pixels[pixel] >> 24
            for shift in [0, 8, 16] as [UInt32] {
                let level = pixels[pixel] >> shift & 0xFF
                result[pixel] |= ((level * alpha + 255 * (255 - alpha) + 127) / 255) << shift
            }
        }
        return result
    }

    /// Writes the samples of eight pixels.
    ///
    /// The products have 6 fractional bits, and the factors of each sum add up to 1 or 0. So no sum exceeds 16 bits.
    @inline(__always)
    private func write(_ samples: inout MutableSpan<UInt8>, _ position: Int, _ pixels: SIMD8<UInt32>) {
        let redLevels = (pixels & 0xFF).narrow
        if isGray {
            samples.store(redLevels.bytes, at: position)
            return
        }
        let red = redLevels &<< 7
        let green = (pixels &>> 8 & 0xFF).narrow &<< 7
        let blue = (pixels &>> 16 & 0xFF).narrow &<< 7
        let brightness = red.upperProduct(9798) &+ green.upperProduct(19235) &+ blue.upperProduct(3735) &+ 33
        let blueness = blue &>> 2 &- red.upperProduct(5529) &- green.upperProduct(10855) &+ (128 << 6 + 31)
        let redness = red &>> 2 &- green.upperProduct(13720) &- blue.upperProduct(2664) &+ (128 << 6 + 31)
        samples.store((brightness &>> 6).bytes, at: position)
        samples.store((blueness &>> 6).bytes, at: self.blue &+ position)
        samples.store((redness &>> 6).bytes, at: self.red &+ position)
    }

    /// Averages pairs of adjacent samples in two rows, which may be the same row. The rounding direction alternates, so that
    /// colors do not become darker.
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
