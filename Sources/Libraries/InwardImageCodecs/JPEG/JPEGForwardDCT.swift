/// Makes coefficients of the samples of a block (T.81 annex A.3.3), eight times as large as they are.
///
/// It is the inverse DCT turned round: the same factors with 13 bits behind the point, as products of 16 bits.
enum JPEGForwardDCT {
    /// The coefficients of samples that lie around 0.
    @inline(never)
    static func coefficients(_ samples: JPEGBlockRows) -> JPEGBlockRows {
        // Rows keep 2 bits more until the columns are done.
        let columns = transformed(samples.transposed, rounding: 1 << 10, shift: 11)
        return transformed(columns.transposed, rounding: 1 << 14, shift: 15)
    }

    /// Eight transforms of eight numbers each, one in each lane.
    @inline(__always)
    private static func transformed(_ input: JPEGBlockRows, rounding: Int32, shift: Int32) -> JPEGBlockRows {
        let sum0 = input.row0 &+ input.row7
        let sum1 = input.row1 &+ input.row6
        let sum2 = input.row2 &+ input.row5
        let sum3 = input.row3 &+ input.row4
        let odd0 = input.row0 &- input.row7
        let odd1 = input.row1 &- input.row6
        let odd2 = input.row2 &- input.row5
        let odd3 = input.row3 &- input.row4
        let outer = sum0 &+ sum3
        let inner = sum1 &+ sum2
        let outerDifference = sum0 &- sum3
        let innerDifference = sum1 &- sum2
        let row0 = JPEGBlockRows.sum(outer, 8192, inner, 8192)
        let row4 = JPEGBlockRows.sum(outer, 8192, inner, -8192)
        let row2 = JPEGBlockRows.sum(outerDifference, 10703, innerDifference, 4433)
        let row6 = JPEGBlockRows.sum(outerDifference, 4433, innerDifference, -10704)
        let row1 = JPEGBlockRows.sum(odd0, 11363, odd1, 9633) &+ JPEGBlockRows.sum(odd2, 6437, odd3, 2260)
        let row3 = JPEGBlockRows.sum(odd0, 9633, odd1, -2259) &+ JPEGBlockRows.sum(odd2, -11362, odd3, -6436)
        let row5 = JPEGBlockRows.sum(odd0, 6437, odd1, -11362) &+ JPEGBlockRows.sum(odd2, 2261, odd3, 9633)
        let row7 = JPEGBlockRows.sum(odd0, 2260, odd1, -6436) &+ JPEGBlockRows.sum(odd2, 9633, odd3, -11363)
        let scaled0 = ((row0 &+ rounding) &>> shift).narrow
        let scaled1 = ((row1 &+ rounding) &>> shift).narrow
        let scaled2 = ((row2 &+ rounding) &>> shift).narrow
        let scaled3 = ((row3 &+ rounding) &>> shift).narrow
        let scaled4 = ((row4 &+ rounding) &>> shift).narrow
        let scaled5 = ((row5 &+ rounding) &>> shift).narrow
        let scaled6 = ((row6 &+ rounding) &>> shift).narrow
        let scaled7 = ((row7 &+ rounding) &>> shift).narrow
        return JPEGBlockRows(scaled0, scaled1, scaled2, scaled3, scaled4, scaled5, scaled6, scaled7)
    }
}
