/// A filter for rows. It chooses the filter type with the smallest residual, as ISO/IEC 15948, section 12.7, recommends.
///
/// A row is read from a buffer in which at least ``padding`` zeros precede it, because the filters read the pixel left of the
/// first one as zero.
struct PNGRowFilter {
    /// The number of zeros before a row.
    static let padding = 8
    /// The number of vectors whose residuals a lane can add up without an overflow. Each residual is at most 128.
    private static let mostVectors = 255

    /// The size of a row in bytes.
    let rowCount: Int
    /// The distance between the bytes of adjacent pixels, at most ``padding``.
    let distance: Int

    /// Writes a filtered row after its filter type.
    ///
    /// - Parameters:
    ///   - rows: The buffer of the row and of the one above.
    ///   - row: The offset of the row.
    ///   - above: The offset of the row above.
    ///   - output: The destination.
    ///   - position: The offset in the destination.
    func filter(
        _ rows: Span<UInt8>,
        _ row: Int,
        above: Int,
        to output: inout MutableSpan<UInt8>,
        at position: Int
    ) {
        let sums = residuals(rows, row, above: above)
        var (chosen, least) = (PNGFilter.none, Int.max)
        for filter in PNGFilter.allCases where sums[Int(filter.rawValue)] < least {
            (chosen, least) = (filter, sums[Int(filter.rawValue)])
        }
        output[position] = chosen.rawValue
        switch chosen {
        case .none: apply(.none, rows, row, above: above, to: &output, at: position + 1)
        case .sub: apply(.sub, rows, row, above: above, to: &output, at: position + 1)
        case .up: apply(.up, rows, row, above: above, to: &output, at: position + 1)
        case .average: apply(.average, rows, row, above: above, to: &output, at: position + 1)
        case .paeth: apply(.paeth, rows, row, above: above, to: &output, at: position + 1)
        }
    }

    /// Returns the sum of the absolute residuals of each filter, with each byte read as a signed number.
    private func residuals(_ rows: Span<UInt8>, _ row: Int, above: Int) -> SIMD8<Int> {
        var sums = SIMD8<Int>(repeating: 0)
        var index = 0
        while index &+ 8 <= rowCount {
            let end = min(rowCount, index &+ 8 &* Self.mostVectors)
            let zeros = SIMD8<Int16>(repeating: 0)
            var (none, sub, up, average, paeth) = (zeros, zeros, zeros, zeros, zeros)
            while index &+ 8 <= end {
                let neighbors = neighbors(rows, row &+ index, above: above &+ index)
                none &+= Self.residual(neighbors, .none)
                sub &+= Self.residual(neighbors, .sub)
                up &+= Self.residual(neighbors, .up)
                average &+= Self.residual(neighbors, .average)
                paeth &+= Self.residual(neighbors, .paeth)
                index &+= 8
            }
            for lane in 0..<8 {
                sums[0] &+= Int(none[lane])
                sums[1] &+= Int(sub[lane])
                sums[2] &+= Int(up[lane])
                sums[3] &+= Int(average[lane])
                sums[4] &+= Int(paeth[lane])
            }
        }
        while index < rowCount {
            for filter in PNGFilter.allCases {
                let byte = filtered(filter, rows, row &+ index, above: above &+ index)
                sums[Int(filter.rawValue)] &+= Int(Int8(bitPattern: byte).magnitude)
            }
            index &+= 1
        }
        return sums
    }

    /// Writes a filtered row.
    @inline(__always)
    private func apply(
        _ filter: PNGFilter,
        _ rows: Span<UInt8>,
        _ row: Int,
        above: Int,
        to output: inout MutableSpan<UInt8>,
        at position: Int
    ) {
        var index = 0
        while index &+ 8 <= rowCount {
            let neighbors = neighbors(rows, row &+ index, above: above &+ index)
            output.store((neighbors.byte &- neighbors.predicted(by: filter)).bytes, at: position &+ index)
            index &+= 8
        }
        while index < rowCount {
            output[position &+ index] = filtered(filter, rows, row &+ index, above: above &+ index)
            index &+= 1
        }
    }

    /// Returns a filtered byte.
    private func filtered(_ filter: PNGFilter, _ rows: Span<UInt8>, _ index: Int, above: Int) -> UInt8 {
        rows[index] &- filter.predicted(rows[index &- distance], rows[above], rows[above &- distance])
    }

    @inline(__always)
    private func neighbors(_ rows: Span<UInt8>, _ index: Int, above: Int) -> PNGNeighbors {
        PNGNeighbors(
            byte: rows.eightBytes(at: index).levels,
            left: rows.eightBytes(at: index &- distance).levels,
            above: rows.eightBytes(at: above).levels,
            corner: rows.eightBytes(at: above &- distance).levels
        )
    }

    /// Returns absolute residuals.
    @inline(__always)
    private static func residual(_ neighbors: PNGNeighbors, _ filter: PNGFilter) -> SIMD8<Int16> {
        let signed = ((neighbors.byte &- neighbors.predicted(by: filter)) &<< 8) &>> 8
        let sign = signed &>> 15
        return (signed ^ sign) &- sign
    }
}

/// Eight bytes of a row, and those to the left, above, and above left.
private struct PNGNeighbors {
    let byte: SIMD8<Int16>
    let left: SIMD8<Int16>
    let above: SIMD8<Int16>
    let corner: SIMD8<Int16>

    /// Returns the predictions of a filter.
    @inline(__always)
    func predicted(by filter: PNGFilter) -> SIMD8<Int16> {
        switch filter {
        case .none: SIMD8(repeating: 0)
        case .sub: left
        case .up: above
        case .average: (left &+ above) &>> 1
        case .paeth: paeth
        }
    }

    /// The neighbors that are nearest to their linear prediction, found with the comparisons that decoding uses.
    @inline(__always)
    private var paeth: SIMD8<Int16> {
        let threshold = corner &+ corner &+ corner &- above &- left
        // All bits are set where the left one is less. A threshold and its comparisons never overflow.
        let isLess = (left &- above) &>> 15
        let difference = (left ^ above) & isLess
        let least = above ^ difference
        let most = left ^ difference
        let isAbove = ~((threshold &- most) &>> 15)
        let isBelow = ~((least &- threshold) &>> 15)
        return corner ^ (corner ^ least) & isAbove ^ (corner ^ most) & isBelow & ~isAbove
    }
}
