import InwardImages

/// A decoder for the image of a PNG.
struct PNGDecoder {
    private let preamble: PNGPreamble
    private let count: Int
    private let allowsTruncation: Bool

    init(_ bytes: [UInt8], allowsTruncation: Bool) throws(ImageCodecError) {
        preamble = try PNGPreamble(bytes, allowsTruncation: allowsTruncation)
        count = bytes.count
        self.allowsTruncation = allowsTruncation
    }

    /// The maximum number of bytes that one compressed byte can produce (RFC 1951: 258 bytes from two bits).
    private static let maximumExpansion = 1_032
    /// The maximum size in bytes of an image that is partially decoded although its data is far too short for it.
    private static let leastLimit = 1 << 28

    /// Returns the decoded image.
    func image() throws(ImageCodecError) -> Image {
        let header = preamble.header
        // Do not allocate memory that a small file cannot fill.
        if header.dataCount / Self.maximumExpansion > count {
            guard allowsTruncation, header.size.byteCount <= Self.leastLimit else {
                throw ImageCodecError(.truncated(.png), "has too few bytes for a size of \(header.size)")
            }
        }
        return try Image(size: header.size, orientation: preamble.orientation) {
            (pixels: inout MutableSpan<UInt8>) throws(ImageCodecError) in
            do throws(ImageCodecError) {
                try decode(to: &pixels)
            } catch {
                guard allowsTruncation, case .truncated = error.reason else { throw error }
            }
        }
    }

    private func decode(to pixels: inout MutableSpan<UInt8>) throws(ImageCodecError) {
        var data = PNGDataReader(preamble)
        let header = preamble.header
        if header.bitDepth == 8, !header.isInterlaced, header.colorType == .color || header.colorType == .colorAlpha {
            try decodeDirectly(&data, to: &pixels)
        } else {
            try decodeByRows(&data, to: &pixels)
        }
        try data.finish()
    }

    /// Decodes pixels of three or four bytes, row by row, directly into the image.
    private func decodeDirectly(
        _ data: inout PNGDataReader,
        to pixels: inout MutableSpan<UInt8>
    ) throws(ImageCodecError) {
        let (width, height) = (preamble.header.size.width, preamble.header.size.height)
        let samples = preamble.header.colorType.samples
        for row in 0..<height {
            try Self.checkCancellation(row)
            let start = try data.read(width * samples + 1)
            let filter = try Self.filter(data.window[start], row)
            let target = row * width * Image.bytesPerPixel
            // The constants let the compiler specialize each filter's loop.
            if samples == 3 {
                filter.reconstructPixels(
                    &pixels,
                    row: target,
                    columns: width,
                    from: data.window.span,
                    at: start + 1,
                    samples: 3
                )
            } else {
                filter.reconstructPixels(
                    &pixels,
                    row: target,
                    columns: width,
                    from: data.window.span,
                    at: start + 1,
                    samples: 4
                )
            }
        }
        if case .color(let red, let green, let blue) = preamble.transparency {
            var index = 0
            while index < pixels.count {
                let isClear =
                    Int(pixels[index]) == red && Int(pixels[index + 1]) == green && Int(pixels[index + 2]) == blue
                if isClear { pixels[index + 3] = 0 }
                index += Image.bytesPerPixel
            }
        }
    }

    /// Decodes pixels of any format, row by row in each pass.
    private func decodeByRows(
        _ data: inout PNGDataReader,
        to pixels: inout MutableSpan<UInt8>
    ) throws(ImageCodecError) {
        let header = preamble.header
        let expander = PNGRowExpander(preamble)
        for pass in header.passes {
            let columns = pass.columns(in: header.size.width)
            let count = header.rowCount(columns)
            guard count > 0 else { continue }
            var row = [UInt8](repeating: 0, count: count)
            var above = row
            for index in 0..<pass.rows(in: header.size.height) {
                try Self.checkCancellation(index)
                let start = try data.read(count + 1)
                let filter = try Self.filter(data.window[start], index)
                var bytes = row.mutableSpan
                filter.reconstruct(
                    &bytes,
                    above: above.span,
                    from: data.window.span,
                    at: start + 1,
                    distance: header.filterDistance
                )
                let first = (pass.firstRow + index * pass.rowStep) * header.size.width + pass.firstColumn
                try expander.expand(
                    row.span,
                    columns: columns,
                    to: &pixels,
                    at: first * Image.bytesPerPixel,
                    step: pass.columnStep * Image.bytesPerPixel
                )
                swap(&row, &above)
            }
        }
    }

    private static func filter(_ byte: UInt8, _ row: Int) throws(ImageCodecError) -> PNGFilter {
        guard let filter = PNGFilter(rawValue: byte) else {
            throw .damagedPNG("has an unknown filter \(byte) in row \(row)")
        }
        return filter
    }

    private static func checkCancellation(_ row: Int) throws(ImageCodecError) {
        if row % 64 == 0 { try ImageCodecError.checkCancellation() }
    }
}

/// A converter from the bytes of a row to pixels (ISO/IEC 15948, section 13.12).
struct PNGRowExpander {
    private let header: PNGHeader
    private let transparency: PNGTransparency?
    /// The color of each sample value, if pixels have a single sample of at most 8 bits.
    private let colors: [PNGColor]

    init(_ preamble: PNGPreamble) {
        header = preamble.header
        transparency = preamble.transparency
        switch header.colorType {
        case .palette:
            colors = preamble.palette
        case .gray where header.bitDepth <= 8:
            var clear: Int?
            if case .gray(let level) = preamble.transparency { clear = level }
            let most = 1 << header.bitDepth - 1
            colors = (0...most).map { level in
                let gray = UInt8(level * 255 / most)
                return PNGColor(gray, gray, gray, level == clear ? 0 : 255)
            }
        default:
            colors = []
        }
    }

    /// Writes the pixels of a row at regular intervals.
    func expand(
        _ row: Span<UInt8>,
        columns: Int,
        to pixels: inout MutableSpan<UInt8>,
        at start: Int,
        step: Int
    ) throws(ImageCodecError) {
        if colors.isEmpty {
            for column in 0..<columns {
                pixels.store(color(row, column).rawValue, at: start &+ column &* step)
            }
        } else {
            let colors = colors.span
            let depth = header.bitDepth
            let mask = 1 &<< depth &- 1
            for column in 0..<columns {
                let bit = column &* depth
                // The first pixel of a byte is in its highest bits.
                let sample = Int(row[bit &>> 3]) &>> (8 &- depth &- bit & 7) & mask
                guard sample < colors.count else {
                    throw .damagedPNG("has a pixel with color \(sample), and its PLTE has \(colors.count) colors")
                }
                pixels.store(colors[sample].rawValue, at: start &+ column &* step)
            }
        }
    }

    /// Returns the color of a pixel with several samples, or with one 16-bit sample.
    @inline(__always)
    private func color(_ row: Span<UInt8>, _ column: Int) -> PNGColor {
        let first = column &* header.colorType.samples
        switch header.colorType {
        case .gray, .palette:
            let level = sample(row, first)
            var alpha: UInt8 = 255
            if case .gray(level) = transparency { alpha = 0 }
            return PNGColor(byte(level), byte(level), byte(level), alpha)
        case .grayAlpha:
            let level = byte(sample(row, first))
            return PNGColor(level, level, level, byte(sample(row, first &+ 1)))
        case .color:
            let (red, green, blue) = (sample(row, first), sample(row, first &+ 1), sample(row, first &+ 2))
            var alpha: UInt8 = 255
            if case .color(red, green, blue) = transparency { alpha = 0 }
            return PNGColor(byte(red), byte(green), byte(blue), alpha)
        case .colorAlpha:
            return PNGColor(
                byte(sample(row, first)),
                byte(sample(row, first &+ 1)),
                byte(sample(row, first &+ 2)),
                byte(sample(row, first &+ 3))
            )
        }
    }

    @inline(__always)
    private func sample(_ row: Span<UInt8>, _ index: Int) -> Int {
        header.bitDepth == 16 ? row.bigEndian16(at: 2 &* index) : Int(row[index])
    }

    /// Returns the nearest 8-bit value of a sample.
    @inline(__always)
    private func byte(_ sample: Int) -> UInt8 {
        UInt8(truncatingIfNeeded: header.bitDepth == 16 ? (sample &* 255 &+ 32_767) / 65_535 : sample)
    }
}
