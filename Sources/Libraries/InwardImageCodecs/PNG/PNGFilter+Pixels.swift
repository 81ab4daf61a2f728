extension PNGFilter {
    /// Makes pixels of a filtered row of eight bits a number, red, green and blue, with or without alpha, at once.
    ///
    /// - Parameters:
    ///   - pixels: The picture, whose row above is done.
    ///   - row: Where in it the row begins.
    ///   - columns: How many pixels it has.
    ///   - source: Where the filtered bytes are; three more bytes than those are there.
    ///   - start: Where they begin.
    ///   - samples: How many numbers a pixel has there, 3 or 4.
    @inline(__always)
    func reconstructPixels(
        _ pixels: inout MutableSpan<UInt8>,
        row: Int,
        columns: Int,
        from source: Span<UInt8>,
        at start: Int,
        samples: Int
    ) {
        // What stands behind three numbers is of the next pixel, and becomes the alpha of this one.
        let opaque: UInt32 = samples == 3 ? 0xFF00_0000 : 0
        // Outside of the picture, as above its first row, everything is zero.
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

    /// What stands beside a number of a row, as the fourth filter asks for it.
    private struct Neighbors {
        /// The number to the left, which was made last.
        var left: Int32 = 0
        /// The number above that.
        private var corner: Int32 = 0

        /// Makes the next number; of both that are given, the lowest byte counts.
        ///
        /// Which of three numbers is nearest to a + b − c is asked here by where 3c − a − b lies: beyond the larger of a and b,
        /// it is the smaller one; beyond the smaller, the larger; and between them, c. That takes fewer steps, one after the
        /// other, than three distances do.
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

    /// The sums of four bytes each, of which none carries into another.
    @inline(__always)
    private static func sum(_ a: UInt32, _ b: UInt32) -> UInt32 {
        ((a & 0x7F7F_7F7F) &+ (b & 0x7F7F_7F7F)) ^ ((a ^ b) & 0x8080_8080)
    }

    /// The means of four bytes each, rounded down.
    @inline(__always)
    private static func average(_ a: UInt32, _ b: UInt32) -> UInt32 {
        (a & b) &+ ((a ^ b) & 0xFEFE_FEFE) &>> 1
    }
}
