import InwardImages

/// Makes pixels of the bytes of a row, whatever they mean (ISO/IEC 15948, section 13.12).
struct PNGRowExpander {
    private let header: PNGHeader
    private let transparency: PNGTransparency?
    /// The colour of each number, where a pixel is one number of eight bits at most.
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

    /// Writes the pixels of a row, each so many bytes behind the one before.
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
                    throw .damagedPNG("has a pixel of colour \(sample), of which its PLTE has \(colors.count)")
                }
                pixels.store(colors[sample].rawValue, at: start &+ column &* step)
            }
        }
    }

    /// The colour of a pixel that has more than one number, or one of sixteen bits.
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

    /// The nearest number of eight bits.
    @inline(__always)
    private func byte(_ sample: Int) -> UInt8 {
        UInt8(truncatingIfNeeded: header.bitDepth == 16 ? (sample &* 255 &+ 32_767) / 65_535 : sample)
    }
}
