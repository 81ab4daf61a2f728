/// Makes samples of the coefficients of a block (T.81 annex A.3.3).
///
/// It reckons with integers, as Loeffler, Ligtenberg and Moschytz (1989) found it can be done with 11 multiplications; but the
/// products are those of the expanded sums, for processors add two products of 16 bits in one step. Factors have 13 bits behind
/// the point, and columns keep 2 until the rows are done: as others do, so that the samples are the same.
enum JPEGInverseDCT {
    /// Writes the samples of a block.
    ///
    /// - Parameters:
    ///   - rows: The coefficients, each multiplied by what it was quantized by.
    ///   - last: The place of the last coefficient that may be other than zero, in the order they are coded.
    ///   - size: How many samples a side shall have: 8, 4, 2 or 1.
    ///   - samples: Where the samples are written.
    ///   - position: Where the first one is.
    ///   - stride: How far a row is from the next.
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
        // The first ten in order stand in the upper left quarter.
        case 8 where last < 10: writeQuarter(rows, to: &samples, at: position, stride: stride)
        case 8: writeWhole(rows, to: &samples, at: position, stride: stride)
        case 4: JPEGReducedInverseDCT.writeFour(rows, to: &samples, at: position, stride: stride)
        case 2: JPEGReducedInverseDCT.writeTwo(rows, to: &samples, at: position, stride: stride)
        default: fill(rows.row0[0], size: size, &samples, at: position, stride: stride)
        }
    }

    /// Writes the samples of a block without any AC coefficient.
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
        // The others are zero already, but only who wrote the block knows.
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

    /// Eight transforms of eight numbers each, one in each lane.
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
        let odd0 =
            JPEGBlockRows.sum(input.row1, 11363, input.row3, 9633)
            &+ JPEGBlockRows.sum(input.row5, 6437, input.row7, 2260)
        let odd1 =
            JPEGBlockRows.sum(input.row1, 9633, input.row3, -2259)
            &+ JPEGBlockRows.sum(input.row5, -11362, input.row7, -6436)
        let odd2 =
            JPEGBlockRows.sum(input.row1, 6437, input.row3, -11362)
            &+ JPEGBlockRows.sum(input.row5, 2261, input.row7, 9633)
        let odd3 =
            JPEGBlockRows.sum(input.row1, 2260, input.row3, -6436)
            &+ JPEGBlockRows.sum(input.row5, 9633, input.row7, -11363)
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
