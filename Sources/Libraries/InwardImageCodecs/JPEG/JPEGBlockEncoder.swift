/// An encoder for the blocks of a baseline scan (T.81 annex F.1.2).
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
    ///   - position: The offset of the block.
    ///   - stride: The distance between rows.
    ///   - component: The component of the block, 0 for luminance.
    ///   - quantizer: The quantizer of the component.
    ///   - coefficients: Scratch space for 64 coefficients.
    ///   - writer: The writer of the encoded bits.
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

    /// Writes the AC coefficients up to the last nonzero one.
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

    /// Writes the code for a run and the size of a value, and then the value's bits.
    @inline(__always)
    private static func put(_ value: Int32, run: Int, _ codes: Span<UInt32>, to writer: inout JPEGBitWriter) {
        let size = 32 &- abs(value).leadingZeroBitCount
        let code = codes[run &<< 4 | size]
        // A negative value is written as its predecessor, without the sign bits.
        let bits = UInt32(bitPattern: value &+ value &>> 31) & (1 &<< UInt32(truncatingIfNeeded: size) &- 1)
        let length = Int(truncatingIfNeeded: code &>> 16)
        writer.put((code & 0xFFFF) &<< UInt32(truncatingIfNeeded: size) | bits, length &+ size)
    }
}

/// A writer of bits as entropy-coded data, the most significant bit first (T.81 annex F.1.2.3).
struct JPEGBitWriter {
    /// The file so far.
    var bytes: [UInt8]
    private var bits: UInt64 = 0
    private var free = 64

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Appends 0 to 27 bits. All higher bits of the value must be zero.
    @inline(__always)
    mutating func put(_ value: UInt32, _ length: Int) {
        if free < 27 { flush() }
        free &-= length
        bits |= UInt64(value) &<< UInt64(truncatingIfNeeded: free)
    }

    /// Writes all complete bytes, with a zero after each 0xFF so that it does not look like a marker.
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

    /// Writes the remaining bits, and fills the last byte with ones.
    mutating func finish() {
        flush()
        guard free < 64 else { return }
        put(1 << UInt32(free - 56) - 1, free - 56)
        flush()
    }
}

/// The codes of a Huffman table, for encoding (T.81 annex C.2).
struct JPEGHuffmanCodes {
    /// The code of each symbol, with its length in bits 16 to 23, or 0 if the symbol has no code.
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

/// The forward DCT of a block (T.81 annex A.3.3). Its coefficients are scaled by eight.
///
/// It is the transpose of the inverse DCT, with the same 13-bit fixed-point factors and 16-bit products.
enum JPEGForwardDCT {
    /// Returns the coefficients of level-shifted samples.
    @inline(never)
    static func coefficients(_ samples: JPEGBlockRows) -> JPEGBlockRows {
        // The row pass keeps 2 additional bits for the column pass.
        let columns = transformed(samples.transposed, rounding: 1 << 10, shift: 11)
        return transformed(columns.transposed, rounding: 1 << 14, shift: 15)
    }

    /// Returns eight transforms of eight numbers, one in each lane.
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

/// A quantizer, which divides coefficients by the values of a quantization table (T.81 annex A.3.4).
struct JPEGQuantizer {
    /// The values, row by row, 1 to 255 each.
    let table: [UInt8]
    /// The factors that replace a division: half of the divisor, a reciprocal, and the factor that removes the reciprocal's
    /// scale. The divisor is eight times the table value, because the forward DCT scales coefficients by eight.
    private let halves: [SIMD8<UInt16>]
    private let reciprocals: [SIMD8<UInt16>]
    private let scales: [SIMD8<UInt16>]

    /// Creates a scaled standard table.
    ///
    /// - Parameters:
    ///   - number: 0 for luminance, 1 for chrominance.
    ///   - quality: 1 to 100. 50 is the standard table, and at 100 only rounding loses information. Most encoders use this
    ///     scale, but no standard defines it.
    init(_ number: Int, quality: Int) {
        let percent = quality < 50 ? 5000 / quality : 200 - 2 * quality
        table = JPEGStandardTables.quantization(number).map { UInt8(min(max(1, ($0 * percent + 50) / 100), 255)) }
        var halves = [SIMD8<UInt16>](repeating: SIMD8(repeating: 0), count: 8)
        var reciprocals = halves
        var scales = halves
        for (index, number) in table.enumerated() {
            let divisor = 8 * Int(number)
            // The reciprocal has 15 bits. The quotients are exact, because dividends have at most 14 bits.
            let log = Int.bitWidth - 1 - divisor.leadingZeroBitCount
            halves[index / 8][index % 8] = UInt16(divisor / 2)
            reciprocals[index / 8][index % 8] = UInt16((1 << (15 + log) + divisor - 1) / divisor)
            scales[index / 8][index % 8] = UInt16(1 << (17 - log))
        }
        self.halves = halves
        self.reciprocals = reciprocals
        self.scales = scales
    }

    /// Returns the quantized and rounded coefficients of a block.
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
        // Baseline coefficients have 10 bits (F.1.2.2). Rounding can exceed that when the divisor is 1.
        let most = SIMD8<UInt16>(repeating: 1023)
        return (quotient.replacing(with: most, where: quotient .> most).signed ^ sign) &- sign
    }
}
