// The equivalents in the standard library are generic over all integers, and the compiler does not inline them into large
// functions.

extension SIMD8<UInt8> {
    /// The bytes as 16-bit integers, for arithmetic.
    @inline(__always)
    var levels: SIMD8<Int16> {
        SIMD8<Int16>(
            Int16(truncatingIfNeeded: self[0]),
            Int16(truncatingIfNeeded: self[1]),
            Int16(truncatingIfNeeded: self[2]),
            Int16(truncatingIfNeeded: self[3]),
            Int16(truncatingIfNeeded: self[4]),
            Int16(truncatingIfNeeded: self[5]),
            Int16(truncatingIfNeeded: self[6]),
            Int16(truncatingIfNeeded: self[7])
        )
    }
}

extension SIMD8<Int16> {
    /// The elements widened to 32 bits, for multiplication.
    @inline(__always)
    var wide: SIMD8<Int32> {
        SIMD8<Int32>(
            Int32(truncatingIfNeeded: self[0]),
            Int32(truncatingIfNeeded: self[1]),
            Int32(truncatingIfNeeded: self[2]),
            Int32(truncatingIfNeeded: self[3]),
            Int32(truncatingIfNeeded: self[4]),
            Int32(truncatingIfNeeded: self[5]),
            Int32(truncatingIfNeeded: self[6]),
            Int32(truncatingIfNeeded: self[7])
        )
    }

    /// The lower halves of the elements.
    @inline(__always)
    var bytes: SIMD8<UInt8> {
        SIMD8<UInt8>(
            UInt8(truncatingIfNeeded: self[0]),
            UInt8(truncatingIfNeeded: self[1]),
            UInt8(truncatingIfNeeded: self[2]),
            UInt8(truncatingIfNeeded: self[3]),
            UInt8(truncatingIfNeeded: self[4]),
            UInt8(truncatingIfNeeded: self[5]),
            UInt8(truncatingIfNeeded: self[6]),
            UInt8(truncatingIfNeeded: self[7])
        )
    }

    /// The elements, clamped to 0 through 255.
    @inline(__always)
    var clampedToBytes: SIMD8<Int16> {
        // All bits are set where an element is too small or too large.
        let isLess = self &>> 15
        let isMore = (255 &- self) &>> 15
        return (self & ~isLess | isMore) & 255
    }
}

extension SIMD8<Int32> {
    /// The lower halves of the elements.
    @inline(__always)
    var narrow: SIMD8<Int16> {
        SIMD8<Int16>(
            Int16(truncatingIfNeeded: self[0]),
            Int16(truncatingIfNeeded: self[1]),
            Int16(truncatingIfNeeded: self[2]),
            Int16(truncatingIfNeeded: self[3]),
            Int16(truncatingIfNeeded: self[4]),
            Int16(truncatingIfNeeded: self[5]),
            Int16(truncatingIfNeeded: self[6]),
            Int16(truncatingIfNeeded: self[7])
        )
    }
}

extension SIMD4<Int16> {
    /// The elements widened to 32 bits, for multiplication.
    @inline(__always)
    var wide: SIMD4<Int32> {
        SIMD4<Int32>(
            Int32(truncatingIfNeeded: self[0]),
            Int32(truncatingIfNeeded: self[1]),
            Int32(truncatingIfNeeded: self[2]),
            Int32(truncatingIfNeeded: self[3])
        )
    }
}

extension SIMD4<Int32> {
    /// The lower halves of the elements.
    @inline(__always)
    var narrow: SIMD4<Int16> {
        SIMD4<Int16>(
            Int16(truncatingIfNeeded: self[0]),
            Int16(truncatingIfNeeded: self[1]),
            Int16(truncatingIfNeeded: self[2]),
            Int16(truncatingIfNeeded: self[3])
        )
    }
}

extension SIMD8<Int16> {
    /// The same bits as unsigned integers.
    @inline(__always)
    var unsigned: SIMD8<UInt16> {
        SIMD8<UInt16>(
            UInt16(bitPattern: self[0]),
            UInt16(bitPattern: self[1]),
            UInt16(bitPattern: self[2]),
            UInt16(bitPattern: self[3]),
            UInt16(bitPattern: self[4]),
            UInt16(bitPattern: self[5]),
            UInt16(bitPattern: self[6]),
            UInt16(bitPattern: self[7])
        )
    }
}

extension SIMD8<UInt16> {
    /// The same bits as signed integers.
    @inline(__always)
    var signed: SIMD8<Int16> {
        SIMD8<Int16>(
            Int16(bitPattern: self[0]),
            Int16(bitPattern: self[1]),
            Int16(bitPattern: self[2]),
            Int16(bitPattern: self[3]),
            Int16(bitPattern: self[4]),
            Int16(bitPattern: self[5]),
            Int16(bitPattern: self[6]),
            Int16(bitPattern: self[7])
        )
    }

    /// The elements widened to 32 bits, for multiplication.
    @inline(__always)
    var wide: SIMD8<UInt32> {
        SIMD8<UInt32>(
            UInt32(self[0]),
            UInt32(self[1]),
            UInt32(self[2]),
            UInt32(self[3]),
            UInt32(self[4]),
            UInt32(self[5]),
            UInt32(self[6]),
            UInt32(self[7])
        )
    }

    /// Returns the upper halves of the products.
    @inline(__always)
    func upperProduct(_ other: SIMD8<UInt16>) -> SIMD8<UInt16> {
        let product = (wide &* other.wide) &>> 16
        return SIMD8<UInt16>(
            UInt16(truncatingIfNeeded: product[0]),
            UInt16(truncatingIfNeeded: product[1]),
            UInt16(truncatingIfNeeded: product[2]),
            UInt16(truncatingIfNeeded: product[3]),
            UInt16(truncatingIfNeeded: product[4]),
            UInt16(truncatingIfNeeded: product[5]),
            UInt16(truncatingIfNeeded: product[6]),
            UInt16(truncatingIfNeeded: product[7])
        )
    }
}

// Lanes are read one by one, because a span offers no other way. After a single bounds check, the compiler turns this into one
// load.

extension Span<UInt8> {
    /// Returns eight bytes as a big-endian integer, or `nil` if there are fewer.
    @inline(__always)
    func bigEndianWord(at index: Int) -> UInt64? {
        guard index >= 0, index <= count &- 8 else { return nil }
        let high =
            UInt64(self[index]) << 56 | UInt64(self[index &+ 1]) << 48
            | UInt64(self[index &+ 2]) << 40 | UInt64(self[index &+ 3]) << 32
        let low =
            UInt64(self[index &+ 4]) << 24 | UInt64(self[index &+ 5]) << 16
            | UInt64(self[index &+ 6]) << 8 | UInt64(self[index &+ 7])
        return high | low
    }

    /// Returns eight bytes, which must exist.
    @inline(__always)
    func eightBytes(at index: Int) -> SIMD8<UInt8> {
        precondition(index >= 0 && index <= count &- 8)
        return SIMD8(
            self[index],
            self[index &+ 1],
            self[index &+ 2],
            self[index &+ 3],
            self[index &+ 4],
            self[index &+ 5],
            self[index &+ 6],
            self[index &+ 7]
        )
    }

    /// Returns eight pixels of four bytes each, which must exist.
    @inline(__always)
    func eightPixels(at index: Int) -> SIMD32<UInt8> {
        SIMD32(
            lowHalf: SIMD16(lowHalf: eightBytes(at: index), highHalf: eightBytes(at: index &+ 8)),
            highHalf: SIMD16(lowHalf: eightBytes(at: index &+ 16), highHalf: eightBytes(at: index &+ 24))
        )
    }
}

// Lanes are accessed one by one, because a span offers no other way. After a single bounds check, the compiler turns this into
// one access.

extension MutableSpan<UInt8> {
    /// Returns eight samples, which must exist.
    @inline(__always)
    func eightSamples(at index: Int) -> SIMD8<UInt8> {
        precondition(index >= 0 && index <= count &- 8)
        return SIMD8(
            self[index],
            self[index &+ 1],
            self[index &+ 2],
            self[index &+ 3],
            self[index &+ 4],
            self[index &+ 5],
            self[index &+ 6],
            self[index &+ 7]
        )
    }

    /// Returns eight samples as 16-bit integers. The samples must exist.
    @inline(__always)
    func eightLevels(at index: Int) -> SIMD8<Int16> {
        eightSamples(at: index).levels
    }

    /// Writes eight samples. There must be space for them.
    @inline(__always)
    mutating func store(_ samples: SIMD8<UInt8>, at index: Int) {
        precondition(index >= 0 && index <= count &- 8)
        self[index] = samples[0]
        self[index &+ 1] = samples[1]
        self[index &+ 2] = samples[2]
        self[index &+ 3] = samples[3]
        self[index &+ 4] = samples[4]
        self[index &+ 5] = samples[5]
        self[index &+ 6] = samples[6]
        self[index &+ 7] = samples[7]
    }

    /// Writes eight samples, clamped to 0 through 255.
    @inline(__always)
    mutating func store(clamping levels: SIMD8<Int16>, at index: Int) {
        store(levels.clampedToBytes.bytes, at: index)
    }

    /// Writes four samples, clamped to 0 through 255.
    @inline(__always)
    mutating func store(clamping levels: SIMD4<Int16>, at index: Int) {
        precondition(index >= 0 && index <= count &- 4)
        let samples = SIMD8(lowHalf: levels, highHalf: levels).clampedToBytes.bytes
        self[index] = samples[0]
        self[index &+ 1] = samples[1]
        self[index &+ 2] = samples[2]
        self[index &+ 3] = samples[3]
    }

    /// Writes two vectors of eight samples, alternating.
    @inline(__always)
    mutating func store(alternating even: SIMD8<Int16>, _ odd: SIMD8<Int16>, at index: Int) {
        var both = SIMD16<UInt8>()
        both.evenHalf = even.bytes
        both.oddHalf = odd.bytes
        store(both.lowHalf, at: index)
        store(both.highHalf, at: index &+ 8)
    }

    /// Writes eight pixels of four bytes each. There must be space for them.
    ///
    /// Not inlined, because the compiler would otherwise process each byte separately.
    @inline(never)
    mutating func store(_ pixels: SIMD32<UInt8>, at index: Int) {
        store(pixels.lowHalf.lowHalf, at: index)
        store(pixels.lowHalf.highHalf, at: index &+ 8)
        store(pixels.highHalf.lowHalf, at: index &+ 16)
        store(pixels.highHalf.highHalf, at: index &+ 24)
    }
}

extension MutableSpan<Int16> {
    /// Writes eight coefficients. There must be space for them.
    @inline(__always)
    mutating func store(_ coefficients: SIMD8<Int16>, at index: Int) {
        precondition(index >= 0 && index <= count &- 8)
        self[index] = coefficients[0]
        self[index &+ 1] = coefficients[1]
        self[index &+ 2] = coefficients[2]
        self[index &+ 3] = coefficients[3]
        self[index &+ 4] = coefficients[4]
        self[index &+ 5] = coefficients[5]
        self[index &+ 6] = coefficients[6]
        self[index &+ 7] = coefficients[7]
    }
}
