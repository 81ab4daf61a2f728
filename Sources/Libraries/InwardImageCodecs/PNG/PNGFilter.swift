/// How the bytes of a row are told by those before and above them (ISO/IEC 15948, section 9).
enum PNGFilter: UInt8, CaseIterable {
    case none = 0
    case sub = 1
    case up = 2
    case average = 3
    case paeth = 4

    /// Makes the bytes of a row what they were before they were filtered.
    ///
    /// - Parameters:
    ///   - row: The bytes that become those of the row.
    ///   - above: The bytes of the row above, as many.
    ///   - source: Where the filtered bytes are.
    ///   - start: Where they begin there.
    ///   - distance: How far the bytes of a pixel are from those of the one before.
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

    /// What a byte is expected to be by those to the left, above, and above that to the left.
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

    /// The mean of two bytes, rounded down.
    @inline(__always)
    private static func average(_ left: UInt8, _ above: UInt8) -> UInt8 { (left & above) &+ (left ^ above) &>> 1 }

    /// Whichever of three bytes is nearest to what they make expected (ISO/IEC 15948, section 9.4).
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
    /// Makes pixels of a filtered row of eight bits a number, red, green and blue, with or without alpha, at once.
    ///
    /// - Parameters:
    ///   - pixels: The image, whose row above is done.
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
        // Outside of the image, as above its first row, everything is zero.
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

/// Chooses the filter of each row: the one that leaves the least, as ISO/IEC 15948, section 12.7, advises.
struct PNGRowFilter {
    private let distance: Int
    private var above: [UInt8]
    private var candidate: [UInt8]
    private var best: [UInt8]

    init(rowCount: Int, distance: Int) {
        self.distance = distance
        above = [UInt8](repeating: 0, count: rowCount)
        candidate = above
        best = above
    }

    /// Adds a row to what is compressed, behind the number of its filter.
    mutating func append(_ row: [UInt8], to bytes: inout [UInt8]) {
        let above = above
        var (chosen, least) = (PNGFilter.none, Int.max)
        for filter in PNGFilter.allCases {
            let sum = Self.apply(filter, to: row.span, above: above.span, distance: distance, &candidate)
            guard sum < least else { continue }
            (chosen, least) = (filter, sum)
            swap(&candidate, &best)
        }
        bytes.append(chosen.rawValue)
        bytes += best
        self.above = row
    }

    /// Filters a row; the sum of what is left, each byte taken for a number between −128 and 127 without its sign.
    private static func apply(
        _ filter: PNGFilter,
        to row: Span<UInt8>,
        above: Span<UInt8>,
        distance: Int,
        _ result: inout [UInt8]
    ) -> Int {
        var output = result.mutableSpan
        var sum = 0
        let first = min(distance, row.count)
        for index in 0..<first {
            let byte = row[index] &- filter.predicted(0, above[index], 0)
            output[index] = byte
            sum &+= Int(Int8(bitPattern: byte).magnitude)
        }
        for index in first..<row.count {
            let byte = row[index] &- filter.predicted(row[index &- distance], above[index], above[index &- distance])
            output[index] = byte
            sum &+= Int(Int8(bitPattern: byte).magnitude)
        }
        return sum
    }
}
