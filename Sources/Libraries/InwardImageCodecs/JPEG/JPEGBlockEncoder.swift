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
