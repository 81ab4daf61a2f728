/// The inverse DCT of a block (T.81 annex A.3.3).
///
/// It uses integers and the factorization of Loeffler, Ligtenberg and Moschytz (1989), which needs 11 multiplications. The
/// products are expanded to sums, because processors multiply and add two pairs of 16-bit numbers in one instruction.
///
/// Factors have 13 fractional bits, and the column pass keeps 2 for the row pass. Other decoders do the same, so the samples
/// are identical.
enum JPEGInverseDCT {
    /// Writes the samples of a block.
    ///
    /// - Parameters:
    ///   - rows: The dequantized coefficients.
    ///   - last: The index, in coding order, of the last coefficient that may be nonzero.
    ///   - size: The number of samples on each side: 8, 4, 2 or 1.
    ///   - samples: Receives the samples.
    ///   - position: The offset of the first sample.
    ///   - stride: The distance between rows.
    @inline(__always)
    static func write(
        _ rows: JPEGBlockRows,
        last: Int,
        size: Int,
        to samples: inout MutableSpan<UInt8>,
        at position: Int,
        stride: Int
    ) {
        switch size {
        // The first ten coefficients in coding order are in the upper left quarter.
        case 8 where last < 10: writeQuarter(rows, to: &samples, at: position, stride: stride)
        case 8: writeWhole(rows, to: &samples, at: position, stride: stride)
        case 4: JPEGReducedInverseDCT.writeFour(rows, to: &samples, at: position, stride: stride)
        case 2: JPEGReducedInverseDCT.writeTwo(rows, to: &samples, at: position, stride: stride)
        default: fill(rows.row0[0], size: size, &samples, at: position, stride: stride)
        }
    }

    /// Writes the samples of a block without AC coefficients.
    @inline(never)
    static func fill(
        _ coefficient: Int16,
        size: Int,
        _ samples: inout MutableSpan<UInt8>,
        at position: Int,
        stride: Int
    ) {
        let level = (Int32(coefficient) + 4) >> 3 + 128
        let sample = UInt8(truncatingIfNeeded: min(max(0, level), 255))
        if size == 8 {
            for row in 0..<8 { samples.store(SIMD8(repeating: sample), at: position &+ row &* stride) }
        } else {
            for row in 0..<size {
                for column in 0..<size { samples[position &+ row &* stride &+ column] = sample }
            }
        }
    }

    @inline(never)
    private static func writeWhole(
        _ rows: JPEGBlockRows,
        to samples: inout MutableSpan<UInt8>,
        at position: Int,
        stride: Int
    ) {
        let columns = transformed(rows, rounding: 1 << 10, shift: 11).transposed
        store(transformed(columns, rounding: 1 << 17 + 128 << 18, shift: 18).transposed, &samples, position, stride)
    }

    @inline(never)
    private static func writeQuarter(
        _ rows: JPEGBlockRows,
        to samples: inout MutableSpan<UInt8>,
        at position: Int,
        stride: Int
    ) {
        // The other coefficients are already zero, but the compiler does not know that.
        let columns = transformed(rows.upperHalf, rounding: 1 << 10, shift: 11).transposed.upperHalf
        store(transformed(columns, rounding: 1 << 17 + 128 << 18, shift: 18).transposed, &samples, position, stride)
    }

    @inline(never)
    private static func store(
        _ rows: JPEGBlockRows,
        _ samples: inout MutableSpan<UInt8>,
        _ position: Int,
        _ stride: Int
    ) {
        samples.store(clamping: rows.row0, at: position)
        samples.store(clamping: rows.row1, at: position &+ stride)
        samples.store(clamping: rows.row2, at: position &+ 2 &* stride)
        samples.store(clamping: rows.row3, at: position &+ 3 &* stride)
        samples.store(clamping: rows.row4, at: position &+ 4 &* stride)
        samples.store(clamping: rows.row5, at: position &+ 5 &* stride)
        samples.store(clamping: rows.row6, at: position &+ 6 &* stride)
        samples.store(clamping: rows.row7, at: position &+ 7 &* stride)
    }

    /// Returns eight transforms of eight numbers, one in each lane.
    @inline(__always)
    private static func transformed(_ input: JPEGBlockRows, rounding: Int32, shift: Int32) -> JPEGBlockRows {
        let sum = JPEGBlockRows.sum(input.row0, 8192, input.row4, 8192) &+ rounding
        let difference = JPEGBlockRows.sum(input.row0, 8192, input.row4, -8192) &+ rounding
        let slow = JPEGBlockRows.sum(input.row2, 10703, input.row6, 4433)
        let fast = JPEGBlockRows.sum(input.row2, 4433, input.row6, -10704)
        let even0 = sum &+ slow
        let even1 = difference &+ fast
        let even2 = difference &- fast
        let even3 = sum &- slow
        let odd0 = JPEGBlockRows.sum(input.row1, 11363, input.row3, 9633, input.row5, 6437, input.row7, 2260)
        let odd1 = JPEGBlockRows.sum(input.row1, 9633, input.row3, -2259, input.row5, -11362, input.row7, -6436)
        let odd2 = JPEGBlockRows.sum(input.row1, 6437, input.row3, -11362, input.row5, 2261, input.row7, 9633)
        let odd3 = JPEGBlockRows.sum(input.row1, 2260, input.row3, -6436, input.row5, 9633, input.row7, -11363)
        let row0 = ((even0 &+ odd0) &>> shift).narrow
        let row1 = ((even1 &+ odd1) &>> shift).narrow
        let row2 = ((even2 &+ odd2) &>> shift).narrow
        let row3 = ((even3 &+ odd3) &>> shift).narrow
        let row4 = ((even3 &- odd3) &>> shift).narrow
        let row5 = ((even2 &- odd2) &>> shift).narrow
        let row6 = ((even1 &- odd1) &>> shift).narrow
        let row7 = ((even0 &- odd0) &>> shift).narrow
        return JPEGBlockRows(row0, row1, row2, row3, row4, row5, row6, row7)
    }
}

/// Inverse DCTs with reduced output: each sample is the mean of 2×2 or 4×4 samples of the full block.
///
/// The factors are the inverse DCT's factors averaged over two or four positions, with 13 fractional bits.
enum JPEGReducedInverseDCT {
    /// Writes 4×4 samples of a block, each the mean of 2×2.
    @inline(never)
    static func writeFour(
        _ rows: JPEGBlockRows,
        to samples: inout MutableSpan<UInt8>,
        at position: Int,
        stride: Int
    ) {
        // The basis function of row 4 cancels out in the mean of two samples.
        let mean = (rows.row0.wide &<< 13) &+ (1 << 10)
        let even = JPEGBlockRows.sum(rows.row2, 7568, rows.row6, -3135)
        let outer = JPEGBlockRows.sum(rows.row1, 10498, rows.row3, 3686, rows.row5, -2463, rows.row7, -2088)
        let inner = JPEGBlockRows.sum(rows.row1, 4348, rows.row3, -8900, rows.row5, 5946, rows.row7, -865)
        let first = ((mean &+ even &+ outer) &>> 11).narrow
        let second = ((mean &- even &+ inner) &>> 11).narrow
        let third = ((mean &- even &- inner) &>> 11).narrow
        let fourth = ((mean &+ even &- outer) &>> 11).narrow

        // After interleaving twice, each vector contains two of the columns.
        let (upper0, upper1) = JPEGBlockRows.interleaved(first, third)
        let (lower0, lower1) = JPEGBlockRows.interleaved(second, fourth)
        let (columns01, columns23) = JPEGBlockRows.interleaved(upper0, lower0)
        let (columns45, columns67) = JPEGBlockRows.interleaved(upper1, lower1)

        let rowMean = (columns01.lowHalf.wide &<< 13) &+ (1 << 17 + 128 << 18)
        let rowEven = sum(columns23.lowHalf, 7568, columns67.lowHalf, -3135)
        let rowOuter =
            sum(columns01.highHalf, 10498, columns23.highHalf, 3686)
            &+ sum(columns45.highHalf, -2463, columns67.highHalf, -2088)
        let rowInner =
            sum(columns01.highHalf, 4348, columns23.highHalf, -8900)
            &+ sum(columns45.highHalf, 5946, columns67.highHalf, -865)
        // Each of these vectors contains two columns of samples. Interleaving twice again yields rows.
        let columns02 = SIMD8<Int16>(
            lowHalf: narrow(rowMean &+ rowEven &+ rowOuter),
            highHalf: narrow(rowMean &- rowEven &- rowInner)
        )
        let columns13 = SIMD8<Int16>(
            lowHalf: narrow(rowMean &- rowEven &+ rowInner),
            highHalf: narrow(rowMean &+ rowEven &- rowOuter)
        )
        let (pairs01, pairs23) = JPEGBlockRows.interleaved(columns02, columns13)
        // The first vector alternates columns 0 and 1 of each row, the second one columns 2 and 3.
        samples.store(clamping: SIMD4(pairs01[0], pairs01[1], pairs23[0], pairs23[1]), at: position)
        samples.store(clamping: SIMD4(pairs01[2], pairs01[3], pairs23[2], pairs23[3]), at: position &+ stride)
        samples.store(clamping: SIMD4(pairs01[4], pairs01[5], pairs23[4], pairs23[5]), at: position &+ 2 &* stride)
        samples.store(clamping: SIMD4(pairs01[6], pairs01[7], pairs23[6], pairs23[7]), at: position &+ 3 &* stride)
    }

    /// Writes 2×2 samples of a block, each the mean of 4×4.
    @inline(never)
    static func writeTwo(
        _ rows: JPEGBlockRows,
        to samples: inout MutableSpan<UInt8>,
        at position: Int,
        stride: Int
    ) {
        // The basis functions of the even rows, except row 0, cancel out in the mean of four samples.
        let mean = (rows.row0.wide &<< 13) &+ (1 << 10)
        let odd = JPEGBlockRows.sum(rows.row1, 7423, rows.row3, -2607, rows.row5, 1742, rows.row7, -1477)
        let halves = ((mean &+ odd) &>> 11, (mean &- odd) &>> 11)
        write(halves.0, &samples, at: position)
        write(halves.1, &samples, at: position &+ stride)
    }

    @inline(__always)
    private static func write(_ row: SIMD8<Int32>, _ samples: inout MutableSpan<UInt8>, at position: Int) {
        let mean = row[0] &<< 13 &+ (1 << 17 + 128 << 18)
        let odd = row[1] &* 7423 &- row[3] &* 2607 &+ row[5] &* 1742 &- row[7] &* 1477
        samples[position] = UInt8(truncatingIfNeeded: min(max(0, (mean &+ odd) &>> 18), 255))
        samples[position &+ 1] = UInt8(truncatingIfNeeded: min(max(0, (mean &- odd) &>> 18), 255))
    }

    @inline(__always)
    private static func narrow(_ lanes: SIMD4<Int32>) -> SIMD4<Int16> { (lanes &>> 18).narrow }

    @inline(__always)
    private static func sum(
        _ one: SIMD4<Int16>,
        _ factor: Int32,
        _ other: SIMD4<Int16>,
        _ otherFactor: Int32
    ) -> SIMD4<Int32> {
        one.wide &* factor &+ other.wide &* otherFactor
    }
}
