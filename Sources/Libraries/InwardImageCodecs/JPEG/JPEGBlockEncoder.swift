/// Encodes the blocks of a baseline scan (T.81 annex F.1.2).
struct JPEGBlockEncoder {
    private let brightness = Self.codes(0)
    private let color = Self.codes(1)
    private let order = JPEGZigzag.order
    private var predictions = [Int32](repeating: 0, count: 3)

    private static func codes(_ number: Int) -> (dc: [UInt32], ac: [UInt32]) {
        let tables = [false, true].map { JPEGHuffmanCodes(JPEGStandardTables.huffman(ac: $0, number)).codes }
        return (tables[0], tables[1])
    }

    /// Encodes a block.
    ///
    /// - Parameters:
    ///   - samples: The samples.
    ///   - position: Where the block begins.
    ///   - stride: How far a row is from the next.
    ///   - component: Which component it is of: 0 for brightness.
    ///   - quantizer: What divides its coefficients.
    ///   - coefficients: Where 64 coefficients can be kept meanwhile.
    ///   - writer: What it is written to.
    mutating func encode(
        _ samples: Span<UInt8>,
        _ position: Int,
        _ stride: Int,
        _ component: Int,
        _ quantizer: JPEGQuantizer,
        _ coefficients: inout MutableSpan<Int16>,
        to writer: inout JPEGBitWriter
    ) {
        let rows = quantizer.quantized(JPEGForwardDCT.coefficients(Self.block(samples, position, stride)))
        let value = Int32(rows.row0[0])
        let difference = value - predictions[component]
        predictions[component] = value
        let (dc, ac) = component == 0 ? brightness : color
        Self.put(difference, run: 0, dc.span, to: &writer)
        rows.store(to: &coefficients)
        Self.putAC(coefficients.span, rows.isUpperLeft ? 25 : 64, order.span, ac.span, to: &writer)
    }

    @inline(never)
    private static func block(_ samples: Span<UInt8>, _ position: Int, _ stride: Int) -> JPEGBlockRows {
        JPEGBlockRows(
            samples.eightBytes(at: position).levels &- 128,
            samples.eightBytes(at: position &+ stride).levels &- 128,
            samples.eightBytes(at: position &+ 2 &* stride).levels &- 128,
            samples.eightBytes(at: position &+ 3 &* stride).levels &- 128,
            samples.eightBytes(at: position &+ 4 &* stride).levels &- 128,
            samples.eightBytes(at: position &+ 5 &* stride).levels &- 128,
            samples.eightBytes(at: position &+ 6 &* stride).levels &- 128,
            samples.eightBytes(at: position &+ 7 &* stride).levels &- 128
        )
    }

    /// Writes the AC coefficients up to a place behind which all are zero.
    @inline(never)
    private static func putAC(
        _ coefficients: Span<Int16>,
        _ end: Int,
        _ order: Span<UInt8>,
        _ codes: Span<UInt32>,
        to writer: inout JPEGBitWriter
    ) {
        var run = 0
        for index in 1..<end {
            let coefficient = coefficients[Int(order[index])]
            if coefficient == 0 {
                run &+= 1
                continue
            }
            while run > 15 {
                put(0, run: 15, codes, to: &writer)
                run &-= 16
            }
            put(Int32(coefficient), run: run, codes, to: &writer)
            run = 0
        }
        if run > 0 || end < 64 { put(0, run: 0, codes, to: &writer) }
    }

    /// Writes a code that says how many bits a value has, and them.
    @inline(__always)
    private static func put(_ value: Int32, run: Int, _ codes: Span<UInt32>, to writer: inout JPEGBitWriter) {
        let size = 32 &- abs(value).leadingZeroBitCount
        let code = codes[run &<< 4 | size]
        // One that is less than 0 is written as if it were less by 1, without its sign.
        let bits = UInt32(bitPattern: value &+ value &>> 31) & (1 &<< UInt32(truncatingIfNeeded: size) &- 1)
        let length = Int(truncatingIfNeeded: code &>> 16)
        writer.put((code & 0xFFFF) &<< UInt32(truncatingIfNeeded: size) | bits, length &+ size)
    }
}

/// Puts bits together to entropy-coded data, the most significant first (T.81 annex F.1.2.3).
struct JPEGBitWriter {
    /// The file so far.
    var bytes: [UInt8]
    private var bits: UInt64 = 0
    private var free = 64

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Adds 0 to 27 bits, which are all that is set in the number.
    @inline(__always)
    mutating func put(_ value: UInt32, _ length: Int) {
        if free < 27 { flush() }
        free &-= length
        bits |= UInt64(value) &<< UInt64(truncatingIfNeeded: free)
    }

    /// Writes the whole bytes there are; after 0xFF a zero, lest it be taken for a marker.
    @inline(never)
    private mutating func flush() {
        while free <= 56 {
            let byte = UInt8(truncatingIfNeeded: bits >> 56)
            bytes.append(byte)
            if byte == 0xFF { bytes.append(0) }
            bits <<= 8
            free += 8
        }
    }

    /// Writes what there is; the last byte ends with ones.
    mutating func finish() {
        flush()
        guard free < 64 else { return }
        put(1 << UInt32(free - 56) - 1, free - 56)
        flush()
    }
}

/// The codes of a Huffman table, as encoding needs them (T.81 annex C.2).
struct JPEGHuffmanCodes {
    /// For each symbol its code, and in bits 16 to 23 how many bits it has; 0 where the table has none.
    private(set) var codes = [UInt32](repeating: 0, count: 256)

    init(_ table: JPEGStandardTables.Huffman) {
        var code: UInt32 = 0
        var next = 0
        for length in 1...16 {
            code <<= 1
            for _ in 0..<Int(table.counts[length - 1]) {
                codes[Int(table.values[next])] = code | UInt32(length) << 16
                code += 1
                next += 1
            }
        }
    }
}

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
