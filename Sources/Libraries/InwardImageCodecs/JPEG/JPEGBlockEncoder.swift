/// An encoder for the blocks of a baseline scan (T.81 annex F.1.2).
struct JPEGBlockEncoder {
    /// The maximum size of a block in bytes: 64 codes of up to 27 bits, with a zero after each byte.
    static let mostBytes = 2 * 64 * 27 / 8

    /// The codes for luminance and then those for chrominance: 256 for DC and 256 for AC coefficients each.
    private let codes = [0, 1].flatMap { number in
        [false, true].flatMap { JPEGHuffmanCodes(JPEGStandardTables.huffman(ac: $0, number)).codes }
    }
    private let order = JPEGZigzag.transposed
    private let masks = JPEGZigzag.masks
    private var predictions = SIMD4<Int32>(repeating: 0)

    /// Encodes a block, and writes all but the last bits.
    ///
    /// - Parameters:
    ///   - samples: The samples.
    ///   - position: The offset of the block.
    ///   - stride: The distance between rows.
    ///   - component: The component of the block, 0 for luminance.
    ///   - quantizer: The quantizer of the component.
    ///   - coefficients: Scratch space for 64 coefficients.
    ///   - writer: The writer of the encoded bits.
    ///   - output: The destination, with space for ``mostBytes``.
    mutating func encode(
        _ samples: Span<UInt8>,
        _ position: Int,
        _ stride: Int,
        _ component: Int,
        _ quantizer: JPEGQuantizer,
        _ coefficients: inout MutableSpan<Int16>,
        by writer: inout JPEGBitWriter,
        to output: inout MutableSpan<UInt8>
    ) {
        let rows = quantizer.quantized(JPEGForwardDCT.coefficients(Self.block(samples, position, stride)))
        let value = Int32(rows.row0[0])
        let difference = value &- predictions[component]
        predictions[component] = value
        rows.store(to: &coefficients)
        let first = component == 0 ? 0 : 512
        let codes = codes.span.extracting(first..<first &+ 512)
        let places = rows.places(masks.span)
        Self.put(difference, coefficients.span, places, order.span, codes, by: &writer, to: &output)
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

    /// Writes the difference of the DC coefficient, and the AC coefficients up to the last nonzero one.
    @inline(never)
    private static func put(
        _ difference: Int32,
        _ coefficients: Span<Int16>,
        _ places: UInt64,
        _ order: Span<UInt8>,
        _ codes: Span<UInt32>,
        by writer: inout JPEGBitWriter,
        to output: inout MutableSpan<UInt8>
    ) {
        // A local copy stays in registers.
        var bits = writer
        put(difference, codes, 0, by: &bits, to: &output)
        var places = places & ~1
        var last = 0
        while places != 0 {
            let index = places.trailingZeroBitCount
            places &= places &- 1
            var run = index &- last &- 1
            last = index
            while run > 15 {
                put(0, codes, 256 &+ 15 &* 16, by: &bits, to: &output)
                run &-= 16
            }
            let coefficient = Int32(coefficients[Int(order[index])])
            put(coefficient, codes, 256 &+ run &* 16, by: &bits, to: &output)
        }
        if last < 63 { put(0, codes, 256, by: &bits, to: &output) }
        writer = bits
    }

    /// Writes the code for the size of a value, and then the value's bits.
    @inline(__always)
    private static func put(
        _ value: Int32,
        _ codes: Span<UInt32>,
        _ start: Int,
        by writer: inout JPEGBitWriter,
        to output: inout MutableSpan<UInt8>
    ) {
        let sign = value &>> 31
        let size = 32 &- ((value ^ sign) &- sign).leadingZeroBitCount
        let code = codes[start &+ size]
        // A negative value is written as its predecessor, without the sign bits.
        let bits = UInt32(bitPattern: value &+ sign) & (1 &<< UInt32(truncatingIfNeeded: size) &- 1)
        let length = Int(truncatingIfNeeded: code &>> 16) &+ size
        writer.put((code & 0xFFFF) &<< UInt32(truncatingIfNeeded: size) | bits, length, to: &output)
    }
}

/// A writer of bits as entropy-coded data, the most significant bit first (T.81 annex F.1.2.3).
struct JPEGBitWriter {
    /// The number of bytes in the destination.
    var count = 0
    private var bits: UInt64 = 0
    private var free = 64

    /// Appends 0 to 27 bits. All higher bits of the value must be zero.
    @inline(__always)
    mutating func put(_ value: UInt32, _ length: Int, to output: inout MutableSpan<UInt8>) {
        free &-= length
        bits |= UInt64(value) &<< UInt64(truncatingIfNeeded: free)
        guard free <= 32 else { return }
        let word = UInt32(truncatingIfNeeded: bits &>> 32)
        bits &<<= 32
        free &+= 32
        // The highest bit of a byte remains if all of its bits are set.
        if (~word &- 0x0101_0101) & word & 0x8080_8080 == 0 {
            output.store(word.byteSwapped, at: count)
            count &+= 4
        } else {
            count = Self.put(word, to: &output, at: count)
        }
    }

    /// Writes four bytes, and returns the position after them.
    @inline(never)
    private static func put(_ word: UInt32, to output: inout MutableSpan<UInt8>, at position: Int) -> Int {
        var position = position
        for shift in [24, 16, 8, 0] as [UInt32] {
            put(byte: UInt8(truncatingIfNeeded: word &>> shift), to: &output, at: &position)
        }
        return position
    }

    /// Writes a byte, with a zero after 0xFF so that it does not look like a marker.
    private static func put(byte: UInt8, to output: inout MutableSpan<UInt8>, at position: inout Int) {
        output[position] = byte
        position += 1
        guard byte == 0xFF else { return }
        output[position] = 0
        position += 1
    }

    /// Writes the remaining bits, and fills the last byte with ones.
    mutating func finish(_ output: inout MutableSpan<UInt8>) {
        if free % 8 > 0 { bits |= (1 &<< UInt64(free % 8) &- 1) &<< UInt64(free / 8 * 8) }
        while free < 64 {
            Self.put(byte: UInt8(truncatingIfNeeded: bits &>> 56), to: &output, at: &count)
            bits &<<= 8
            free += 8
        }
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
    /// Returns the coefficients of level-shifted samples, transposed: each row contains those of one horizontal frequency.
    @inline(__always)
    static func coefficients(_ samples: JPEGBlockRows) -> JPEGBlockRows {
        rows(columns(samples))
    }

    // The passes are not inlined, because the compiler would otherwise mix the lanes of one with the transposition of the other.

    /// Transforms each column. The result has 2 additional bits for the row pass.
    @inline(never)
    private static func columns(_ samples: JPEGBlockRows) -> JPEGBlockRows {
        var result = transformed(samples, rounding: 1 << 10, shift: 11)
        result.row0 = result.row0 &<< 2
        result.row4 = result.row4 &<< 2
        return result
    }

    /// Transforms each row, and transposes the block.
    @inline(never)
    private static func rows(_ columns: JPEGBlockRows) -> JPEGBlockRows {
        var result = transformed(columns.transposed, rounding: 1 << 14, shift: 15)
        result.row0 = (result.row0 &+ 2) &>> 2
        result.row4 = (result.row4 &+ 2) &>> 2
        return result
    }

    /// Returns eight transforms of eight numbers, one in each lane. The first and the fifth coefficient are sums that are not
    /// scaled yet. Both have at most 16 bits: even 64 samples of -128, with 2 more bits each, add up to -32768.
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
        // All factors are positive, because the compiler has an instruction for sums of products but not for differences.
        let innerReversed = sum2 &- sum1
        let reversed1 = input.row6 &- input.row1
        let reversed2 = input.row5 &- input.row2
        let reversed3 = input.row4 &- input.row3
        let row2 = JPEGBlockRows.sum(outerDifference, 10703, innerDifference, 4433)
        let row6 = JPEGBlockRows.sum(outerDifference, 4433, innerReversed, 10704)
        let row1 = JPEGBlockRows.sum(odd0, 11363, odd1, 9633) &+ JPEGBlockRows.sum(odd2, 6437, odd3, 2260)
        let row3 =
            JPEGBlockRows.sum(odd0, 9633, reversed1, 2259) &+ JPEGBlockRows.sum(reversed2, 11362, reversed3, 6436)
        let row5 = JPEGBlockRows.sum(odd0, 6437, reversed1, 11362) &+ JPEGBlockRows.sum(odd2, 2261, odd3, 9633)
        let row7 = JPEGBlockRows.sum(odd0, 2260, reversed1, 6436) &+ JPEGBlockRows.sum(odd2, 9633, reversed3, 11363)
        let scaled1 = ((row1 &+ rounding) &>> shift).narrow
        let scaled2 = ((row2 &+ rounding) &>> shift).narrow
        let scaled3 = ((row3 &+ rounding) &>> shift).narrow
        let scaled5 = ((row5 &+ rounding) &>> shift).narrow
        let scaled6 = ((row6 &+ rounding) &>> shift).narrow
        let scaled7 = ((row7 &+ rounding) &>> shift).narrow
        return JPEGBlockRows(
            outer &+ inner,
            scaled1,
            scaled2,
            scaled3,
            outer &- inner,
            scaled5,
            scaled6,
            scaled7
        )
    }
}

/// A quantizer, which divides coefficients by the values of a quantization table (T.81 annex A.3.4). The coefficients are
/// transposed.
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
            halves[index % 8][index / 8] = UInt16(divisor / 2)
            reciprocals[index % 8][index / 8] = UInt16((1 << (15 + log) + divisor - 1) / divisor)
            scales[index % 8][index / 8] = UInt16(1 << (17 - log))
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
