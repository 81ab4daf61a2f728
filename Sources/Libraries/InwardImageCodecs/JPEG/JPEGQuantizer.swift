/// Divides coefficients by the numbers of a quantization table (T.81 annex A.3.4).
struct JPEGQuantizer {
    /// The numbers, row by row, 1 to 255 each.
    let table: [UInt8]
    /// What each product takes the place of: a quotient by eight times the number, for the forward DCT leaves coefficients
    /// eight times too large. First half of a divisor, then a reciprocal, then what its excess is dropped by.
    private let halves: [SIMD8<UInt16>]
    private let reciprocals: [SIMD8<UInt16>]
    private let scales: [SIMD8<UInt16>]

    /// Makes a table of the standard ones.
    ///
    /// - Parameters:
    ///   - number: 0 for brightness, 1 for colour.
    ///   - quality: From 1 to 100: at 50 the standard table itself, at 100 nothing is lost but by rounding. Everybody takes
    ///     this scale; no standard has it.
    init(_ number: Int, quality: Int) {
        let percent = quality < 50 ? 5000 / quality : 200 - 2 * quality
        table = JPEGStandardTables.quantization(number).map { UInt8(min(max(1, ($0 * percent + 50) / 100), 255)) }
        var halves = [SIMD8<UInt16>](repeating: SIMD8(repeating: 0), count: 8)
        var reciprocals = halves
        var scales = halves
        for (index, number) in table.enumerated() {
            let divisor = 8 * Int(number)
            // The reciprocal of the divisor has 15 bits; the quotients are those of a division, for dividends have 14 at most.
            let log = Int.bitWidth - 1 - divisor.leadingZeroBitCount
            halves[index / 8][index % 8] = UInt16(divisor / 2)
            reciprocals[index / 8][index % 8] = UInt16((1 << (15 + log) + divisor - 1) / divisor)
            scales[index / 8][index % 8] = UInt16(1 << (17 - log))
        }
        self.halves = halves
        self.reciprocals = reciprocals
        self.scales = scales
    }

    /// The coefficients of a block, divided and rounded.
    @inline(__always)
    func quantized(_ rows: JPEGBlockRows) -> JPEGBlockRows {
        JPEGBlockRows(
            quantized(rows.row0, 0),
            quantized(rows.row1, 1),
            quantized(rows.row2, 2),
            quantized(rows.row3, 3),
            quantized(rows.row4, 4),
            quantized(rows.row5, 5),
            quantized(rows.row6, 6),
            quantized(rows.row7, 7)
        )
    }

    @inline(__always)
    private func quantized(_ row: SIMD8<Int16>, _ index: Int) -> SIMD8<Int16> {
        let sign = row &>> 15
        let dividend = ((row ^ sign) &- sign).unsigned &+ halves[index]
        let quotient = dividend.upperProduct(reciprocals[index]).upperProduct(scales[index])
        // A baseline coefficient has 10 bits (F.1.2.2), which rounding may lead beyond where nothing is divided.
        let most = SIMD8<UInt16>(repeating: 1023)
        return (quotient.replacing(with: most, where: quotient .> most).signed ^ sign) &- sign
    }
}
