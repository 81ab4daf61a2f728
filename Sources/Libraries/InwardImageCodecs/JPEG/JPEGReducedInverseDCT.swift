/// Makes fewer samples of the coefficients of a block than it has: those that the mean of each 2×2 or 4×4 samples would be.
///
/// The factors are the means of those of the inverse DCT over two or four places, with 13 bits behind the point.
enum JPEGReducedInverseDCT {
    /// Writes 4×4 samples of a block, by means of 2×2.
    @inline(never)
    static func writeFour(
        _ rows: JPEGBlockRows,
        to samples: inout MutableSpan<UInt8>,
        at position: Int,
        stride: Int
    ) {
        // What changes four times in a row is nothing in the mean of two.
        let mean = (rows.row0.wide &<< 13) &+ (1 << 10)
        let even = JPEGBlockRows.sum(rows.row2, 7568, rows.row6, -3135)
        let outer =
            JPEGBlockRows.sum(rows.row1, 10498, rows.row3, 3686)
            &+ JPEGBlockRows.sum(rows.row5, -2463, rows.row7, -2088)
        let inner =
            JPEGBlockRows.sum(rows.row1, 4348, rows.row3, -8900) &+ JPEGBlockRows.sum(rows.row5, 5946, rows.row7, -865)
        let first = ((mean &+ even &+ outer) &>> 11).narrow
        let second = ((mean &- even &+ inner) &>> 11).narrow
        let third = ((mean &- even &- inner) &>> 11).narrow
        let fourth = ((mean &+ even &- outer) &>> 11).narrow

        // Interleaved twice, each vector has two of the columns.
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
        // Columns of samples now, two in each vector: interleaved twice again, rows.
        let columns02 = SIMD8<Int16>(
            lowHalf: narrow(rowMean &+ rowEven &+ rowOuter),
            highHalf: narrow(rowMean &- rowEven &- rowInner)
        )
        let columns13 = SIMD8<Int16>(
            lowHalf: narrow(rowMean &- rowEven &+ rowInner),
            highHalf: narrow(rowMean &+ rowEven &- rowOuter)
        )
        let (pairs01, pairs23) = JPEGBlockRows.interleaved(columns02, columns13)
        // The first has columns 0 and 1 of each row in turn, the second columns 2 and 3.
        samples.store(clamping: SIMD4(pairs01[0], pairs01[1], pairs23[0], pairs23[1]), at: position)
        samples.store(clamping: SIMD4(pairs01[2], pairs01[3], pairs23[2], pairs23[3]), at: position &+ stride)
        samples.store(clamping: SIMD4(pairs01[4], pairs01[5], pairs23[4], pairs23[5]), at: position &+ 2 &* stride)
        samples.store(clamping: SIMD4(pairs01[6], pairs01[7], pairs23[6], pairs23[7]), at: position &+ 3 &* stride)
    }

    /// Writes 2×2 samples of a block, by means of 4×4.
    @inline(never)
    static func writeTwo(
        _ rows: JPEGBlockRows,
        to samples: inout MutableSpan<UInt8>,
        at position: Int,
        stride: Int
    ) {
        // What changes an even number of times in a row is nothing in the mean of four.
        let mean = (rows.row0.wide &<< 13) &+ (1 << 10)
        let odd =
            JPEGBlockRows.sum(rows.row1, 7423, rows.row3, -2607) &+ JPEGBlockRows.sum(rows.row5, 1742, rows.row7, -1477)
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
