/// The eight rows or the eight columns of a block.
struct JPEGBlockRows {
    var row0 = SIMD8<Int16>(repeating: 0)
    var row1 = SIMD8<Int16>(repeating: 0)
    var row2 = SIMD8<Int16>(repeating: 0)
    var row3 = SIMD8<Int16>(repeating: 0)
    var row4 = SIMD8<Int16>(repeating: 0)
    var row5 = SIMD8<Int16>(repeating: 0)
    var row6 = SIMD8<Int16>(repeating: 0)
    var row7 = SIMD8<Int16>(repeating: 0)

    /// Creates rows of zeros.
    @inline(__always)
    init() {}

    /// Creates a block from its rows.
    @inline(__always)
    init(
        _ row0: SIMD8<Int16>,
        _ row1: SIMD8<Int16>,
        _ row2: SIMD8<Int16>,
        _ row3: SIMD8<Int16>,
        _ row4: SIMD8<Int16>,
        _ row5: SIMD8<Int16>,
        _ row6: SIMD8<Int16>,
        _ row7: SIMD8<Int16>
    ) {
        self.row0 = row0
        self.row1 = row1
        self.row2 = row2
        self.row3 = row3
        self.row4 = row4
        self.row5 = row5
        self.row6 = row6
        self.row7 = row7
    }

    /// Reads a block of 64 coefficients, which must exist.
    @inline(__always)
    init(_ coefficients: Span<Int16>, at start: Int) {
        row0 = coefficients.eightCoefficients(at: start)
        row1 = coefficients.eightCoefficients(at: start &+ 8)
        row2 = coefficients.eightCoefficients(at: start &+ 16)
        row3 = coefficients.eightCoefficients(at: start &+ 24)
        row4 = coefficients.eightCoefficients(at: start &+ 32)
        row5 = coefficients.eightCoefficients(at: start &+ 40)
        row6 = coefficients.eightCoefficients(at: start &+ 48)
        row7 = coefficients.eightCoefficients(at: start &+ 56)
    }

    /// Writes a block. There must be space for 64 coefficients.
    @inline(never)
    func store(to coefficients: inout MutableSpan<Int16>) {
        coefficients.store(row0, at: 0)
        coefficients.store(row1, at: 8)
        coefficients.store(row2, at: 16)
        coefficients.store(row3, at: 24)
        coefficients.store(row4, at: 32)
        coefficients.store(row5, at: 40)
        coefficients.store(row6, at: 48)
        coefficients.store(row7, at: 56)
    }

    /// The transposed block: neighboring rows are interleaved by elements, the results by pairs, and those by halves.
    @inline(__always)
    var transposed: JPEGBlockRows {
        let (first, second) = Self.interleaved(row0, row1)
        let (third, fourth) = Self.interleaved(row2, row3)
        let (fifth, sixth) = Self.interleaved(row4, row5)
        let (seventh, eighth) = Self.interleaved(row6, row7)
        let (upper01, upper23) = Self.interleavedPairs(first, third)
        let (upper45, upper67) = Self.interleavedPairs(second, fourth)
        let (lower01, lower23) = Self.interleavedPairs(fifth, seventh)
        let (lower45, lower67) = Self.interleavedPairs(sixth, eighth)
        return JPEGBlockRows(
            SIMD8(lowHalf: upper01.lowHalf, highHalf: lower01.lowHalf),
            SIMD8(lowHalf: upper01.highHalf, highHalf: lower01.highHalf),
            SIMD8(lowHalf: upper23.lowHalf, highHalf: lower23.lowHalf),
            SIMD8(lowHalf: upper23.highHalf, highHalf: lower23.highHalf),
            SIMD8(lowHalf: upper45.lowHalf, highHalf: lower45.lowHalf),
            SIMD8(lowHalf: upper45.highHalf, highHalf: lower45.highHalf),
            SIMD8(lowHalf: upper67.lowHalf, highHalf: lower67.lowHalf),
            SIMD8(lowHalf: upper67.highHalf, highHalf: lower67.highHalf)
        )
    }

    /// Returns two rows that contain the elements of both, alternating.
    @inline(__always)
    static func interleaved(_ one: SIMD8<Int16>, _ other: SIMD8<Int16>) -> (SIMD8<Int16>, SIMD8<Int16>) {
        // One instruction each in release builds. In debug builds, several times as fast as the halves of a vector of 16.
        (
            SIMD8(one[0], other[0], one[1], other[1], one[2], other[2], one[3], other[3]),
            SIMD8(one[4], other[4], one[5], other[5], one[6], other[6], one[7], other[7])
        )
    }

    /// Returns two rows that contain pairs of elements of both, alternating.
    @inline(__always)
    private static func interleavedPairs(
        _ one: SIMD8<Int16>,
        _ other: SIMD8<Int16>
    ) -> (SIMD8<Int16>, SIMD8<Int16>) {
        // The compiler combines several steps of single elements into one of many instructions. The casts are safe, because the
        // vectors have the same size, and every bit pattern is valid.
        let one = unsafe unsafeBitCast(one, to: SIMD4<UInt32>.self)
        let other = unsafe unsafeBitCast(other, to: SIMD4<UInt32>.self)
        return unsafe (
            unsafeBitCast(SIMD4(one[0], other[0], one[1], other[1]), to: SIMD8<Int16>.self),
            unsafeBitCast(SIMD4(one[2], other[2], one[3], other[3]), to: SIMD8<Int16>.self)
        )
    }

    /// The block with zeros in its lower half.
    @inline(__always)
    var upperHalf: JPEGBlockRows {
        let zeros = SIMD8<Int16>(repeating: 0)
        return JPEGBlockRows(row0, row1, row2, row3, zeros, zeros, zeros, zeros)
    }

    /// Whether all coefficients outside the upper left quarter are zero.
    @inline(__always)
    var isUpperLeft: Bool {
        (row4 | row5 | row6 | row7) == SIMD8(repeating: 0)
            && (row0 | row1 | row2 | row3).highHalf == SIMD4(repeating: 0)
    }

    /// Returns the places of the nonzero coefficients of a transposed block as bits, the first in coding order lowest.
    @inline(__always)
    func places(_ masks: Span<UInt64>) -> UInt64 {
        masks[Self.flags(row0)] | masks[256 &+ Self.flags(row1)] | masks[512 &+ Self.flags(row2)]
            | masks[768 &+ Self.flags(row3)] | masks[1024 &+ Self.flags(row4)] | masks[1280 &+ Self.flags(row5)]
            | masks[1536 &+ Self.flags(row6)] | masks[1792 &+ Self.flags(row7)]
    }

    /// Returns whether each coefficient is nonzero, as bits.
    @inline(__always)
    private static func flags(_ row: SIMD8<Int16>) -> Int {
        let flags = ((row | (0 &- row)).unsigned &>> 15).signed.bytes
        // Both types have eight bytes, and every bit pattern is an integer.
        let word = unsafe unsafeBitCast(flags, to: UInt64.self).littleEndian
        // The product moves the lowest bit of each byte to the highest byte. No two bits meet, so nothing is carried.
        return Int(truncatingIfNeeded: (word &* 0x0102_0408_1020_4080) &>> 56)
    }

    /// Returns the product of two blocks, element by element.
    @inline(__always)
    func multiplied(by other: JPEGBlockRows) -> JPEGBlockRows {
        JPEGBlockRows(
            row0 &* other.row0,
            row1 &* other.row1,
            row2 &* other.row2,
            row3 &* other.row3,
            row4 &* other.row4,
            row5 &* other.row5,
            row6 &* other.row6,
            row7 &* other.row7
        )
    }

    /// Returns the sum of two rows, each multiplied by a factor.
    @inline(__always)
    static func sum(_ one: SIMD8<Int16>, _ factor: Int32, _ other: SIMD8<Int16>, _ otherFactor: Int32) -> SIMD8<Int32> {
        one.wide &* factor &+ other.wide &* otherFactor
    }

    /// Returns the sum of four rows, each multiplied by a factor.
    ///
    /// In vectors of two rows, the products that are added first stay together. Otherwise the compiler reorders the additions, and
    /// does not find the pairs that the processor multiplies and adds in one instruction.
    @inline(__always)
    static func sum(
        _ first: SIMD8<Int16>,
        _ firstFactor: Int32,
        _ second: SIMD8<Int16>,
        _ secondFactor: Int32,
        _ third: SIMD8<Int16>,
        _ thirdFactor: Int32,
        _ fourth: SIMD8<Int16>,
        _ fourthFactor: Int32
    ) -> SIMD8<Int32> {
        let one = SIMD16(lowHalf: first.wide, highHalf: third.wide)
        let oneFactor = SIMD16(lowHalf: SIMD8(repeating: firstFactor), highHalf: SIMD8(repeating: thirdFactor))
        let other = SIMD16(lowHalf: second.wide, highHalf: fourth.wide)
        let otherFactor = SIMD16(lowHalf: SIMD8(repeating: secondFactor), highHalf: SIMD8(repeating: fourthFactor))
        let sums = one &* oneFactor &+ other &* otherFactor
        return sums.lowHalf &+ sums.highHalf
    }
}

/// The coding order of a block's coefficients (T.81 figure A.6).
enum JPEGZigzag {
    /// The position in the block, row by row, of each coefficient in coding order.
    static let order: [UInt8] = [
        0, 1, 8, 16, 9, 2, 3, 10, 17, 24, 32, 25, 18, 11, 4, 5, 12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6, 7, 14,
        21, 28,
        35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54,
        47, 55,
        62, 63,
    ]

    /// The position in the transposed block of each coefficient in coding order.
    static let transposed: [UInt8] = order.map { $0 % 8 * 8 + $0 / 8 }

    /// The places in coding order, as bits, of any coefficients of a row of the transposed block: 256 masks for each row.
    static let masks: [UInt64] = (0..<8 * 256).map { index in
        (0..<8).reduce(0 as UInt64) { mask, column in
            guard index >> column & 1 == 1 else { return mask }
            let place = transposed.firstIndex(of: UInt8(index / 256 * 8 + column)) ?? 0
            return mask | 1 << UInt64(place)
        }
    }
}
