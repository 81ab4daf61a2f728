/// The filter that predicts the bytes of a row from the previous bytes and the row above (ISO/IEC 15948, section 9).
enum PNGFilter: UInt8, CaseIterable {
    case none = 0
    case sub = 1
    case up = 2
    case average = 3
    case paeth = 4

    /// Reverses the filter for a row.
    ///
    /// - Parameters:
    ///   - row: Receives the bytes of the row.
    ///   - above: The bytes of the row above, of the same length.
    ///   - source: The bytes that contain the filtered row.
    ///   - start: The offset of the filtered row.
    ///   - distance: The distance between the bytes of adjacent pixels.
    func reconstruct(
        _ row: inout MutableSpan<UInt8>,
        above: Span<UInt8>,
        from source: Span<UInt8>,
        at start: Int,
        distance: Int
    ) {
        for index in 0..<row.count {
            let hasLeft = index >= distance
            row[index] =
                source[start &+ index]
                &+ predicted(
                    hasLeft ? row[index &- distance] : 0,
                    above[index],
                    hasLeft ? above[index &- distance] : 0
                )
        }
    }

    /// Returns the prediction of a byte from those to the left, above, and above left.
    @inline(__always)
    func predicted(_ left: UInt8, _ above: UInt8, _ corner: UInt8) -> UInt8 {
        switch self {
        case .none: 0
        case .sub: left
        case .up: above
        case .average: Self.average(left, above)
        case .paeth: Self.paeth(left, above, corner)
        }
    }

    /// Returns the mean of two bytes, rounded down.
    @inline(__always)
    private static func average(_ left: UInt8, _ above: UInt8) -> UInt8 { (left & above) &+ (left ^ above) &>> 1 }

    /// Returns the byte of three that is nearest to their linear prediction (ISO/IEC 15948, section 9.4).
    @inline(__always)
    private static func paeth(_ left: UInt8, _ above: UInt8, _ corner: UInt8) -> UInt8 {
        let toLeft = abs(Int32(above) &- Int32(corner))
        let toAbove = abs(Int32(left) &- Int32(corner))
        let toCorner = abs(Int32(left) &+ Int32(above) &- 2 &* Int32(corner))
        if toLeft <= toAbove, toLeft <= toCorner { return left }
        return toAbove <= toCorner ? above : corner
    }
}

extension PNGFilter {
    /// Converts a filtered row of 8-bit RGB or RGBA samples to pixels in one pass.
    ///
    /// - Parameters:
    ///   - pixels: The image, whose row above is complete.
    ///   - row: The offset of the row in the image.
    ///   - columns: The number of pixels in the row.
    ///   - source: The bytes that contain the filtered row, followed by at least three more bytes.
    ///   - start: The offset of the filtered row.
    ///   - samples: The number of samples in a filtered pixel, 3 or 4.
    @inline(__always)
    func reconstructPixels(
        _ pixels: inout MutableSpan<UInt8>,
        row: Int,
        columns: Int,
        from source: Span<UInt8>,
        at start: Int,
        samples: Int
    ) {
        // The byte after three samples belongs to the next pixel and is replaced by the alpha of this one.
        let opaque: UInt32 = samples == 3 ? 0xFF00_0000 : 0
        // The filters read pixels outside the image as zero, such as those above the first row.
        var above = row &- 4 &* columns
        var from = start
        var to = row
        let end = row &+ 4 &* columns
        var left: UInt32 = 0
        switch self {
        case .none:
            while to < end {
                pixels.store(source.quad(at: from) | opaque, at: to)
                from &+= samples
                to &+= 4
            }
        case .sub:
            while to < end {
                left = Self.sum(source.quad(at: from), left) | opaque
                pixels.store(left, at: to)
                from &+= samples
                to &+= 4
            }
        case .up:
            while to < end {
                pixels.store(Self.sum(source.quad(at: from), pixels.span.quad(at: above)) | opaque, at: to)
                from &+= samples
                above &+= 4
                to &+= 4
            }
        case .average:
            while to < end {
                left = Self.sum(source.quad(at: from), Self.average(left, pixels.span.quad(at: above))) | opaque
                pixels.store(left, at: to)
                from &+= samples
                above &+= 4
                to &+= 4
            }
        case .paeth:
            var (red, green, blue, alpha) = (Neighbors(), Neighbors(), Neighbors(), Neighbors())
            while to < end {
                let filtered = source.quad(at: from)
                let up = pixels.span.quad(at: above)
                red.advance(filtered, up)
                green.advance(filtered &>> 8, up &>> 8)
                blue.advance(filtered &>> 16, up &>> 16)
                if samples == 4 { alpha.advance(filtered &>> 24, up &>> 24) }
                let color = red.left | green.left &<< 8 | blue.left &<< 16 | alpha.left &<< 24
                pixels.store(UInt32(bitPattern: color) | opaque, at: to)
                from &+= samples
                above &+= 4
                to &+= 4
            }
        }
    }

    /// The neighbors of a sample, for the Paeth filter.
    private struct Neighbors {
        /// The sample to the left, which was computed last.
        var left: Int32 = 0
        /// The sample above it.
        private var corner: Int32 = 0

        /// Computes the next sample from the lowest bytes of both arguments.
        ///
        /// With a to the left, b above, and c above left, the value of 3c − a − b determines which of them is nearest to
        /// a + b − c. If it is above the larger of a and b, the smaller one is nearest. If it is below the smaller one, the
        /// larger one is nearest. In between, c is nearest. This has a shorter dependency chain than computing three distances.
        @inline(__always)
        mutating func advance(_ filtered: UInt32, _ above: UInt32) {
            let above = Int32(truncatingIfNeeded: above & 0xFF)
            let threshold = corner &* 3 &- above &- left
            let (least, most) = (min(left, above), max(left, above))
            let predicted = threshold <= least ? most : threshold >= most ? least : corner
            corner = above
            left = (Int32(truncatingIfNeeded: filtered & 0xFF) &+ predicted) & 0xFF
        }
    }

    /// Returns the sums of four bytes each, without carries between them.
    @inline(__always)
    private static func sum(_ a: UInt32, _ b: UInt32) -> UInt32 {
        ((a & 0x7F7F_7F7F) &+ (b & 0x7F7F_7F7F)) ^ ((a ^ b) & 0x8080_8080)
    }

    /// Returns the means of four bytes each, rounded down.
    @inline(__always)
    private static func average(_ a: UInt32, _ b: UInt32) -> UInt32 {
        (a & b) &+ ((a ^ b) & 0xFEFE_FEFE) &>> 1
    }
}
